"""Headings of Markdown and MDX: ATX and setext; `#` inside code fences, comments and front matter is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipelines.chunking.sections import Heading

_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
#: A line that, standing alone above a row of dashes, is no heading: list, quote, table, indented code, HTML.
_NO_TITLE = re.compile(r"(?: {4}|\t| {0,3}(?:[-+*]\s|[>|<]|\d+[.)]\s))")
#: HTML comments, and those of MDX.
_COMMENTS = (("<!--", "-->", re.compile(r".*-->")), ("{/*", "*/}", re.compile(r".*\*/\}")))
_MATTER_ENDS = {"---": re.compile(r"(?:---|\.\.\.)\s*$"), "+++": re.compile(r"\+\+\+\s*$")}


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the headings; level 0 marks the end of the front matter."""
    first = _front_matter(lines)
    if first:
        yield Heading(first, first, 0, "")
    closing: re.Pattern[str] | None = None
    for place in range(first, len(lines)):
        line = lines[place]
        if closing is not None:
            closing = None if closing.match(line) else closing
        elif (closing := _opened(line)) is None:
            if atx := _ATX.match(line):
                yield Heading(place, place + 1, len(atx[1]), _atx_title(line[atx.end() :]))
            elif place > first and _underlines(lines, place, first):
                yield Heading(place - 1, place + 1, 1 if "=" in line else 2, lines[place - 1].strip())


def _atx_title(rest: str) -> str:
    """Return the text of an ATX heading without its closing marks."""
    title = rest.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else title


def _front_matter(lines: Sequence[str]) -> int:
    """Return the number of lines of the front matter, 0 without one."""
    ends = _MATTER_ENDS.get(lines[0]) if lines else None
    if ends is None:
        return 0
    return next((place + 1 for place in range(1, len(lines)) if ends.match(lines[place])), 0)


def _opened(line: str) -> re.Pattern[str] | None:
    """Return what ends the code fence or comment that a line opens, None if it opens none."""
    if fence := _FENCE.match(line):
        return re.compile(rf" {{0,3}}{re.escape(fence[1][0])}{{{len(fence[1])},}}\s*$")
    for opening, mark, closing in _COMMENTS:
        if line.lstrip().startswith(opening) and mark not in line:
            return closing
    return None


def _underlines(lines: Sequence[str], place: int, first: int) -> bool:
    """Tell whether a line makes a heading of the line above: one line of plain text that nothing else runs into."""
    if not _SETEXT.match(lines[place]):
        return False
    title = lines[place - 1]
    if not title.strip() or _NO_TITLE.match(title) or _ATX.match(title) or _SETEXT.match(title):
        return False
    above = lines[place - 2] if place - 1 > first else ""
    return not above.strip() or bool(_ATX.match(above) or _SETEXT.match(above) or _FENCE.match(above))
