"""Units of a file with a grammar: one for each definition, and one for each stretch of code between them.

A definition inside another has a unit of its own and stands in the enclosing one as its signature alone, so no text is
shown twice. Every byte of the file that is not blank is in some unit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.chunking.definitions import Definition, walk
from pipelines.chunking.source import SecretSpans, Source
from pipelines.chunking.units import Segment, Unit
from pipelines.records import ChunkKind

#: Longest line that stands for a nested definition; its whole signature is in its own unit.
_STUB_CHARS = 160
_STUB_END = " ...\n"
_INDENT = re.compile(rb"[ \t]*")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whole lines of a file with code: the file, or a cell of a notebook. `anchor` is what its start is known by."""

    start: int
    end: int
    anchor: str = ""


def code_units(
    source: Source, stretch: Stretch, roots: Sequence[Definition], secrets: SecretSpans, seen: Counter[str]
) -> Iterator[Unit]:
    """Yield the units of a stretch.

    :param roots: its outermost definitions, in order. :param seen: how often each anchor was used in the file so far.
    """
    yield from _module_units(source, stretch, roots, seen)
    for definition in walk(roots):
        yield _definition_unit(source, definition, secrets)


def _module_units(source: Source, stretch: Stretch, roots: Sequence[Definition], seen: Counter[str]) -> Iterator[Unit]:
    """Yield what stands between definitions. The anchor is the definition before: ids survive additions elsewhere."""
    is_test = bool(roots) and all(item.symbol.is_test for item in walk(roots))
    starts = [stretch.start, *(item.high for item in roots)]
    ends = [*(item.low for item in roots), stretch.end]
    anchors = [stretch.anchor, *(item.symbol.qualified_name for item in roots)]
    for start, end, anchor in zip(starts, ends, anchors, strict=True):
        if source.text(start, end).strip():
            segments = (Segment(start, end),)
            yield Unit(ChunkKind.MODULE, "", "", anchor, seen[anchor], segments, is_test=is_test)
            seen[anchor] += 1


def _definition_unit(source: Source, definition: Definition, secrets: SecretSpans) -> Unit:
    symbol = definition.symbol
    segments = tuple(_segments(source, definition, secrets))
    tainted = secrets.touch(definition.reach, definition.start) or any(
        secrets.touch(segment.start, segment.end) for segment in segments if not segment.stub
    )
    return Unit(
        kind=symbol.kind,
        name=symbol.name,
        qualified_name=symbol.qualified_name,
        anchor=symbol.qualified_name,
        ordinal=symbol.ordinal,
        segments=segments,
        symbol_id=symbol.symbol_id,
        signature="" if tainted else symbol.signature,
        doc="" if tainted else symbol.doc,
        is_test=symbol.is_test,
    )


def _segments(source: Source, definition: Definition, secrets: SecretSpans) -> Iterator[Segment]:
    position = definition.low
    for child in definition.children:
        if position < child.low:
            yield Segment(position, child.low)
        yield Segment(child.low, child.high, _stub(source, child, secrets))
        position = child.high
    if position < definition.high:
        yield Segment(position, definition.high)


def _stub(source: Source, child: Definition, secrets: SecretSpans) -> str:
    """Return the line that stands for a nested definition: its signature, or its name if that may show a secret."""
    line = source.line_start(child.start)
    indent = _INDENT.match(source.data, line, child.start)
    shown = child.symbol.name if secrets.touch(child.reach, child.high) else child.symbol.signature
    margin = indent[0].decode() if indent and child.low <= line else ""
    return f"{margin}{shown or child.symbol.name}"[: _STUB_CHARS - len(_STUB_END)] + _STUB_END
