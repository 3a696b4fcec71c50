"""Headings of reStructuredText: a line of text under, or between, lines of one repeated sign.

Which sign stands for which level is the document's own choice: the first one used is the outermost. Text inside
directives and literal blocks is indented, which no heading is, so nothing else has to be understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipelines.chunking.sections import Heading

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*$")
#: A shorter line under a longer text is no underline but text: "...", "::".
_SHORT = 4
#: What a line of text is that, above an underline, is no title: an item of a list, a comment or directive, a field.
_NO_TITLE = re.compile(r"(?:[-*+•‣⁃]|\.\.|:[^:]+:)(?:\s|$)|__\s")
#: What names the section after it.
_LABEL = re.compile(r"\.\. (?:_[^:]*:|index::)")


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the headings."""
    levels: dict[tuple[str, bool], int] = {}
    done = 0
    for place in range(len(lines) - 1):
        title = lines[place].strip()
        if place < done or not title or not _fits(title, lines[place + 1]):
            continue
        over = place - 1 >= done and lines[place - 1] == lines[place + 1] and _is_apart(lines, place - 1, done)
        if over or _is_title(lines, place, done):
            first, done_before, done = place - over, done, place + 2
            level = levels.setdefault((lines[place + 1][0], over), len(levels) + 1)
            yield Heading(_with_labels(lines, first, done_before), done, level, title)


def _fits(title: str, line: str) -> bool:
    """Tell whether a line may stand under a title."""
    return (
        _ADORNMENT.match(line) is not None
        and _ADORNMENT.match(title) is None
        and (len(line) >= len(title) or len(line) >= _SHORT)
    )


def _is_title(lines: Sequence[str], place: int, done: int) -> bool:
    line = lines[place]
    return not line[0].isspace() and not _NO_TITLE.match(line) and _is_apart(lines, place, done)


def _is_apart(lines: Sequence[str], place: int, done: int) -> bool:
    """Tell whether a line begins a paragraph."""
    above = lines[place - 1] if place > done else ""
    return not above or above[0].isspace() or above.startswith("..")


def _with_labels(lines: Sequence[str], place: int, done: int) -> int:
    """Return where the labels above a heading begin, blank lines between them and it included."""
    first = place
    while place > done and (not lines[place - 1] or _LABEL.match(lines[place - 1])):
        place -= 1
        first = place if lines[place] else first
    return first
