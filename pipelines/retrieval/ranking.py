"""One order out of what the branches found. In: candidates, the analysed query. Out: rows in order, scores, terms.

With `rrf` a row's score is the weighted sum of its features: reciprocal ranks in the branches, what its name, file and
place say. What each adds is a term of the hit, so a score can be worked out by hand; `repeat` is what a further row of
a file loses, `definition` what a definition gains that the query names. Where a row stands elsewhere than its score
would have it, the score is brought to its place, and the term `held` is the difference.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pipelines.records import SearchMode
from pipelines.retrieval.analysis import Analysis
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.features import Candidates, features
from pipelines.retrieval.files import file_numbers, places_in_file
from pipelines.retrieval.fusion import Fused, Values, late, reciprocal_ranks, reserve, spread, union
from pipelines.retrieval.query import Query
from pipelines.retrieval.rows import Rows
from pipelines.retrieval.semantic import Pool
from pipelines.retrieval.structure import definition_bonus, name_coverage, sketch_coverage
from pipelines.retrieval.weights import FROM_VECTORS, REPEAT_STEP, WORD_ENCODER_SHARE

#: In symbol mode the place in a tier decides within the tier: tiers are .01 apart.
_TIER_STEP = 0.005
_WORD_ENCODERS = frozenset({"vocab", "hash"})


def rank(
    corpus: Corpus,
    query: Query,
    analysis: Analysis,
    found: Candidates,
    inactive: dict[str, str],
    weights: Mapping[str, float],
) -> tuple[Rows, Fused]:
    """Return the candidates in order, and their scores.

    :param inactive: told the terms that cannot tell rows apart, with the reason. :param weights: of the features.
    """
    if query.no_fusion:
        return _plain(corpus, query, found)
    if query.fusion == "late":
        fused = _late(corpus, analysis, found.semantic.by_row(), inactive)
        return _in_place(corpus, _ordered(corpus, fused, found.semantic), fused)
    if query.mode is SearchMode.SYMBOL:
        fused = _by_tier(corpus, analysis, found)
        return _in_place(corpus, _ordered(corpus, fused, found.semantic), fused)
    fused = weigh_features(corpus, analysis, found, _for_encoder(corpus, weights))
    return _in_place(corpus, reserve(_ordered(corpus, fused, found.semantic), found.branches()), fused)


def weigh_features(corpus: Corpus, analysis: Analysis, found: Candidates, weights: Mapping[str, float]) -> Fused:
    """Return the weighted sum of the features of every candidate, with its further rows of a file put behind."""
    branches = found.branches()
    rows = union(branches)
    files = file_numbers(corpus, rows)
    columns = features(corpus, rows, files, analysis, found)
    added: dict[str, Values] = {name: weights[name] * values for name, values in columns.items() if name in weights}
    own: Values = np.zeros(len(rows), np.float64)
    for values in added.values():
        own = own + values
    bonus = definition_bonus(corpus, rows, analysis, spread(rows, found.symbol.rows, found.symbol.scores, missing=0.0))
    added["repeat"] = -REPEAT_STEP * places_in_file(files, own + bonus).astype(np.float64)
    scores = own + added["repeat"] + bonus
    ranks = {
        f"{name}_rank": spread(rows, branches[name], np.arange(1, len(branches[name]) + 1)) for name in sorted(branches)
    }
    terms = {name: np.where(values == 0, np.nan, values) for name, values in {**added, "definition": bonus}.items()}
    return Fused(rows, scores, {**ranks, **terms})


def _for_encoder(corpus: Corpus, weights: Mapping[str, float]) -> Mapping[str, float]:
    if all(item.document.encoder.name in _WORD_ENCODERS for item in corpus.generations):
        return {name: value * (WORD_ENCODER_SHARE if name in FROM_VECTORS else 1) for name, value in weights.items()}
    return weights


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


def _by_tier(corpus: Corpus, analysis: Analysis, found: Candidates) -> Fused:
    """Return the rows of the symbol branch by how well they are named; in one tier those before that stand before."""
    rows = np.sort(found.symbol.rows)
    tiers = spread(rows, found.symbol.rows, found.symbol.scores)
    bonus = definition_bonus(corpus, rows, analysis, tiers)
    first = reciprocal_ranks(rows, found.symbol.rows, 1)
    terms = {"tier": tiers, "symbol": first * _TIER_STEP, "definition": np.where(bonus == 0, np.nan, bonus)}
    return Fused(rows, tiers + first * _TIER_STEP + bonus, terms)


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
