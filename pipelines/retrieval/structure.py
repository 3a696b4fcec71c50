"""What is known of a row besides its ranks: its name, its file, its kind, its place in the call graph.

In: candidate rows and the analysed query. Out: factors around 1. Gains named here and beside are NDCG@10 on the
development half of a public benchmark that judges files, and on the bundled judgments, which judge functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from pipelines.bloom import rows_that_may_hold
from pipelines.records import ChunkKind, SymbolKind
from pipelines.retrieval.analysis import Analysis
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.fusion import Values
from pipelines.retrieval.rows import Rows
from pipelines.retrieval.symbols import DECLARED, DECLARED_FOLDED, EXACT, FOLDED
from pipelines.tokens import words

#: Gain of a row whose name is made of the query's words, all of them.
NAME_GAIN = 0.2
#: Gain of a row whose file, or whose folder, is named by words of the query: "argument parser" and parser.py. Worth
#: .03 NDCG@10 on the benchmark, nothing on the bundled judgments.
FILE_GAIN, FOLDER_GAIN = 0.7, 0.1
#: Gain where the file's name is the whole query: in many languages a file is called like the class in it.
SAME_NAME_GAIN = 1.0
#: A test tells how a thing is used, which is seldom what is asked, unless tests are asked for.
TEST_FACTOR = 0.7
#: What is left of a file outside its definitions says less than a definition; prose is asked for less than code.
KIND_FACTORS: Mapping[str, float] = {ChunkKind.MODULE: 0.8, ChunkKind.SECTION: 0.7}
#: Examples, benchmarks and foreign code are the wrong place, unless the query names it; data is no explanation.
PERIPHERAL_FACTOR, DATA_FACTOR = 0.8, 0.7
_PERIPHERAL = frozenset(
    {"example", "examples", "demo", "demos", "sample", "samples", "bench", "benchmark", "benchmarks"}
    | {"vendor", "vendored", "testdata", "fixtures", "legacy", "deprecated"}
    | {"third_party", "thirdparty", "_examples", "generated", "deps", "external", "extern", "node_modules"}
)
_DATA_SUFFIXES = frozenset({".txt", ".json", ".yml", ".yaml", ".toml", ".cfg", ".lock", ".xml", ".svg", ".csv"})
#: Further parts of a long unit stand behind its first.
PART_FACTOR = 0.9
#: PageRank and blast radius decide between near-ties only: less than one place at rank 20 of one branch.
CENTRALITY_GAIN, BLAST_GAIN = 0.01, 0.01
#: A step in the order of the definitions that the query names: above any sum of reciprocal ranks with all its factors,
#: so that the named definition stands first whatever else is known.
DEFINITION_STEP = 1.0
#: Among definitions of one name a type stands before its constructor, and what has a body before another name for it.
_BODIES: Mapping[str, int] = {
    **dict.fromkeys((SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.STRUCT, SymbolKind.TRAIT, SymbolKind.ENUM), 2),
    **dict.fromkeys((SymbolKind.TYPE, SymbolKind.FUNCTION, SymbolKind.MACRO, SymbolKind.CONSTANT), 1),
}

#: Files that stand for their folder, whose name is theirs.
_FOLDER_FILES = frozenset({"mod", "index", "__init__", "init"})
_NOT_A_LETTER = re.compile(r"[\W_]+")


def structural_factors(corpus: Corpus, rows: Rows, analysis: Analysis) -> dict[str, Values]:
    """Return the factors of each row by name."""
    tests = corpus.tests(rows)
    asked = _bare(analysis.text)
    names = np.array([_overlap(analysis, _words(name)) for name in corpus.strings(rows, "name")], np.float64)
    return {
        "name": 1 + NAME_GAIN * names,
        "path": corpus.label_values(rows, "path", lambda path: _path_factor(analysis, asked, path)),
        "place": corpus.label_values(rows, "path", lambda path: _place_factor(analysis, path)),
        "test": np.where(tests & (not analysis.wants_tests), TEST_FACTOR, 1.0),
        "kind": corpus.label_values(rows, "kind", lambda kind: KIND_FACTORS.get(kind, 1.0)),
        "part": np.where(corpus.numbers(rows, "part") > 0, PART_FACTOR, 1.0),
        "centrality": 1 + CENTRALITY_GAIN * corpus.numbers(rows, "pagerank_rank"),
        "blast": 1 + BLAST_GAIN * corpus.numbers(rows, "blast_rank"),
    }


def definition_bonus(corpus: Corpus, rows: Rows, analysis: Analysis, tiers: Values) -> Values:
    """Return what is added to the definitions whose name is the whole query, 0 for all other rows.

    The same name in the same case stands before one in another case; then code before tests, the project's own before
    foreign code, a type before its constructor, and what takes several lines before a forward declaration.

    :param tiers: the tier of each row in the symbol branch.
    """
    named = (tiers >= DECLARED_FOLDED) & (corpus.label_values(rows, "kind", ChunkKind.SECTION.__eq__) == 0)
    wanted = ~corpus.tests(rows) | analysis.wants_tests
    own = 1 - corpus.label_values(rows, "path", lambda path: _is_aside(analysis, path))
    body = corpus.label_values(rows, "kind", lambda kind: _BODIES.get(kind, 0))
    lines = corpus.numbers(rows, "end_line") > corpus.numbers(rows, "start_line")
    steps = np.zeros(len(rows), np.float64)
    defined = (tiers >= EXACT) | ((tiers >= FOLDED) & (tiers < DECLARED))
    sure = np.where(defined, body, np.rint(tiers % 0.1 * 200))
    code = corpus.label_values(rows, "kind", ChunkKind.WINDOW.__ne__)
    for values, count in (
        *((tiers >= DECLARED, 2), (wanted, 2), (code, 2), (own, 2), (defined, 2)),
        *((sure, 64), (lines, 2)),
    ):
        steps = steps * count + values  # a mixed radix: no sum of later ones outweighs an earlier one
    return np.where(named, DEFINITION_STEP * (1 + steps), 0.0)


def name_coverage(corpus: Corpus, rows: Rows, keywords: Sequence[str]) -> Values:
    """Return the share of the keywords that are words of each row's qualified name."""
    wanted = set(keywords)
    shares = [len(wanted.intersection(words(name))) for name in corpus.strings(rows, "qualified_name")]
    return np.array(shares, np.float64) / max(1, len(wanted))


def sketch_coverage(corpus: Corpus, rows: Rows, keywords: Sequence[str]) -> Values:
    """Return the share of the keywords that each row's token sketch may hold."""
    blooms = corpus.blooms(rows)
    held = [rows_that_may_hold(blooms, [keyword]) for keyword in keywords]
    return np.mean(held, axis=0, dtype=np.float64) if held else np.zeros(len(rows), np.float64)


class _Place(NamedTuple):
    """What a path says: words of the file's name, of its folder, and of folders aside; the bare name; the data type."""

    file: frozenset[str]
    folder: frozenset[str]
    aside: frozenset[str]
    name: str
    data: str


@lru_cache(maxsize=1 << 16)
def _place(path: str) -> _Place:
    parts = PurePosixPath(path)
    folder = parts.parent.name
    file = parts.name.partition(".")[0]
    name = folder if file in _FOLDER_FILES else file
    aside = [part for part in parts.parts[:-1] if part.lower() in _PERIPHERAL]
    data = parts.suffix[1:].lower() if parts.suffix.lower() in _DATA_SUFFIXES else ""
    return _Place(_words(name), _words(folder), _words(" ".join(aside)), _bare(name), data)


def _path_factor(analysis: Analysis, asked: str, path: str) -> float:
    place = _place(path)
    gain = FILE_GAIN * _share(analysis, place.file) + FOLDER_GAIN * _share(analysis, place.folder)
    return 1 + gain + (SAME_NAME_GAIN if asked and asked == place.name else 0.0)


def _place_factor(analysis: Analysis, path: str) -> float:
    place = _place(path)
    data = bool(place.data) and place.data not in analysis.forms
    return (PERIPHERAL_FACTOR if _is_aside(analysis, path) else 1.0) * (DATA_FACTOR if data else 1.0)


def _is_aside(analysis: Analysis, path: str) -> bool:
    aside = _place(path).aside
    return bool(aside) and analysis.forms.isdisjoint(aside)


def _bare(name: str) -> str:
    """Return a name without case and without what separates its words."""
    return _NOT_A_LETTER.sub("", name.casefold())


@lru_cache(maxsize=1 << 16)
def _words(name: str) -> frozenset[str]:
    return frozenset(words(name))


def _share(analysis: Analysis, held: frozenset[str]) -> float:
    """Return the share of some words that the query has in any form."""
    return len(held & analysis.forms) / len(held) if held else 0.0


def _overlap(analysis: Analysis, held: frozenset[str]) -> float:
    """Return how well some words cover the query and are covered by it: the harmonic mean of both shares."""
    return 2 * len(held & analysis.forms) / (len(held) + len(analysis.keywords)) if held else 0.0
