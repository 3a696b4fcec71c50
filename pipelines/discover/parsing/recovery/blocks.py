"""Definitions that a syntax error swallowed. In: text and what was found in it. Out: the blocks that are parsed alone.

The last resort, and a matter of text alone: a block whose closing brace stands in the first column ends a definition
that begins in the first column, in the style of nearly all C. Where a file has errors and the tree has no definition of
exactly that place, the lines are parsed by themselves, so an error costs the definition it stands in and no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pipelines.offsets import Span

_CLOSING = re.compile(rb"\n\}[^\n{]*+")
#: Where a block may begin: a brace in the first column, or at the end of a line.
_OPENING = re.compile(rb"\n(?:\{|[^\S\n]*+[A-Za-z_][^\n;{}]*+\{[ \t]*+\r?$)", re.MULTILINE)
#: Lines that a declaration before its opening brace may have.
_MAX_HEAD_LINES = 24
_ENDS_BEFORE = (b";", b"}", b"*/", b"\\", b">")
#: Blocks of one file that are parsed alone; a file with more lost definitions is no source of that language.
MAX_BLOCKS = 2_000


class Block(NamedTuple):
    """A definition as its lines show it: `opening` and `closing` are the places of its braces."""

    start: int
    opening: int
    closing: int
    end: int


def lost_blocks(data: bytes, found: Iterable[Span]) -> list[Block]:
    """Return the blocks of a file, in order, that no definition of `found` has for its own."""
    blocks = list(_blocks(data))
    spans = sorted(found)
    lost = []
    position = 0
    for block in blocks:
        while position < len(spans) and spans[position][0] < block.start:
            position += 1
        here = position
        while here < len(spans) and spans[here][0] <= block.opening:
            if is_definition_of(block, spans[here]):
                break
            here += 1
        else:
            lost.append(block)
    return lost[:MAX_BLOCKS]


def is_definition_of(block: Block, span: Span) -> bool:
    """Tell whether a definition begins in the head of a block and ends where the block does."""
    return block.start <= span[0] <= block.opening and block.closing < span[1] <= block.end + 1


def _blocks(data: bytes) -> Iterator[Block]:
    # With a line feed before each line, which is found ten times as fast as the start of a line, a line feed stands
    # where its line begins in the data.
    lines = b"\n" + data
    after = 0
    for match in _CLOSING.finditer(lines):
        closing, end = match.start(), match.end() - 1
        opening = _OPENING.search(lines, after, closing + 1)
        if opening is not None:
            line, alone = opening.start(), opening[0] == b"\n{"
            brace = line if alone else data.rindex(b"{", line, opening.end() - 1)
            start = _head(data, after, line, alone)
            if start < brace and data[start : start + 1].isalpha():
                yield Block(start, brace, closing, end)
        after = end


def _head(data: bytes, after: int, line: int, alone: bool) -> int:
    """Return where the declaration begins that ends at a line; `alone` where that line has only the brace."""
    start = line
    for _ in range(_MAX_HEAD_LINES):
        if start <= after + 1:
            break
        above = data.rfind(b"\n", after, start - 1) + 1
        above = max(above, after)
        text = data[above : start - 1].strip()
        parameters = alone and text.endswith(b";") and data[above : above + 1] not in (b"", b"#")
        if not text or text.startswith((b"#", b"/*", b"//", b"}")) or (text.endswith(_ENDS_BEFORE) and not parameters):
            break
        start = above
    return start
