"""Which text belongs to which definition. In: the symbols of one file. Out: a tree of definitions with widened spans.

A span is widened by what a reader would move along with the definition: the rest of its first and last line ("export",
";"), the comments that document it, and crumbs of code beside it that are too small to be shown alone. Widened spans
nest and never overlap. A short constant is no definition here: it stays in the text around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pipelines.chunking.source import Source
from pipelines.errors import SourceMoved
from pipelines.offsets import Span
from pipelines.records import ChunkKind

#: So many other characters on a definition's first or last line are part of it; more is code of its own, as in a
#: minified file.
_LINE_REST_CHARS = 120
#: A constant of fewer lines says little without its neighbours; one of more is a table, a text or a set of options.
_CONSTANT_LINES = 3
#: A crumb that says something is more than what closes a block: brackets, or a word of Ruby, Lua and shells.
_WORD = re.compile(r"\b(?!(?:end|fi|done|esac)\b)\w")


@dataclass(frozen=True, slots=True)
class SymbolRow:
    """One row of the symbols table, without the columns that chunking has no use for."""

    symbol_id: bytes
    kind: ChunkKind
    name: str
    qualified_name: str
    ordinal: int
    start: int
    end: int
    top: int  # where the comments that document it begin
    signature: str
    doc: str
    is_test: bool


@dataclass(slots=True, eq=False)
class Definition:
    """A symbol in the tree. `low` to `high` is its widened span, `reach` where the text that may document it begins."""

    symbol: SymbolRow
    start: int
    end: int
    children: list[Definition] = field(default_factory=list)
    low: int = 0
    high: int = 0
    reach: int = 0


def make_tree(
    source: Source, symbols: Iterable[SymbolRow], path: str, min_chars: int, within: Span | None = None
) -> list[Definition]:
    """Return the outermost definitions of a file, in order.

    :param min_chars: code between outermost definitions below this is a crumb.
    :param within: whole lines of the file, to which the symbols belong; all of it if None.
    :raises SourceMoved: if a symbol lies outside the text, which then is not the text that was parsed.
    """
    start, end = within or (0, len(source))
    roots = _nest(source, symbols, path)
    _widen(source, roots, start, end)
    for definition in walk(roots):
        line_end = source.line_end(definition.start)
        _widen(source, definition.children, line_end, definition.end, definition.start)
    _take_crumbs(source, roots, min_chars, start, end)
    return roots


def walk(roots: Iterable[Definition]) -> Iterator[Definition]:
    """Yield every definition, the enclosing one first; nesting may be of any depth."""
    waiting = list(roots)[::-1]
    while waiting:
        definition = waiting.pop()
        yield definition
        waiting += definition.children[::-1]


def _nest(source: Source, symbols: Iterable[SymbolRow], path: str) -> list[Definition]:
    roots: list[Definition] = []
    enclosing: list[Definition] = []
    for symbol in sorted(symbols, key=lambda item: (item.start, -item.end, item.symbol_id)):
        if not 0 <= symbol.start <= symbol.end <= len(source):
            raise SourceMoved(
                f"{path} has {len(source)} bytes, but {symbol.qualified_name} ends at {symbol.end}",
                hint="the file changed while it was read; run again",
            )
        if (
            symbol.kind is ChunkKind.CONSTANT
            and source.line(symbol.end) - source.line(symbol.start) < _CONSTANT_LINES - 1
        ):
            continue
        while enclosing and enclosing[-1].end <= symbol.start:
            enclosing.pop()
        # A symbol that begins inside another is shown inside it, so spans nest whatever a grammar makes of bad code.
        end = min(symbol.end, enclosing[-1].end) if enclosing else symbol.end
        definition = Definition(symbol, symbol.start, end)
        (enclosing[-1].children if enclosing else roots).append(definition)
        enclosing.append(definition)
    return roots


def _widen(source: Source, siblings: list[Definition], floor: int, end: int, reach: int | None = None) -> None:
    """Widen the spans of definitions that stand side by side, between the first line around them and its end."""
    reach = floor if reach is None else reach
    for place, item in enumerate(siblings):
        ceiling = siblings[place + 1].start if place + 1 < len(siblings) else end
        item.reach = reach
        item.low = _low(source, item, floor)
        item.high = _high(source, item, ceiling)
        floor = max(floor, item.high)
        reach = item.high


def _low(source: Source, item: Definition, floor: int) -> int:
    for place in (item.symbol.top, item.start):
        low = max(source.line_start(place), floor)
        if floor <= place <= item.start and len(source.data[low:place].strip()) <= _LINE_REST_CHARS:
            return low
    return item.start


def _high(source: Source, item: Definition, ceiling: int) -> int:
    end = source.line_end(max(item.start, item.end - 1))
    rest = len(source.data[item.end : end].strip())
    return end if end <= ceiling and rest <= _LINE_REST_CHARS else item.end


def _take_crumbs(source: Source, roots: list[Definition], min_chars: int, start: int, end: int) -> None:
    """Give each crumb to the definition beside it: closing brackets to the one before, all else to the one after."""
    position, before = start, None
    for after in (*roots, None):
        low, high = position, after.low if after else end
        if after:
            position = after.high
        text = source.text(low, high).strip()
        if 0 < len(text) < min_chars:
            if before and (after is None or not _WORD.search(text)):
                before.high = high
            elif after:
                after.low = low
        before = after
