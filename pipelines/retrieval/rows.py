"""Row metadata of one generation as views into the mapped file. In: rows.arrow, texts.arrow. Out: arrays and lookups.

Nothing is decoded up front: a label is read through its code, a string when its row is asked for. Opening therefore
costs the same for a hundred rows and for two million.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.formats import BLOOM_BYTES, ID, ROWS_TABLE

#: Dictionary-coded columns: few distinct values, which filters are matched against.
LABELS = ("path", "language", "scope", "kind")
_STRINGS = ("name", "qualified_name", "signature")
_NUMBERS = ("part", "start_line", "end_line", "node", "pagerank_rank", "blast_rank")

Rows = npt.NDArray[np.int64]


class Strings:
    """A column of strings, each decoded when it is asked for, from the bytes where it lies."""

    def __init__(self, array: Any) -> None:
        offsets = np.int64 if pa.types.is_large_string(array.type) else np.int32
        count = len(array)
        buffers = array.buffers()
        self._offsets: npt.NDArray[Any] = np.zeros(1, offsets)
        if count:
            self._offsets = np.frombuffer(buffers[1], offsets)[array.offset : array.offset + count + 1]
        self._data = memoryview(buffers[2] or b"")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, row: int) -> str:
        return str(self._data[self._offsets[row] : self._offsets[row + 1]], "utf-8")

    def take(self, rows: npt.NDArray[np.integer]) -> list[str]:
        """Return the strings of some rows."""
        data, starts, ends = self._data, self._offsets[rows].tolist(), self._offsets[rows + 1].tolist()
        return [str(data[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)]

    def lengths(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
        """Return the lengths of the strings of some rows, in bytes; nothing is read."""
        found: npt.NDArray[np.integer] = self._offsets[rows + 1] - self._offsets[rows]
        return found

    def holds(self, row: int, needle: bytes) -> bool:
        """Tell whether a string has the needle in it; nothing is decoded."""
        return needle in bytes(self._data[self._offsets[row] : self._offsets[row + 1]])

    def count_held(self, row: int, needles: Sequence[bytes]) -> int:
        """Return how many of the needles a string has in it; nothing is decoded."""
        data = bytes(self._data[self._offsets[row] : self._offsets[row + 1]])
        return sum(needle in data for needle in needles)


class Labels:
    """A dictionary-coded column: `codes` (N) into the distinct values."""

    def __init__(self, array: Any) -> None:
        self.codes: npt.NDArray[np.int32] = array.indices.to_numpy(zero_copy_only=True)
        self._values = array.dictionary
        self._strings = Strings(array.dictionary)
        self._decoded: dict[int, str] = {}

    @property
    def distinct(self) -> Any:
        """The distinct values, an Arrow array."""
        return self._values

    def __getitem__(self, row: int) -> str:
        return self.value(int(self.codes[row]))

    def value(self, code: int) -> str:
        """Return one of the distinct values; each is decoded once."""
        text = self._decoded.get(code)
        if text is None:
            text = self._decoded[code] = self._strings[code]
        return text

    def values(self) -> list[str]:
        """Return the distinct values; decodes the whole dictionary, so only filters ask for it."""
        values: list[str] = self._values.to_pylist()
        return values

    def where(self, accepted: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
        """Return the (N,) mask of the rows whose value is accepted; the test runs once per distinct value."""
        values = self.values()
        matching = np.fromiter((accepted(value) for value in values), np.bool_, len(values))
        found: npt.NDArray[np.bool_] = matching[self.codes]
        return found


class RowTable:
    """The columns of rows.arrow and texts.arrow of one generation."""

    def __init__(self, rows: pa.Table, texts: pa.Table) -> None:
        self.count: int = rows.num_rows
        columns = {name: _single(rows, name) for name in ROWS_TABLE.names}
        self.ids = _fixed(columns["chunk_id"], ID.byte_width)
        self.blooms = _fixed(columns["bloom"], BLOOM_BYTES)
        self.labels = {name: Labels(columns[name]) for name in LABELS}
        self.numbers: dict[str, npt.NDArray[Any]] = {
            name: columns[name].to_numpy(zero_copy_only=True) for name in _NUMBERS
        }
        self._strings = {name: Strings(columns[name]) for name in _STRINGS}
        self._tests = columns["is_test"]
        self.texts = Strings(_single(texts, "text"))

    def string(self, column: str, row: int) -> str:
        """Return the value of a string column for a row."""
        return self._strings[column][row]

    def strings(self, column: str, rows: Iterable[int]) -> list[str]:
        """Return the values of a string column for some rows."""
        return self._strings[column].take(np.fromiter(rows, np.int64))

    def text(self, row: int) -> str:
        """Return the text of a chunk."""
        return self.texts[row]

    def text_bytes(self, rows: Rows) -> npt.NDArray[np.integer]:
        """Return the length of the text of each row, in bytes, without reading it."""
        return self.texts.lengths(rows)

    def holding(self, rows: Iterable[int], needle: str) -> Iterator[int]:
        """Yield those of the rows whose text has the needle as it is written; nothing is decoded."""
        wanted = needle.encode()
        return (row for row in rows if self.texts.holds(row, wanted))

    def is_test(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Tell which of the rows are tests; reads single bits, as Arrow packs them."""
        if not len(rows):
            return np.zeros(0, np.bool_)
        places = rows + self._tests.offset
        packed = np.frombuffer(self._tests.buffers()[1], np.uint8)
        found: npt.NDArray[np.bool_] = (packed[places >> 3] >> (places & 7).astype(np.uint8) & 1).astype(np.bool_)
        return found


def _single(table: pa.Table, name: str) -> Any:
    """Return a column as the one array it was written as; a file of no rows has no batch."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _fixed(array: Any, width: int) -> npt.NDArray[np.uint8]:
    if not len(array):
        return np.zeros((0, width), np.uint8)
    data = np.frombuffer(array.buffers()[1], np.uint8)[array.offset * width :]
    return data[: len(array) * width].reshape(len(array), width)
