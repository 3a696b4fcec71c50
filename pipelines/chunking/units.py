"""A unit is one idea of a file: a definition, what stands between definitions, a section. It has one or more parts.

In: a unit as segments of the source. Out: parts no longer than the cap, each with its exact lines. Lines that hold a
secret make a part of their own, so that only they are lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from pipelines.chunking.source import SecretSpans, Source
from pipelines.chunking.splitting import pack, split_lines
from pipelines.decode import reader_text
from pipelines.records import ChunkKind

_WORD = re.compile(r"\w")


class Segment(NamedTuple):
    """A span of the source; with a `stub`, that line stands for it, and its own text is shown by another unit."""

    start: int
    end: int
    stub: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit. `anchor` and `ordinal` are what its ids are made of; they hold neither lines nor text."""

    kind: ChunkKind
    name: str
    qualified_name: str
    anchor: str
    ordinal: int
    segments: Sequence[Segment]
    symbol_id: bytes | None = None
    signature: str = ""
    doc: str = ""
    is_test: bool = False
    max_lines: int = 0  # most lines in a part; 0 = only the characters count


class Part(NamedTuple):
    """A piece of a unit. A part with `detectors` holds a secret and must not be stored."""

    number: int
    text: str  # as a reader sees it; "" for a blank part
    start: int
    end: int
    detectors: Sequence[str]


class _Row(NamedTuple):
    text: str
    start: int
    end: int
    detectors: Sequence[str] = ()
    is_stub: bool = False


def parts(unit: Unit, source: Source, secrets: SecretSpans, cap: int) -> Iterator[Part]:
    """Yield the parts of a unit in order, each with at most `cap` characters."""
    whole = _whole(unit, source, secrets, cap)
    if whole is not None:
        yield whole
        return
    number = 0
    for rows in _runs(list(_rows(unit, source, secrets, cap))):
        least = -(-cap // unit.max_lines) if unit.max_lines else 0
        costs = [max(least, len(row.text)) for row in rows]
        for first, last in pack(costs, [not row.text.strip() for row in rows], cap):
            yield _part(number, rows[first:last])
            number += 1


def _whole(unit: Unit, source: Source, secrets: SecretSpans, cap: int) -> Part | None:
    """Return the only part of a plain unit: the usual case, without looking at its lines one by one."""
    if len(unit.segments) != 1 or unit.segments[0].stub or unit.max_lines:
        return None
    start, end, _ = unit.segments[0]
    if secrets.touch(start, end):
        return None
    raw = source.text(start, end)
    if len(raw) > cap:
        return None
    kept = raw.rstrip()
    leading = len(kept) - len(kept.lstrip())
    first = kept.rfind("\n", 0, leading) + 1
    begin = start + len(kept[:first].encode())
    return Part(0, reader_text(kept[first:]), begin, begin + len(kept[first:].encode()), ())


def _rows(unit: Unit, source: Source, secrets: SecretSpans, cap: int) -> Iterator[_Row]:
    for start, end, stub in unit.segments:
        if stub:
            yield _Row(stub, start, end, is_stub=True)
            continue
        for line in split_lines(source.text(start, end), cap):
            stop = start + len(line.encode())
            yield _Row(reader_text(line), start, stop, secrets.detectors(start, stop))
            start = stop


def _runs(rows: list[_Row]) -> Iterator[list[_Row]]:
    """Part the rows with a secret from those without; a run of bare brackets stays with the secret beside it."""
    runs = [(held, list(run)) for held, run in groupby(rows, key=lambda row: bool(row.detectors))]
    if len(runs) == 1:
        yield rows
        return
    marked = [(held or not any(_WORD.search(row.text) for row in run), run) for held, run in runs]
    for _, group in groupby(marked, key=lambda item: item[0]):
        yield [row for _, run in group for row in run]


def _part(number: int, rows: Sequence[_Row]) -> Part:
    filled = [place for place, row in enumerate(rows) if row.text.strip()]
    if not filled:
        return Part(number, "", rows[0].start, rows[-1].end, ())
    shown = rows[filled[0] : filled[-1] + 1]
    text = "".join(row.text for row in shown).rstrip()
    last = shown[-1]
    end = last.end if last.is_stub else last.start + len(last.text.rstrip().encode())
    detectors = {detector for row in shown for detector in row.detectors}
    return Part(number, text, shown[0].start, end, sorted(detectors))
