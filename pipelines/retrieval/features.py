"""What is known of a candidate, each as one number. In: candidates, the analysed query. Out: columns by name.

Every column is made so that it means the same in any repository: a share of the best, a reciprocal rank, a flag. What
they count for stands in weights.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from pipelines.records import ChunkKind
from pipelines.retrieval.analysis import Analysis
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.files import best_of_file, rows_of_file, sum_of_file
from pipelines.retrieval.fusion import Values, reciprocal_ranks, spread, stand_in
from pipelines.retrieval.lexical import Ranking, holding_all
from pipelines.retrieval.paths import bare, place_of, word_set
from pipelines.retrieval.phrases import held_by_rows
from pipelines.retrieval.rows import Rows
from pipelines.retrieval.semantic import Pool
from pipelines.retrieval.symbols import MENTIONED

#: Flattening of the ranks of the two branches: the words decide which row of a file is shown, the vectors add up.
LEXICAL_K, SEMANTIC_K = 8, 40
#: Rows of a file whose vectors count for it.
_SUPPORTING_ROWS = 5
#: A query of more words than this is a sentence, which says more than it spells.
_MAX_SPELT = 3
#: What several words that are spelt count, where one counts 1. Of 400 words that one chunk of 254,104 holds all come
#: first, 373 if one counts .4 too; NDCG@10 of the public benchmark's open half is .918 with either.
_SEVERAL = 0.4
#: What prose and tests have of a message that no other code has.
_TOLD_SHARE = 1 / 3
#: Rows that are read for some words in a row: those that hold most of the query's words.
_MAX_READ = 128
#: Folders below the shallowest candidate that count.
_MAX_DEPTH = 3
#: Lengths and numbers of rows are logarithms, divided so that usual ones are below 1: e^8 characters, e^5 rows.
_LOG_CHARS, _LOG_ROWS = 8.0, 5.0


@dataclass(slots=True)
class Candidates:
    """What the branches found for one query; `cosines` has the similarity of every row of them that has a vector."""

    lexical: Ranking = field(default_factory=Ranking.empty)
    semantic: Pool = field(default_factory=Pool.empty)
    symbol: Ranking = field(default_factory=Ranking.empty)
    cosines: Ranking = field(default_factory=Ranking.empty)

    def branches(self) -> dict[str, Rows]:
        """Return the rows of the branches that found any."""
        found = {"lexical": self.lexical.rows, "semantic": self.semantic.rows, "symbol": self.symbol.rows}
        return {name: rows for name, rows in found.items() if len(rows)}


def features(
    corpus: Corpus, rows: Rows, files: npt.NDArray[np.int64], analysis: Analysis, found: Candidates
) -> dict[str, Values]:
    """Return the columns of the rows.

    :param rows: the candidates, ascending. :param files: a number for the file of each.
    """
    analysis = _without_own_name(corpus, analysis)
    words = _share_of_best(spread(rows, found.lexical.rows, found.lexical.scores, missing=0.0))
    meaning = _meaning(corpus, rows, found, words)
    semantic = found.semantic.rows
    if len(semantic):
        semantic = stand_in(found.lexical.rows, ~corpus.have_vectors(found.lexical.rows), semantic)
    named = (spread(rows, found.symbol.rows, found.symbol.scores, missing=0.0) >= MENTIONED).astype(np.float64)
    exact = _exact(corpus, rows, analysis)
    if analysis.name:
        prose = corpus.label_values(rows, "kind", ChunkKind.SECTION.__eq__)
        if np.any(exact > prose):  # prose that tells of a name is not what code has under it
            named, exact = named * (1 - prose), exact * (1 - prose)
    return {
        "lexical": reciprocal_ranks(rows, found.lexical.rows, LEXICAL_K),
        "semantic": reciprocal_ranks(rows, semantic, SEMANTIC_K),
        "words": words,
        "meaning": meaning,
        "named": named,
        "file_words": best_of_file(files, words),
        "file_meaning": _share_of_best(sum_of_file(files, meaning, _SUPPORTING_ROWS)),
        "file_rows": np.log1p(rows_of_file(files)) / _LOG_ROWS,
        "exact": exact,
        "phrase": _phrase(corpus, rows, analysis, found.lexical.rows[:_MAX_READ]),
        **_named(corpus, rows, analysis),
        **_placed(corpus, rows, analysis),
    }


def _without_own_name(corpus: Corpus, analysis: Analysis) -> Analysis:
    """Return the query without the name of the repository, which tells none of its files from another.

    Worth .0026 NDCG@10 on the benchmark: in axios, axios.js is not what "axios default configuration" asks for.
    """
    names = [word_set(item.repo) for item in corpus.generations]
    own = frozenset.intersection(*names) if names else frozenset()
    return analysis if own.issuperset(analysis.keywords) else replace(analysis, forms=analysis.forms - own)


def _exact(corpus: Corpus, rows: Rows, analysis: Analysis) -> Values:
    """Tell which rows hold all that a short query spells: a name, a compound such as package-lock.json, a few words."""
    if not 0 < len(analysis.whole) <= _MAX_SPELT:
        return np.zeros(len(rows), np.float64)
    value = 1.0 if len(analysis.whole) == 1 else _SEVERAL
    return np.where(holding_all(corpus, rows, analysis.whole), value, 0.0)


def _phrase(corpus: Corpus, rows: Rows, analysis: Analysis, first: Rows) -> Values:
    """Return how much of a message each row has.

    Prose and tests, which tell of a message, have none where other code has it, or half of what they have. Else they
    have a share: a sentence of the documentation mostly asks for the code that it tells of.

    :param first: the rows that are read.
    """
    held = held_by_rows(corpus, first, analysis.message)
    tells = corpus.label_values(first, "kind", ChunkKind.SECTION.__eq__) > 0
    if not analysis.wants_tests:
        tells |= corpus.tests(first)
    code = np.where(tells, 0.0, held)
    in_code = 2 * code.max(initial=0.0) >= held.max(initial=0.0)
    return spread(rows, first, code if in_code else np.where(tells, _TOLD_SHARE * held, held), missing=0.0)


def _meaning(corpus: Corpus, rows: Rows, found: Candidates, words: Values) -> Values:
    """Return the share of the best cosine; a row without a vector has the share of its words."""
    if not len(found.cosines.rows):
        return np.zeros(len(rows), np.float64)
    shares = _share_of_best(np.maximum(spread(rows, found.cosines.rows, found.cosines.scores, missing=0.0), 0.0))
    return np.where(corpus.have_vectors(rows), shares, words)


def _share_of_best(values: Values) -> Values:
    best = float(values.max(initial=0.0))
    return values / best if best > 0 else values


def _named(corpus: Corpus, rows: Rows, analysis: Analysis) -> dict[str, Values]:
    """Return what the row itself is: its name, kind, length, place in the call graph."""
    kinds = (ChunkKind.SECTION, ChunkKind.WINDOW)
    section, window = corpus.label_rows(rows, "kind", lambda kind: tuple(map(kind.__eq__, kinds)), len(kinds)).T
    flags = {
        "test": corpus.tests(rows) & (not analysis.wants_tests),
        "section": section,
        "window": window,
        "part": corpus.numbers(rows, "part") > 0,
    }
    return {
        "name": _overlaps(analysis, corpus.strings(rows, "name")),
        "length": np.log1p(corpus.text_bytes(rows)) / _LOG_CHARS,
        "centrality": corpus.numbers(rows, "pagerank_rank"),
        **{name: np.asarray(flag, np.float64) for name, flag in flags.items()},
    }


def _placed(corpus: Corpus, rows: Rows, analysis: Analysis) -> dict[str, Values]:
    """Return what the row's path says."""
    asked = bare(analysis.text)

    def told(path: str) -> tuple[float, ...]:
        place = place_of(path)
        shares = _share(analysis, place.file), _share(analysis, place.folder)
        same = bool(asked) and asked == place.name
        return (*shares, same, place.is_aside(analysis), place.is_data(analysis), place.depth)

    names = ("file_name", "folder_name", "same_name", "aside", "data", "depth")
    columns = dict(zip(names, corpus.label_rows(rows, "path", told, len(names)).T, strict=True))
    depth = columns["depth"]
    return {**columns, "depth": np.minimum(depth - depth.min(initial=np.inf), _MAX_DEPTH) / _MAX_DEPTH}


def _share(analysis: Analysis, held: frozenset[str]) -> float:
    """Return the share of some words that the query has in any form."""
    return 0.0 if analysis.forms.isdisjoint(held) else len(held & analysis.forms) / len(held)


def _overlaps(analysis: Analysis, names: Sequence[str]) -> Values:
    """Return how well each name's words cover the query and are covered by it: the harmonic mean of both shares."""
    found = np.zeros(len(names), np.float64)
    for place in _holding(names, analysis.forms):
        held = word_set(names[place])
        found[place] = 2 * len(held & analysis.forms) / (len(held) + len(analysis.keywords)) if held else 0.0
    return found


def _holding(names: Sequence[str], words: Iterable[str]) -> set[int]:
    """Return the places of the names that may have one of the words; most have none, and need not be cut into words."""
    folded = [name.lower() for name in names]
    text, ends = "\n".join(folded), list(accumulate(len(name) + 1 for name in folded))
    found = {place for place, name in enumerate(folded) if not name.isascii()}  # one letter may stand for several
    for word in words:
        start = text.find(word)
        while start >= 0:
            place = bisect_right(ends, start)
            found.add(place)
            start = text.find(word, ends[place])
    return found
