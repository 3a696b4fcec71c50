"""Cases drawn from any repository: its own names, and the first sentence of its own documentation.

In: an open generation. Out: cases. Which are drawn depends on chunk ids alone, so a rebuild draws the same. A sentence
stands in the text it is to find, which makes it a check that search works at all, not a measure of understanding.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from pipelines.evaluation.judgments import Case
from pipelines.formats import CHUNKS
from pipelines.records import SymbolKind
from pipelines.retrieval import Generation
from pipelines.store import ArtifactStore
from pipelines.tokens import normalise, term_hash

NAME_KIND, SENTENCE_KIND = "symbol", "doc_sentence"
#: Kinds whose names are looked for.
_NAMED_KINDS = frozenset(str(kind) for kind in SymbolKind)
#: Shorter sentences are headings ("Returns x."), longer ones are not sentences.
_MIN_WORDS, _MAX_WORDS = 4, 40
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n\s*\n|\n\s*[@:\\]")


def known_names(generation: Generation, limit: int) -> list[Case]:
    """Return up to `limit` cases that ask for the name of a symbol that no other row has."""
    rows = _drawn_rows(generation, limit)
    ids = generation.rows.ids
    names = generation.rows.strings("name", rows)
    return [
        Case(chunk, NAME_KIND, name, (frozenset({chunk}),))
        for chunk, name in zip((ids[row].tobytes().hex() for row in rows), names, strict=True)
    ]


def known_sentences(store: ArtifactStore, generation: Generation, names: Sequence[Case]) -> list[Case]:
    """Return, for those of the drawn symbols that have documentation, a case that asks for its first sentence."""
    docs = _docs(store, generation, {case.id for case in names})
    cases = []
    for case in names:
        sentence = first_sentence(docs.get(case.id, ""))
        if sentence:
            cases.append(Case(case.id, SENTENCE_KIND, sentence, case.relevant))
    return cases


def first_sentence(doc: str) -> str:
    """Return the first sentence of a documentation text on one line, "" if it is too short or too long to ask for."""
    words = _SENTENCE_END.split(doc.strip(), maxsplit=1)[0].split()
    return " ".join(words) if _MIN_WORDS <= len(words) <= _MAX_WORDS else ""


def _drawn_rows(generation: Generation, limit: int) -> list[int]:
    """Return rows in an order that their ids decide, without their paths' part, until `limit` have a unique name."""
    table = generation.rows
    eligible = np.flatnonzero(table.labels["kind"].where(_NAMED_KINDS.__contains__) & (table.numbers["part"] == 0))
    draw = table.ids[eligible, 8:].copy().view(">u8")[:, 0]
    drawn: list[int] = []
    for row in eligible[np.argsort(draw, kind="stable")].tolist():
        if len(drawn) == limit:
            break
        if _unique(generation, row, table.string("name", row)):
            drawn.append(row)
    return drawn


def _unique(generation: Generation, row: int, name: str) -> bool:
    hashed = np.uint64(term_hash(normalise(name).casefold()))
    start, end = (int(np.searchsorted(generation.names, hashed, side=side)) for side in ("left", "right"))
    return bool(name) and set(generation.name_rows[start:end].tolist()) == {row}


def _docs(store: ArtifactStore, generation: Generation, wanted: set[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for ref in generation.document.buckets(CHUNKS.name):
        table = store.open(ref).table("chunks.parquet", columns=["chunk_id", "doc"])
        for chunk, doc in zip(table["chunk_id"].to_pylist(), table["doc"].to_pylist(), strict=True):
            if chunk.hex() in wanted:
                found[chunk.hex()] = doc
    return found
