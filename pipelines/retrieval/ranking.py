"""One order out of what the branches found. In: candidates, the analysed query. Out: rows in order, scores, terms.

With `rrf` a row's score is (sum of reciprocal ranks x factors + support of its file) x repeat, plus the bonus of the
definition that the query names. Each of these is a term of the hit, so a score can be worked out by hand. Where a row
stands elsewhere than its score would have it, the score is brought to its place, and the term `held` is the difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pipelines.records import SearchMode
from pipelines.retrieval.analysis import Analysis
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.files import (
    REPEAT_FACTOR,
    SUPPORT,
    SUPPORT_K,
    file_numbers,
    file_support,
    places_in_file,
)
from pipelines.retrieval.fusion import RRF_K, Fused, Values, late, reserve, rrf, spread, stand_in
from pipelines.retrieval.lexical import Ranking
from pipelines.retrieval.query import Query
from pipelines.retrieval.rows import Rows
from pipelines.retrieval.semantic import Pool
from pipelines.retrieval.structure import definition_bonus, name_coverage, sketch_coverage, structural_factors

#: What the ranks of the words, and of the names, count for.
LEXICAL_WEIGHT, SYMBOL_WEIGHT = 1.0, 0.6
#: What the ranks of the vectors count for. Encoders that add up words see little that the lexical branch does not, so
#: they count half: on the benchmark .01 NDCG@10 better than equal weights.
SEMANTIC_WEIGHT, WORD_ENCODER_WEIGHT = 1.0, 0.5
_WORD_ENCODERS = frozenset({"vocab", "hash"})


@dataclass(slots=True)
class Candidates:
    """What the branches found for one query."""

    lexical: Ranking = field(default_factory=Ranking.empty)
    semantic: Pool = field(default_factory=Pool.empty)
    symbol: Ranking = field(default_factory=Ranking.empty)

    def branches(self) -> dict[str, Rows]:
        """Return the rows of the branches that found any."""
        found = {"lexical": self.lexical.rows, "semantic": self.semantic.rows, "symbol": self.symbol.rows}
        return {name: rows for name, rows in found.items() if len(rows)}


def rank(
    corpus: Corpus, query: Query, analysis: Analysis, found: Candidates, inactive: dict[str, str]
) -> tuple[Rows, Fused]:
    """Return the candidates in order, and their scores.

    :param inactive: told the terms that cannot tell rows apart, with the reason.
    """
    if query.no_fusion:
        return _plain(corpus, query, found)
    if query.fusion == "late":
        fused = _late(corpus, analysis, found.semantic.by_row(), inactive)
        return _in_place(corpus, _ordered(corpus, fused, found.semantic), fused)
    branches = found.branches()
    fused = _rrf(corpus, analysis, found, _with_stand_ins(corpus, branches))
    return _in_place(corpus, reserve(_ordered(corpus, fused, found.semantic), branches), fused)


def _with_stand_ins(corpus: Corpus, branches: Mapping[str, Rows]) -> Mapping[str, Rows]:
    if "lexical" not in branches or "semantic" not in branches:
        return branches
    lexical = branches["lexical"]
    return {**branches, "semantic": stand_in(lexical, ~corpus.have_vectors(lexical), branches["semantic"])}


def branch_weights(corpus: Corpus) -> Mapping[str, float]:
    """Return what a rank in each branch counts for."""
    by_words = all(item.document.encoder.name in _WORD_ENCODERS for item in corpus.generations)
    semantic = WORD_ENCODER_WEIGHT if by_words else SEMANTIC_WEIGHT
    return {"lexical": LEXICAL_WEIGHT, "semantic": semantic, "symbol": SYMBOL_WEIGHT}


def _in_place(corpus: Corpus, ordered: Rows, fused: Fused) -> tuple[Rows, Fused]:
    """Return the order with further parts of a symbol at the end, and scores that fall with it.

    A row that was moved up has the score of the best row behind it; one that was put off, at most the last one's.
    """
    repeats = _repeats(corpus, ordered)
    places = np.searchsorted(fused.rows, ordered)
    scores = fused.scores[places]
    first = np.maximum.accumulate(scores[~repeats][::-1])[::-1]
    after = np.minimum.accumulate(np.minimum(scores[repeats], first.min(initial=np.inf)))
    ordered, places = (np.concatenate([values[~repeats], values[repeats]]) for values in (ordered, places))
    placed = fused.scores.copy()
    placed[places] = np.concatenate([first, after])
    held = placed - fused.scores
    return ordered, Fused(fused.rows, placed, {**fused.terms, "held": np.where(held == 0, np.nan, held)})


def _repeats(corpus: Corpus, ordered: Rows) -> npt.NDArray[np.bool_]:
    """Tell which rows show a symbol that a row before them shows already: its other parts."""
    nodes = corpus.numbers(ordered, "node")
    owners = np.searchsorted(corpus.bases, ordered, side="right")
    seen: set[tuple[int, float]] = set()
    found = np.zeros(len(ordered), np.bool_)
    for place, symbol in enumerate(zip(owners.tolist(), nodes.tolist(), strict=True)):
        found[place] = symbol in seen
        if symbol[1] >= 0:
            seen.add(symbol)
    return found


def _plain(corpus: Corpus, query: Query, found: Candidates) -> tuple[Rows, Fused]:
    """Return one branch as it is: Hamming order where there is a semantic branch, else names, or BM25."""
    if query.semantic:
        pool = found.semantic.by_row()
        return found.semantic.by_distance(corpus).rows, Fused(pool.rows, _similarity(corpus, pool), {})
    ranking = found.symbol if query.mode is SearchMode.SYMBOL else found.lexical
    rows = np.sort(ranking.rows)
    return ranking.rows, Fused(rows, spread(rows, ranking.rows, ranking.scores), {})


def _rrf(corpus: Corpus, analysis: Analysis, found: Candidates, branches: Mapping[str, Rows]) -> Fused:
    weights = branch_weights(corpus)
    fused = rrf(branches, weights)
    rows = fused.rows
    factors = structural_factors(corpus, rows, analysis)
    factor = np.prod(list(factors.values()), axis=0)
    tiers = spread(rows, found.symbol.rows, found.symbol.scores, missing=0.0)
    bonus = definition_bonus(corpus, rows, analysis, tiers)
    files = file_numbers(corpus, rows)
    # Flatter ranks, scaled so that a first rank counts the same in both sums.
    evidence = rrf({name: branches[name] for name in branches if name != "symbol"}, weights, SUPPORT_K)
    flat = spread(rows, evidence.rows, evidence.scores, missing=0.0) * (SUPPORT_K + 1) / (RRF_K + 1)
    support = SUPPORT * file_support(files, flat * factor)
    own = fused.scores * factor + support
    repeat = np.power(REPEAT_FACTOR, places_in_file(files, own + bonus), dtype=np.float64)
    terms = {**fused.terms, "rrf": fused.scores, **factors, "file": support, "repeat": repeat, "definition": bonus}
    return Fused(rows, own * repeat + bonus, terms)


def _late(corpus: Corpus, analysis: Analysis, pool: Pool, inactive: dict[str, str]) -> Fused:
    rows, keywords = pool.rows, analysis.keywords
    terms: dict[str, Values] = {"semantic": _similarity(corpus, pool)}
    for name, column in (("blast", "blast_rank"), ("centrality", "pagerank_rank")):
        if all(column in generation.inactive_ranks for generation in corpus.generations):
            inactive[name] = "it is the same for every row"
        else:
            terms[name] = corpus.numbers(rows, column)
    if keywords:
        terms["name"] = name_coverage(corpus, rows, keywords)
        terms["sketch"] = sketch_coverage(corpus, rows, keywords)
    else:
        inactive |= dict.fromkeys(("name", "sketch"), "the query has no word")
    return late(rows, terms)


def _similarity(corpus: Corpus, pool: Pool) -> Values:
    """Return 1 - distance / bits."""
    width = max([1, *(item.bit_map.bits for item in corpus.generations)])
    return 1 - pool.distances / width


def _ordered(corpus: Corpus, fused: Fused, pool: Pool) -> Rows:
    """Return the rows by score, then Hamming distance, then chunk id."""
    distances = spread(fused.rows, pool.rows, pool.distances, missing=np.inf)
    return fused.rows[corpus.order(fused.rows, -fused.scores, distances)]
