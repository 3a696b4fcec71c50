"""What is known of a row besides its ranks, for the definitions that a query names and for late fusion.

In: candidate rows and the analysed query. Out: bonuses and shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pipelines.bloom import rows_that_may_hold
from pipelines.records import ChunkKind, SymbolKind
from pipelines.retrieval.analysis import Analysis, bare_term
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.fusion import Values
from pipelines.retrieval.lexical import holding_all
from pipelines.retrieval.paths import place_of
from pipelines.retrieval.receivers import nearness
from pipelines.retrieval.rows import Rows
from pipelines.retrieval.symbols import (
    DECLARED,
    DECLARED_FOLDED,
    DECLARED_RESPELT,
    EXACT,
    FOLDED,
    PLACED,
    RESPELT,
    declared_strength,
)
from pipelines.retrieval.weights import DEFINITION_STEP
from pipelines.tokens import words

#: Among definitions of one name a type stands before its constructor, and what has a body before another name for it.
_BODIES: Mapping[str, int] = {
    **dict.fromkeys((SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.STRUCT, SymbolKind.TRAIT, SymbolKind.ENUM), 2),
    **dict.fromkeys((SymbolKind.TYPE, SymbolKind.FUNCTION, SymbolKind.MACRO, SymbolKind.CONSTANT), 1),
}
#: What can be called, and in which languages the name of a type is, to make one.
_CALLABLES = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.MACRO})
_CALLED_TYPES = frozenset({SymbolKind.CLASS, SymbolKind.STRUCT})
_CALLING_TYPES = frozenset({"cpp", "dart", "kotlin", "python", "scala", "swift"})


def definition_bonus(corpus: Corpus, rows: Rows, analysis: Analysis, tiers: Values) -> Values:
    """Return what is added to the definitions whose name is the whole query, 0 for all other rows.

    The place in a file that the query gives stands first. The same name in the same case stands before one in another
    case, and that before one in another spelling; then code before tests and before settings, the project's own before
    foreign code, what can be called if the query is a call, what belongs to something like the receiver, a definition
    before a line that declares a field or a constant, a type before its constructor, and what takes several lines
    before a forward declaration. A line of a test or an example that declares what other code has as well is a use.

    :param tiers: the tier of each row in the symbol branch.
    """
    bonus = np.zeros(len(rows), np.float64)
    places = np.flatnonzero(tiers >= DECLARED_RESPELT)
    code = corpus.label_values(rows[places], "kind", ChunkKind.SECTION.__ne__) > 0
    places = places[code | (tiers[places] >= PLACED)]
    declares = ~_is_defined(tiers[places])
    if np.any(declares) and _has_name(corpus, rows, analysis):
        places = places[~(declares & _shows_use(corpus, rows[places], analysis))]
    if not len(places):
        return bonus
    rows, tiers = rows[places], tiers[places]
    defined = _is_defined(tiers)
    body = corpus.label_values(rows, "kind", lambda kind: _BODIES.get(kind, 0))
    keys = [
        tiers >= PLACED,
        tiers >= DECLARED,
        tiers >= DECLARED_FOLDED,
        ~corpus.tests(rows) | analysis.wants_tests,
        corpus.label_values(rows, "kind", ChunkKind.WINDOW.__ne__),
        corpus.label_values(rows, "path", lambda path: not place_of(path).is_aside(analysis)),
        defined & _callable(corpus, rows) if analysis.called else np.zeros(len(rows)),
        nearness(corpus, rows, analysis.receiver, analysis.name[-1] if analysis.name else ""),
        defined,
        np.where(defined, body, declared_strength(tiers)),
        corpus.numbers(rows, "end_line") > corpus.numbers(rows, "start_line"),
    ]
    _, step = np.unique(np.stack(keys, axis=1).astype(np.int64), axis=0, return_inverse=True)
    bonus[places] = DEFINITION_STEP * (1 + step.reshape(-1))
    return bonus


def _is_defined(tiers: Values) -> npt.NDArray[np.bool_]:
    """Tell which tiers are those of a definition, and not of a line that declares the name."""
    folded = (tiers >= FOLDED) & (tiers < DECLARED)
    return (tiers >= EXACT) | folded | ((tiers >= RESPELT) & (tiers < DECLARED_FOLDED))


def _shows_use(corpus: Corpus, rows: Rows, analysis: Analysis) -> npt.NDArray[np.bool_]:
    """Tell which rows are of tests or examples, and the query does not ask for such."""
    samples = corpus.label_values(rows, "path", lambda path: place_of(path).is_sample(analysis)) > 0
    return samples | (corpus.tests(rows) & (not analysis.wants_tests))


def _has_name(corpus: Corpus, rows: Rows, analysis: Analysis) -> bool:
    """Tell whether code that is neither test nor example holds the name; a single word may well name another thing."""
    name = (analysis.name or analysis.declared or ("",))[-1]
    if len(list(words(name))) < 2:
        return False
    code = corpus.label_values(rows, "kind", ChunkKind.SECTION.__ne__) > 0
    return bool(np.any(holding_all(corpus, rows, [bare_term(name)]) & code & ~_shows_use(corpus, rows, analysis)))


def _callable(corpus: Corpus, rows: Rows) -> npt.NDArray[np.bool_]:
    """Tell which rows define what can be called, in some languages a type as well."""
    types = corpus.label_values(rows, "kind", _CALLED_TYPES.__contains__)
    calling = corpus.label_values(rows, "language", _CALLING_TYPES.__contains__)
    return (corpus.label_values(rows, "kind", _CALLABLES.__contains__) > 0) | ((types > 0) & (calling > 0))


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
