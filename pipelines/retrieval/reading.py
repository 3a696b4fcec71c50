"""One chunk, found again by its id: what a hit leads to. In: a generation, a chunk id. Out: its text and its places.

Everything comes from the generation itself, so what is read is what was searched, whatever has become of the file.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.retrieval.expansion import Expansion, expand
from pipelines.retrieval.generation import Generation
from pipelines.retrieval.positions import file_lines

#: Ids of the chunks of one file begin with the same bytes, so they stand together.
_FILE_PREFIX_BYTES = 4
#: Other chunks of a file that are named with one of them: those nearest to it.
MAX_SIBLINGS = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A chunk without its text."""

    chunk_id: str
    repo: str
    path: str
    start_line: int
    end_line: int
    language: str
    kind: str
    symbol: str
    scope: str


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the index holds it.

    `lines_in_order` tells that line n of the text is line start_line + n of the file; else inner definitions, which are
    chunks of their own, are shown by one line each. `lines` has the line of the file for every line of the text.
    `siblings` are chunks of the same file in the order of their lines.
    """

    place: Place
    text: str
    lines_in_order: bool
    lines: tuple[int, ...]
    siblings: tuple[Place, ...]
    omitted_siblings: int


class ChunkReader:
    """Reads the chunks of one generation by their ids."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation

    def read(self, chunk_id: str) -> StoredChunk | None:
        """Return the chunk of an id, None if the generation has none of it."""
        generation = self._generation
        row = _row_of(generation, chunk_id)
        if row is None:
            return None
        place, text = _place(generation, row), generation.rows.text(row)
        others = sorted(_rows_of_file(generation, row), key=lambda other: (_lines(generation, other), other))
        centre = others.index(row)
        first = max(0, min(centre - MAX_SIBLINGS // 2, len(others) - MAX_SIBLINGS))
        shown = others[first : first + MAX_SIBLINGS]
        return StoredChunk(
            place,
            text,
            text.count("\n") == place.end_line - place.start_line,
            tuple(file_lines(generation, row, text.split("\n"))),
            tuple(_place(generation, other) for other in shown),
            len(others) - len(shown),
        )

    def related(self, chunk_id: str, mode: str, depth: int) -> Expansion | None:
        """Return what stands around a chunk in the call graph, None if the generation has no such chunk.

        :param mode: "neighbors" or "blast"; :param depth: how many calls away.
        """
        row = _row_of(self._generation, chunk_id)
        return None if row is None else expand([(self._generation, row)], mode, depth)


def _row_of(generation: Generation, chunk_id: str) -> int | None:
    try:
        wanted = bytes.fromhex(chunk_id)
    except ValueError:
        return None
    ids = generation.rows.ids
    row = bisect_left(range(generation.count), wanted, key=lambda place: ids[place].tobytes())
    return row if row < generation.count and ids[row].tobytes() == wanted else None


def _rows_of_file(generation: Generation, row: int) -> Iterator[int]:
    ids, paths = generation.rows.ids, generation.rows.labels["path"].codes
    prefix = ids[row, :_FILE_PREFIX_BYTES].tobytes()
    first = bisect_left(range(row), prefix, key=lambda place: ids[place, :_FILE_PREFIX_BYTES].tobytes())
    for other in range(first, generation.count):
        if ids[other, :_FILE_PREFIX_BYTES].tobytes() != prefix:
            return
        if paths[other] == paths[row]:  # two paths may share the bytes
            yield other


def _lines(generation: Generation, row: int) -> tuple[int, int]:
    numbers = generation.rows.numbers
    return int(numbers["start_line"][row]), int(numbers["end_line"][row])


def _place(generation: Generation, row: int) -> Place:
    table = generation.rows
    start, end = _lines(generation, row)
    return Place(
        chunk_id=table.ids[row].tobytes().hex(),
        repo=generation.repo,
        path=table.labels["path"][row],
        start_line=start,
        end_line=end,
        language=table.labels["language"][row],
        kind=table.labels["kind"][row],
        symbol=table.string("qualified_name", row),
        scope=table.labels["scope"][row],
    )
