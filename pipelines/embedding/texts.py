"""The texts of a bucket that are embedded, each distinct one once. In: the chunks table. Out: BucketTexts.

Chunks pass through Python in batches; what is kept of their texts stands in Arrow buffers, one byte for each letter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.embedding.recipe import compose, embed_key
from pipelines.roles import has_meaning

_COMPOSED_FROM = ("name", "qualified_name", "path", "signature", "doc", "text")
_PLACE = ("path", "start_line", "end_line")
_ROLE = ("kind", "language")
#: Columns of the chunks table that are read.
COLUMNS = tuple(dict.fromkeys((*_COMPOSED_FROM, *_PLACE, *_ROLE)))
#: Rows that are Python objects at one time.
_BATCH_ROWS = 512
_KEY_BYTES = 16
BLANK_KEY = embed_key("")


@dataclass(frozen=True, slots=True)
class BucketTexts:
    """The N chunks of a bucket and their K distinct texts, in order of first appearance."""

    keys: npt.NDArray[np.uint8]  # (K, 16)
    of_row: npt.NDArray[np.intp]  # (N): the distinct text of each chunk
    lexical_only: npt.NDArray[np.bool_]  # (N): whether a chunk is found by its words alone, so its text is blank here
    _texts: pa.ChunkedArray  # (K)
    _first_row: npt.NDArray[np.intp]  # (K)
    _places: pa.Table  # (N): path and lines

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def blank(self) -> npt.NDArray[np.bool_]:
        """Return (K,): whether a text holds no word."""
        blank: npt.NDArray[np.bool_] = (self.keys == np.frombuffer(BLANK_KEY, np.uint8)).all(axis=1)
        return blank

    def take(self, indices: npt.NDArray[np.intp]) -> list[str]:
        """Return some of the distinct texts."""
        texts: list[str] = self._texts.take(pa.array(indices)).to_pylist()
        return texts

    def place(self, index: int) -> str:
        """Name the first chunk of a distinct text: its path and lines."""
        row = {name: self._places[name][int(self._first_row[index])].as_py() for name in _PLACE}
        return f"{row['path']}:{row['start_line']}-{row['end_line']}"


def compose_bucket(chunks: pa.Table) -> BucketTexts:
    """Compose the text of every chunk and tell which are equal.

    :param chunks: a chunks table with COLUMNS.
    """
    slots: dict[bytes, int] = {}
    of_row = np.empty(chunks.num_rows, np.intp)
    lexical_only = np.zeros(chunks.num_rows, bool)
    first_row: list[int] = []
    parts: list[pa.Array] = []
    row = 0
    for batch in chunks.to_batches(max_chunksize=_BATCH_ROWS):
        fresh: list[str] = []
        for text, meant in zip(_composed(batch), _meant(batch), strict=True):
            if not meant:
                text, lexical_only[row] = "", True
            slot = slots.setdefault(embed_key(text), len(first_row))
            if slot == len(first_row):
                first_row.append(row)
                fresh.append(text)
            of_row[row] = slot
            row += 1
        parts.append(pa.array(fresh, pa.large_string()))
    keys = np.frombuffer(b"".join(slots), np.uint8).reshape(-1, _KEY_BYTES)
    texts = pa.chunked_array(parts, pa.large_string())
    return BucketTexts(keys, of_row, lexical_only, texts, np.array(first_row, np.intp), chunks.select(_PLACE))


def _composed(batch: pa.RecordBatch) -> Iterable[str]:
    return map(compose, *(batch.column(name).to_pylist() for name in _COMPOSED_FROM))


def _meant(batch: pa.RecordBatch) -> Iterable[bool]:
    return map(has_meaning, *(batch.column(name).to_pylist() for name in _ROLE))
