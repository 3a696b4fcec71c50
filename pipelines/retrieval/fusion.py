"""From several rankings to one. In: the branches' rankings. Out: fused scores, with every term that went into them.

`rrf` adds reciprocal ranks (Cormack, Clarke and Buettcher, SIGIR 2009), never raw scores of different branches, and
lets what is known of a row's structure move it among its near neighbours. `late` is a weighted sum over the Hamming
pool alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.retrieval.rows import Rows

Values = npt.NDArray[np.float64]

#: Ranks are flattened by this much. With the usual 60, any row in two lists of 40 stands before the first row of one
#: list; here a row must be far up in both to do so. A larger one gains a little on the benchmark, where files are
#: judged (12: +.003 NDCG@10), and loses on the bundled judgments, where functions are (12: -.024).
RRF_K = 8
#: The first rows of each branch are among the first hits, whatever stands in several lists: the exact token that only
#: the lexical branch can see is never crowded out.
RESERVED_PER_BRANCH = 1
RESERVED_WITHIN = 5

#: Weights of `late`, as the design of the original system gives them; they sum to 1.
LATE_WEIGHTS: Mapping[str, float] = {
    "semantic": 0.35,
    "blast": 0.25,
    "centrality": 0.20,
    "sketch": 0.15,
    "name": 0.05,
}


@dataclass(frozen=True, slots=True)
class Fused:
    """Candidate rows, ascending, their scores, and the terms of the scores by name; NaN where a term has no value."""

    rows: Rows
    scores: Values
    terms: Mapping[str, Values]


def spread(rows: Rows, branch: Rows, values: npt.NDArray[Any], missing: float = np.nan) -> Values:
    """Return the value that each of `rows`, ascending, has in a branch; `missing` where the branch does not have it."""
    found = np.full(len(rows), missing, np.float64)
    places = np.searchsorted(rows, branch)
    known = places < len(rows)
    known[known] = rows[places[known]] == branch[known]
    found[places[known]] = values[known]
    return found


def union(branches: Mapping[str, Rows]) -> Rows:
    """Return the rows of all branches, each once, ascending."""
    return np.unique(np.concatenate([np.zeros(0, np.int64), *branches.values()]))


def rrf(branches: Mapping[str, Rows], weights: Mapping[str, float], k: int = RRF_K) -> Fused:
    """Return the union of the branches with the weighted sum of reciprocal ranks, sum(w / (k + rank)).

    Branches are added in the order of their names, so the order in which they were completed changes no bit.
    """
    rows = union(branches)
    scores = np.zeros(len(rows), np.float64)
    terms: dict[str, Values] = {}
    for name in sorted(branches):
        ranks = spread(rows, branches[name], np.arange(1, len(branches[name]) + 1))
        scores += np.nan_to_num(weights[name] / (k + ranks), nan=0.0)
        terms[f"{name}_rank"] = ranks
    return Fused(rows, scores, terms)


def stand_in(lexical: Rows, unmeant: npt.NDArray[np.bool_], semantic: Rows) -> Rows:
    """Return the semantic branch with the rows that have no vector at the ranks which their words give them.

    A row that cannot be near the question is not far from it: without a rank in one branch it would stand behind every
    row that has a poor one in both. Settings lost .17 NDCG@10 by it (17 questions about them, 4 repositories).

    :param lexical: the lexical branch. :param unmeant: which of its rows have no vector.
    """
    joined = semantic.tolist()
    for place in np.flatnonzero(unmeant).tolist():
        joined.insert(place, int(lexical[place]))
    return np.array(joined, np.int64)


def reserve(ordered: Rows, branches: Mapping[str, Rows], within: int = RESERVED_WITHIN) -> Rows:
    """Return the order with the first row of each branch moved up to place `within` at the latest."""
    head = ordered[:within].tolist()
    firsts = [row for name in sorted(branches) for row in branches[name][:RESERVED_PER_BRANCH].tolist()]
    missing = [row for row in dict.fromkeys(firsts) if row not in head]
    if not missing:
        return ordered
    kept = [row for row in head if row in firsts]
    others = [row for row in head if row not in firsts][: max(0, within - len(kept) - len(missing))]
    top = [row for row in head if row in set(kept) | set(others)] + missing
    rest = [row for row in ordered.tolist() if row not in set(top)]
    return np.array([*top, *rest], np.int64)


def late(rows: Rows, terms: Mapping[str, Values]) -> Fused:
    """Return the weighted sum of the terms, each in [0, 1].

    :param rows: the pool, ascending.
    :param terms: some of LATE_WEIGHTS; the weights of those left out, which are inactive, go to the others in
        proportion, so that scores of different repositories stay comparable.
    """
    total = sum(LATE_WEIGHTS[name] for name in terms)
    scores = np.zeros(len(rows), np.float64)
    for name in sorted(terms):
        scores += LATE_WEIGHTS[name] / total * terms[name]
    return Fused(rows, scores, dict(terms))
