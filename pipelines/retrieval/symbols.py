"""The branch of names: which definitions does the query name. In: an analysed query. Out: rows with a tier.

Names are looked up by hash, so nothing is scanned; then the candidates' own names are compared for case and container.
A name that has no chunk of its own, as a field or a short constant, is looked for in the texts that hold the word.
A higher tier always stands before a lower one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from pipelines.records import ChunkKind, SymbolKind
from pipelines.retrieval.analysis import Analysis, bare_term
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.declarations import LOCAL, find_declaration
from pipelines.retrieval.filters import Mask
from pipelines.retrieval.generation import Generation
from pipelines.retrieval.lexical import Ranking, rows_with_term
from pipelines.retrieval.places import rows_at
from pipelines.retrieval.receivers import nearness, nearness_in
from pipelines.retrieval.rows import Rows
from pipelines.tokens import normalise, term_hash, words

#: The query is the name, or the qualified name, of the row.
EXACT = 1.0
#: The row is the smallest that holds a line of a file which the query gives.
PLACED = 1.01
#: The row declares the name on a line of its own, by how sure that is.
DECLARED = 0.92
_DECLARED_STEP = 0.01
#: The same as EXACT, and as DECLARED, but for case.
FOLDED, DECLARED_FOLDED = 0.9, 0.81
#: The name has the same words as the query in another spelling, abortIndex for abort_index, of which no text has any.
RESPELT, DECLARED_RESPELT = 0.79, 0.75
#: The query's words, joined, are the name: "parse request" and parseRequest.
JOINED = 0.74
#: A name inside a sentence is the row's name; the same but for case.
MENTIONED, MENTIONED_FOLDED = 0.7, 0.6
#: Some of the sentence's words, joined, are the row's name.
PARTLY_JOINED = 0.5
#: One plain word of the sentence is the row's name.
WORD = 0.4
#: In symbol mode: the row's name begins with the query; it has all the query's parts.
PREFIX, PARTS = 0.3, 0.2
#: A section has a heading, not a definition: it is worth this much less than a definition of the same tier.
SECTION_STEP = 0.05
DEFINITION_KINDS = frozenset(str(kind) for kind in SymbolKind)
#: What these declare on a line is their own.
_CALLABLES = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD})

#: Rows that hold a word, of them those that are read for the line that declares it, and names of a sentence that are
#: looked for so. Only the commonest words have more, and what declares them says little else, so it is among the first.
_MAX_HOLDING, _MAX_READ, _MAX_MENTIONED = 4_096, 512, 4

#: Rows of one name that are compared. "main" and "init" have thousands, of which the caller cannot have meant one.
_MAX_ROWS_PER_NAME = 2_048


@dataclass(frozen=True, slots=True)
class Lookup:
    """One name to look up: its folded last part, its parts as written, and the tiers it gives."""

    key: str
    parts: tuple[str, ...]
    tier: float
    folded_tier: float
    kinds: frozenset[str] = frozenset()  # where given, a row of another kind is only mentioned


def declared_strength(tiers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return how sure the rows of these tiers declare a name on a line; of no meaning for other tiers."""
    folded = np.where(tiers >= DECLARED_FOLDED, DECLARED_FOLDED, DECLARED_RESPELT)
    lowest = np.where(tiers >= DECLARED, DECLARED, folded)
    return np.rint((tiers - lowest) / _DECLARED_STEP)


def search_symbols(corpus: Corpus, masks: Sequence[Mask], analysis: Analysis, size: int) -> Ranking:
    """Return the `size` best rows that the query names; the scores are their tiers."""
    tiers = _defining(corpus, masks, list(_lookups(analysis)))
    named: dict[int, float] = {}
    for parts in analysis.names:
        named = _defining(corpus, masks, [Lookup(_fold(parts[-1]), parts, EXACT, FOLDED)])
        named = _higher(named, _declaring(corpus, masks, parts, analysis.receiver))
        if named:
            break
    if not named:
        named = _respelt(corpus, masks, analysis)
    named = _higher(named, dict.fromkeys(rows_at(corpus, masks, analysis.places), PLACED))
    tiers = _higher(_higher(tiers, named), _declaring_beside(corpus, masks, analysis))
    return _ranked(corpus, tiers, analysis, size)


def _higher(tiers: Mapping[int, float], others: Mapping[int, float]) -> dict[int, float]:
    """Return the rows of both with the higher of their tiers."""
    return {row: max(tiers.get(row, 0.0), others.get(row, 0.0)) for row in {**tiers, **others}}


def _defining(corpus: Corpus, masks: Sequence[Mask], lookups: Sequence[Lookup]) -> dict[int, float]:
    """Return the rows whose own name is looked up, with their tier; sections a step lower."""
    tiers: dict[int, float] = {}
    for base, generation, mask in zip(corpus.bases.tolist(), corpus.generations, masks, strict=False):
        found = _rows_called(generation, mask, [lookup.key for lookup in lookups])
        for lookup, rows in zip(lookups, found, strict=True):
            for row, tier in _compare(generation, rows.tolist(), lookup):
                tiers[base + row] = max(tier, tiers.get(base + row, 0.0))
    return _below_definitions(corpus, tiers)


def _rows_called(generation: Generation, mask: Mask, names: Sequence[str]) -> Iterable[Rows]:
    """Yield for each of some folded names the rows that have it."""
    hashes = np.array([term_hash(name) for name in names], np.uint64)
    starts, ends = (np.searchsorted(generation.names, hashes, side=side) for side in ("left", "right"))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        rows = generation.name_rows[start:end].astype(np.int64)
        yield (rows if mask is None else rows[mask[rows]])[:_MAX_ROWS_PER_NAME]


def _respelt(corpus: Corpus, masks: Sequence[Mask], analysis: Analysis) -> dict[int, float]:
    """Return what has the words of the name in another spelling; it is only near if a text has the query's own."""
    spelt = bare_term(analysis.name[-1] if analysis.name else analysis.text).lstrip("-")
    near = bool(analysis.spellings) and len(rows_with_term(corpus, masks, spelt, 1)) > 0
    tier = MENTIONED_FOLDED if near else RESPELT
    around = analysis.name[:-1]
    lookups = [Lookup(name, (*around, name), tier, tier) for name in analysis.spellings]
    named = _defining(corpus, masks, lookups)
    for name in () if near else analysis.spellings:
        named = _higher(named, _rows_declaring(corpus, masks, (*around, name), DECLARED_RESPELT, fold=True))
    return named


def search_name_parts(corpus: Corpus, candidates: Rows, analysis: Analysis, found: Ranking, size: int) -> Ranking:
    """Return `found` and, after it, the candidates whose name begins with the query or has all its parts."""
    known = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
    folded, wanted = _fold(analysis.text), set(analysis.keywords)
    tiers: dict[int, float] = {}
    for row, name in zip(candidates.tolist(), corpus.strings(candidates, "name"), strict=True):
        if name and row not in known:
            if _fold(name).startswith(folded):
                tiers[row] = PREFIX
            elif wanted and wanted.issubset(words(name)):
                tiers[row] = PARTS
    return _ranked(corpus, {**known, **_below_definitions(corpus, tiers)}, analysis, size)


def _below_definitions(corpus: Corpus, tiers: Mapping[int, float]) -> dict[int, float]:
    """Return the tiers with those of sections a step lower."""
    rows = np.array(list(tiers), np.int64)
    steps = corpus.label_values(rows, "kind", lambda kind: 0.0 if kind in DEFINITION_KINDS else SECTION_STEP)
    return {row: tiers[row] - step for row, step in zip(rows.tolist(), steps.tolist(), strict=True)}


def _ranked(corpus: Corpus, tiers: Mapping[int, float], analysis: Analysis, size: int) -> Ranking:
    """Return rows by tier; in a tier code before tests, then what the receiver may be, then the more central first."""
    rows = np.array(sorted(tiers), np.int64)
    scores = np.array([tiers[row] for row in rows.tolist()], np.float64)
    near = nearness(corpus, rows, analysis.receiver, analysis.name[-1] if analysis.name else "")
    order = corpus.order(rows, -scores, corpus.tests(rows), -near, -corpus.numbers(rows, "pagerank_rank"))[:size]
    return Ranking(rows[order], scores[order])


def _lookups(analysis: Analysis) -> Iterable[Lookup]:
    if analysis.name and _fold(analysis.text) != _fold(analysis.name[-1]):  # a heading such as "Node.js" keeps its dot
        yield Lookup(_fold(analysis.text), (analysis.text,), EXACT, FOLDED)
    if analysis.declared:
        yield Lookup(_fold(analysis.declared[-1]), analysis.declared, EXACT, FOLDED, analysis.kinds)
    for parts in analysis.mentioned:
        yield Lookup(_fold(parts[-1]), parts, MENTIONED, MENTIONED_FOLDED)
    for name, whole in analysis.joined.items():
        plain = "_" not in name and name in analysis.keywords
        tier = JOINED if whole else WORD if plain else PARTLY_JOINED
        yield Lookup(name, (name,), tier, tier)
    if analysis.joined:
        yield Lookup(_fold(analysis.text), (analysis.text,), EXACT, FOLDED)  # a heading of several words


def _declaring(corpus: Corpus, masks: Sequence[Mask], parts: tuple[str, ...], receiver: str = "") -> dict[int, float]:
    """Return the rows that declare a name on a line, with their tier: in its own case, else in any."""
    found = _rows_declaring(corpus, masks, parts, DECLARED, receiver, fold=False)
    return found or _rows_declaring(corpus, masks, parts, DECLARED_FOLDED, receiver, fold=True)


def _declaring_beside(corpus: Corpus, masks: Sequence[Mask], analysis: Analysis) -> dict[int, float]:
    """Return the rows that declare on a line what stands behind a keyword, or what a sentence mentions."""
    if analysis.name:
        return {}
    if analysis.declared:
        return _declaring(corpus, masks, analysis.declared)
    found: dict[int, float] = {}
    for parts in analysis.mentioned[:_MAX_MENTIONED]:
        found |= _rows_declaring(corpus, masks, parts, MENTIONED_FOLDED, fold=False)
    return found


def _rows_declaring(
    corpus: Corpus, masks: Sequence[Mask], parts: tuple[str, ...], tier: float, receiver: str = "", *, fold: bool
) -> dict[int, float]:
    name = parts[-1].strip("$@~?!#")
    found: dict[int, float] = {}
    rows = rows_with_term(corpus, masks, bare_term(name), _MAX_HOLDING)
    rows = np.concatenate([rows, np.setdiff1d(_rows_of_container(corpus, masks, parts), rows)])
    for generation, places, local in corpus.split(rows):
        table = generation.rows
        bases = dict(zip(local.tolist(), rows[places].tolist(), strict=True))
        likely = _likely_to_declare(generation, local, parts, receiver)
        holding = likely if fold else table.holding(likely, name)
        for row in islice(holding, _MAX_READ):
            kind, language = table.labels["kind"][row], table.labels["language"][row]
            place = find_declaration(table.text(row), name, kind, language, fold=fold)
            if place is not None:
                sure = place.strength > LOCAL
                found[bases[row]] = tier + _DECLARED_STEP * place.strength if sure else MENTIONED_FOLDED
    return found


def _rows_of_container(corpus: Corpus, masks: Sequence[Mask], parts: tuple[str, ...]) -> Rows:
    """Return the rows of what a qualified name says the name is in: of a common name they may hold few among many."""
    found = [np.zeros(0, np.int64)]
    for base, generation, mask in zip(corpus.bases.tolist(), corpus.generations, masks, strict=False):
        found += [base + rows for rows in _rows_called(generation, mask, [_fold(part) for part in parts[-2:-1]])]
    return np.concatenate(found)


def _likely_to_declare(generation: Generation, rows: Rows, parts: tuple[str, ...], receiver: str) -> list[int]:
    """Return those of the rows that may declare a name, in the order to read them: what may be its receiver first.

    A common name is held by more rows than are read, and the long ones, as a type with many fields, come last.
    """
    kinds = generation.rows.labels["kind"]
    held = [row for row in rows.tolist() if kinds[row] != ChunkKind.SECTION]
    held = _within(generation, held, [_fold(part) for part in parts])
    near = nearness_in(generation, held, receiver, parts[-1]) if receiver else [0] * len(held)
    ordered = sorted(zip(near, held, strict=True), key=lambda item: (-item[0], kinds[item[1]] in _CALLABLES))
    return [row for _, row in ordered]


def _within(generation: Generation, rows: list[int], parts: Sequence[str]) -> list[int]:
    """Return those of the rows that are, or are in, the containers which a qualified name gives."""
    if len(parts) == 1:
        return rows
    found = []
    for row, full in zip(rows, generation.rows.strings("qualified_name", rows), strict=True):
        places = _places(generation, row)
        if parts[-2] in f"{full}/{places}".casefold():  # most rows are told so, at a tenth of the cost
            folded = _fold(f"{full}.{parts[-1]}").lstrip(".")
            if _names(parts, parts[-1], folded, _fold(places)):
                found.append(row)
    return found


def _places(generation: Generation, row: int) -> str:
    return f"{generation.repo}/{generation.rows.labels['path'][row].rpartition('.')[0]}"


def _compare(generation: Generation, rows: Sequence[int], lookup: Lookup) -> Iterable[tuple[int, float]]:
    """Yield the rows that the lookup names, with their tier: its last part is the name, the others contain it."""
    table = generation.rows
    names, qualified = (table.strings(column, rows) for column in ("name", "qualified_name"))
    folded = [_fold(part) for part in lookup.parts]
    for row, name, full in zip(rows, names, qualified, strict=True):
        places = _places(generation, row)
        most = EXACT if not lookup.kinds or table.labels["kind"][row] in lookup.kinds else MENTIONED
        if _names(lookup.parts, name, full, places):
            yield row, min(lookup.tier, most)
        elif _names(folded, _fold(name), _fold(full), _fold(places)):
            yield row, min(lookup.folded_tier, most)


def _names(parts: Sequence[str], name: str, full: str, places: str) -> bool:
    """Tell whether the parts name a row: the end of its qualified name, or all of it after some places, in their order.

    Which folders make up a package, and whether the file's name is a part of it, is for each language to say, so any of
    them may be left out: `com.google.gson.Gson` is in src/main/java/com/google/gson/Gson.java.

    :param places: the repository, the folders and the file, without its extension.
    """
    if len(parts) == 1:
        return parts[0] in (name, full)
    if parts[-1] != name and parts[-1] != full.rpartition(".")[2]:
        return False
    wanted, containers = list(parts[:-1]), full.split(".")[:-1]
    if len(wanted) <= len(containers):
        return containers[len(containers) - len(wanted) :] == wanted
    before = len(wanted) - len(containers)
    remaining = iter(places.split("/"))
    return wanted[before:] == containers and all(part in remaining for part in wanted[:before])


def _fold(text: str) -> str:
    return normalise(text).casefold()
