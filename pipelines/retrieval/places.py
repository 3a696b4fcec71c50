"""A place in a file that a query names, as the frame of a stack trace does: src/cart.c:12. In: text. Out: rows.

Which folders stand before a path depends on where a program was built or run, so a path and what is indexed fit where
one is the end of the other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.filters import Mask
from pipelines.retrieval.generation import Generation
from pipelines.retrieval.positions import file_lines

#: Places of a pasted trace that are looked for: the first of them may be outside of what is indexed.
_MAX_PLACES = 8
#: A path with an extension and a line, as compilers and runtimes write them: `a.c:12`, `a.c(12,3):`, `"a.py", line 12`.
_PATH = r"(?<![\w./\\-])([\w./\\@+~:-]{0,240}[\w+-]\.[A-Za-z]\w{0,9})"
_PLACE = re.compile(_PATH + r'(?::|", line |\((?=\d+(?:,\d+)?\):))(\d{1,7})(?!\w)')


class NamedPlace(NamedTuple):
    """A path as it is given, with `/`, and a line, from 1."""

    path: str
    line: int

    def common_parts(self, path: str) -> int:
        """Return how many parts of a path the given one ends with, or the other way round; 0 if they differ."""
        given, held = ([part for part in item.split("/") if part not in ("", ".")] for item in (self.path, path))
        count = min(len(given), len(held))
        return count if given[len(given) - count :] == held[len(held) - count :] else 0


def places_of(text: str) -> tuple[NamedPlace, ...]:
    """Return the places that a text names, in its order."""
    found = (NamedPlace(path.replace("\\", "/"), int(line)) for path, line in _PLACE.findall(text))
    return tuple(dict.fromkeys(place for place in found if place.line))[:_MAX_PLACES]


def rows_at(corpus: Corpus, masks: Sequence[Mask], places: Sequence[NamedPlace]) -> list[int]:
    """Return the smallest rows that hold the first of the places that is in the index, one of each file that fits."""
    for place in places:
        held = [
            (common, base + row)
            for base, generation, mask in zip(corpus.bases.tolist(), corpus.generations, masks, strict=False)
            for common, row in _rows_of(generation, mask, place)
        ]
        if held:
            most = max(common for common, _ in held)
            return [row for common, row in held if common == most]
    return []


def line_at(generation: Generation, row: int, lines: Sequence[str], places: Sequence[NamedPlace]) -> int | None:
    """Return the line of a row's text, from 0, that the first of the places in it names; None if there is none."""
    table = generation.rows
    path, first, last = table.labels["path"][row], table.numbers["start_line"][row], table.numbers["end_line"][row]
    wanted = next((place.line for place in places if first <= place.line <= last and place.common_parts(path)), None)
    if wanted is None:
        return None
    return min(bisect_left(file_lines(generation, row, lines), wanted), len(lines) - 1)


def _rows_of(generation: Generation, mask: Mask, place: NamedPlace) -> list[tuple[int, int]]:
    """Return the smallest row of each file that fits, with how many parts of its path do."""
    import pyarrow.compute as pc  # here: most queries name no place

    labels, numbers = generation.rows.labels["path"], generation.rows.numbers
    ending = pc.ends_with(labels.distinct, place.path.rpartition("/")[2])
    found = []
    for code in np.flatnonzero(ending.to_numpy(zero_copy_only=False)).tolist():
        common = place.common_parts(labels.value(code))
        rows = np.flatnonzero(labels.codes == code) if common else np.zeros(0, np.int64)
        starts, ends = numbers["start_line"][rows], numbers["end_line"][rows]
        held = (starts <= place.line) & (place.line <= ends)
        if mask is not None:
            held &= mask[rows]
        rows, sizes = rows[held], (ends - starts)[held]
        if len(rows):
            found.append((common, int(rows[np.argmin(sizes)])))
    return found
