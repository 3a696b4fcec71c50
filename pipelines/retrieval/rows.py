"""Row metadata of one generation as views into the mapped file. In: rows.arrow, texts.arrow. Out: arrays and lookups.

Nothing is decoded up front: a label is read through its code, a string when its row is asked for. Opening therefore
costs the same for a hundred rows and for two million.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.formats import BLOOM_BYTES, ID, ROWS_TABLE

#: Dictionary-coded columns: few distinct values, which filters are matched against.
LABELS = ("path", "language", "scope", "kind")
_STRINGS = ("name", "qualified_name", "signature")
_NUMBERS = ("part", "start_line", "end_line", "node", "pagerank_rank", "blast_rank")

#: Rows from which on their strings are taken together: one by one each takes a microsecond and a half.
_TAKEN_FROM_ROWS = 16

Rows = npt.NDArray[np.int64]


class Labels:
    """A dictionary-coded column: `codes` (N) into the distinct values."""

    def __init__(self, array: Any) -> None:
        self.codes: npt.NDArray[np.int32] = array.indices.to_numpy(zero_copy_only=True)
        self._values = array.dictionary
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
            text = self._decoded[code] = self._values[code].as_py()
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
        self._strings = {name: columns[name] for name in _STRINGS}
        self._tests = columns["is_test"]
        self.texts = _single(texts, "text")

    def strings(self, column: str, rows: Iterable[int]) -> list[str]:
        """Return the values of a string column for some rows."""
        wanted = list(rows)
        array = self._strings[column]
        if len(wanted) < _TAKEN_FROM_ROWS:
            return [array[row].as_py() for row in wanted]
        found: list[str] = array.take(pa.array(wanted, pa.int64())).to_pylist()
        return found

    def text(self, row: int) -> str:
        """Return the text of a chunk."""
        text: str = self.texts[row].as_py()
        return text

    def text_bytes(self, rows: Rows) -> npt.NDArray[np.int64]:
        """Return the length of the text of each row, in bytes, without reading it."""
        offsets = self._text_offsets()
        return offsets[rows + 1] - offsets[rows]

    def holding(self, rows: Iterable[int], needle: str) -> Iterator[int]:
        """Yield those of the rows whose text has the needle as it is written; nothing is decoded."""
        offsets, wanted = self._text_offsets(), needle.encode()
        data = memoryview(self.texts.buffers()[2] or b"")
        for row in rows:
            if wanted in bytes(data[offsets[row] : offsets[row + 1]]):
                yield row

    def _text_offsets(self) -> npt.NDArray[np.int64]:
        if not len(self.texts):
            return np.zeros(1, np.int64)
        return np.frombuffer(self.texts.buffers()[1], np.int64)[self.texts.offset :]

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
