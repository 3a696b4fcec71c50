"""From several rankings to one. In: the branches' rankings. Out: fused scores, with every term that went into them.

`rrf` adds reciprocal ranks (Cormack, Clarke and Buettcher, SIGIR 2009) and other features that are comparable, never
raw scores of different branches; ranking.py does it. `late` is a weighted sum over the Hamming pool alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.retrieval.rows import Rows

Values = npt.NDArray[np.float64]

#: The first row of these branches is among so many first hits, whatever else is known: the exact token that only the
#: lexical branch can see is never crowded out. The same for the vectors loses .0015 NDCG@10 on the benchmark, and a
#: definition that the query names stands first anyway.
RESERVED: Mapping[str, int] = {"lexical": 5}

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
    together = np.sort(np.concatenate([np.zeros(0, np.int64), *branches.values()]))
    once: Rows = together[np.diff(together, prepend=-1) != 0]
    return once


def reciprocal_ranks(rows: Rows, branch: Rows, k: int) -> Values:
    """Return (k + 1) / (k + rank) of each of `rows`, ascending: 1 for the first of the branch, 0 for what it lacks."""
    return np.nan_to_num((k + 1) / (k + spread(rows, branch, np.arange(1, len(branch) + 1))), nan=0.0)


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


def reserve(ordered: Rows, branches: Mapping[str, Rows], places: Mapping[str, int] = RESERVED) -> Rows:
    """Return the order with the first row of each branch that has a place reserved moved up to it at the latest."""
    for name in sorted(places, key=lambda item: (places[item], item)):
        within, first = places[name], branches.get(name, ordered)[:1]
        if len(first) and first[0] not in ordered[:within]:
            rest = ordered[ordered != first[0]]
            ordered = np.concatenate([rest[: within - 1], first, rest[within - 1 :]])
    return ordered


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
