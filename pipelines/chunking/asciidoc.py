"""Headings of AsciiDoc: `== Title`, or a title with a line of signs under it; never inside delimited blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipelines.chunking.sections import Heading

_MARKED = re.compile(r"(={1,6}|#{1,6})[ \t]+(?=\S)")
_UNDERLINE_LEVELS = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_UNDERLINE = re.compile(r"([=\-~^+])\1+$")
#: So many characters an underline may be longer or shorter than its title; else it begins a block.
_UNDERLINE_SLACK = 1
#: The line that begins a block, and ends it: listing, literal, example, sidebar, quote, passthrough, comment, table.
_BLOCK = re.compile(r"(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|[|,:!]={3,})$")
_FENCE = "```"
#: An anchor or attribute list, which belongs to what follows.
_ATTRIBUTES = re.compile(r"\[.*\]$")
#: What a line is that, above an underline, is no title: a block title, a list item, an attribute, a macro of its own.
_NO_TITLE = re.compile(r"\s|[.\[|]|[*\-]+\s|:[^:]+:|//|\w+::")
_WORD = re.compile(r"\w")


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the headings."""
    closing = ""
    done = 0
    for place, line in enumerate(lines):
        if place < done:
            continue
        if closing:
            closing = "" if line == closing else closing
        elif level := _underlined(lines, place, done):
            first, done = _with_attributes(lines, place, done), place + 2
            yield Heading(first, done, level, line)
        elif marked := _MARKED.match(line):
            first, done = _with_attributes(lines, place, done), place + 1
            yield Heading(first, done, len(marked[1]), line[marked.end() :].strip())
        elif _BLOCK.match(line):
            closing = line
        elif line.startswith(_FENCE):
            closing = _FENCE


def _underlined(lines: Sequence[str], place: int, done: int) -> int:
    """Return the level that the line below gives to a line, 0 if it is no title."""
    title = lines[place]
    underline = _UNDERLINE.match(lines[place + 1]) if place + 1 < len(lines) else None
    if not underline or abs(len(underline[0]) - len(title)) > _UNDERLINE_SLACK:
        return 0
    above = lines[place - 1] if place > done else ""
    if not _WORD.search(title) or _NO_TITLE.match(title) or (above and not _ATTRIBUTES.match(above)):
        return 0
    return _UNDERLINE_LEVELS[underline[1]]


def _with_attributes(lines: Sequence[str], place: int, done: int) -> int:
    while place > done and _ATTRIBUTES.match(lines[place - 1]):
        place -= 1
    return place
