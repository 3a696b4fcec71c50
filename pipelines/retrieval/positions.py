"""Where a line of a chunk's text stands in its file. In: a row, a line of its text. Out: the line of the file.

The text of a definition shows what is nested in it as one line each, so the lines below such a line stand further down
in the file than in the text. The rows of one file lie side by side, since an id begins with the hash of the path.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipelines.retrieval.generation import Generation

#: What the line that stands for a nested definition ends with.
_STUB_END = " ..."
#: Rows of one file on either side that are looked at.
_MAX_ROWS = 4_096


def file_line(generation: Generation, row: int, lines: Sequence[str], line: int) -> int:
    """Return the line of the file, from 1, for a line of a row's text, from 0.

    :param lines: those of the text, up to the line at least.
    """
    if any(text.endswith(_STUB_END) for text in lines[:line]):
        return file_lines(generation, row, lines[: line + 1])[-1]
    first, last = _span(generation, row)
    return min(first + line, last)


def file_lines(generation: Generation, row: int, lines: Sequence[str]) -> list[int]:
    """Return the line of the file, from 1, for every line of a row's text from its first."""
    position, last = _span(generation, row)
    nested, found = iter(_nested(generation, row, position, last)), []
    for text in lines:
        found.append(min(position, last))
        if text.endswith(_STUB_END):
            position = next((end for start, end in nested if start >= position), position)
        position += 1
    return found


def _span(generation: Generation, row: int) -> tuple[int, int]:
    numbers = generation.rows.numbers
    return int(numbers["start_line"][row]), int(numbers["end_line"][row])


def _nested(generation: Generation, row: int, first: int, last: int) -> list[tuple[int, int]]:
    """Return the first and last lines of the definitions inside a row's span, in order, all parts of one together."""
    table = generation.rows
    low, high = max(0, row - _MAX_ROWS), min(generation.count, row + _MAX_ROWS)
    same = np.flatnonzero(table.labels["path"].codes[low:high] == table.labels["path"].codes[row]) + low
    found: dict[int, tuple[int, int]] = {}
    for other in same.tolist():
        node, start, end = (int(table.numbers[name][other]) for name in ("node", "start_line", "end_line"))
        if node >= 0 and node != table.numbers["node"][row] and first <= start and end <= last:
            before = found.get(node, (start, end))
            found[node] = min(start, before[0]), max(end, before[1])
    return sorted(found.values())
