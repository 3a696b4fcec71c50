"""Lines of styled text: what every human rendering is made of. Plain for a pipe, coloured by rich on a terminal.

A line is a sequence of (text, style) pairs, a style being rich's ("bold", "dim", "bold red") or "". Whatever it holds
stays on it. Nothing is wrapped or cut to a width: a path that was cut could not be clicked or grepped.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from pipelines.serving.cli.streams import one_line

Segment = tuple[str, str]
Line = Sequence[Segment]
#: Between two columns of a table.
_GAP = "  "
#: An empty cell does not make a column of numbers one of words; an id that starts with a digit does.
_NUMBER = re.compile(r"(-?\d+(\.\d+)?)?")


def line(*parts: str | Segment) -> Line:
    """Make a line of plain strings and (text, style) pairs; a line of source, made by hand, keeps its tabs."""
    pairs = (part if isinstance(part, tuple) else (part, "") for part in parts)
    return [(one_line(text), style) for text, style in pairs]


def table(rows: Iterable[Sequence[str]], *, header: Sequence[str] = (), indent: str = "") -> Iterator[Line]:
    """Yield the rows as aligned columns; a column of which every cell is a number stands to the right."""
    body = [[one_line(cell) for cell in row] for row in rows]
    grid = [list(header), *body] if header else body
    if not body:
        return
    widths = [max(_width(cell) for cell in column) for column in zip(*grid, strict=True)]
    numeric = [all(_is_number(cell) for cell in column) for column in zip(*body, strict=True)]
    for number, row in enumerate(grid):
        style = "bold" if header and number == 0 else ""
        cells = [_pad(cell, widths[place], numeric[place]) for place, cell in enumerate(row)]
        yield line(indent, (_GAP.join(cells).rstrip(), style))


def plain(lines: Iterable[Line]) -> str:
    """Return the lines as text without colours."""
    return "".join("".join(_kept(text) for text, _ in parts) + "\n" for parts in lines)


def coloured(lines: Iterable[Line]) -> str:
    """Return the lines with the colours that rich finds fit for the terminal; it honours NO_COLOR and TERM."""
    from rich.console import Console  # not at the top: a pipe or --json never pays for it
    from rich.text import Text

    buffer = io.StringIO()
    console = Console(file=buffer, force_terminal=True, highlight=False, markup=False, emoji=False)
    for parts in lines:
        console.print(Text.assemble(*((_kept(text), style) for text, style in parts)), soft_wrap=True)
    return buffer.getvalue()


def _kept(text: str) -> str:
    """Return text that stays on its line, with its tabs."""
    return "\t".join(map(one_line, text.split("\t")))


def _width(text: str) -> int:
    """Return the cells that a text takes in a terminal: East Asian letters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def _pad(cell: str, width: int, right: bool) -> str:
    space = " " * (width - _width(cell))
    return space + cell if right else cell + space


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None
