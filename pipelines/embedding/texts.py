"""The texts of a bucket that are embedded, each distinct one once. In: the chunks table. Out: BucketTexts.

Texts stay in Arrow columns, one byte for each letter; only their keys pass through Python.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.embedding.composition import COMPOSED_FROM, compose_rows
from pipelines.embedding.cores import on_cores
from pipelines.embedding.recipe import embed_key
from pipelines.roles import has_meaning
from pipelines.word_columns import TEXT

_PLACE = ("path", "start_line", "end_line")
_ROLE = ("kind", "language")
#: Columns of the chunks table that are read.
COLUMNS = tuple(dict.fromkeys((*COMPOSED_FROM, *_PLACE, *_ROLE)))
#: Rows composed at one time: enough to cut a word that they share only once, few enough to stay in the cache.
_BLOCK_ROWS = 4_096
_KEY_BYTES = 16
BLANK_KEY = embed_key(b"")


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


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows of a bucket, composed."""

    texts: pa.LargeStringArray
    keys: list[bytes]
    lexical_only: list[bool]


def compose_bucket(chunks: pa.Table) -> BucketTexts:
    """Compose the text of every chunk and tell which are equal.

    :param chunks: a chunks table with COLUMNS.
    """
    slots: dict[bytes, int] = {}
    of_row = np.empty(chunks.num_rows, np.intp)
    lexical_only = np.zeros(chunks.num_rows, bool)
    first_row: list[int] = []
    parts: list[pa.Array] = []
    start = 0
    for block in on_cores(_compose, chunks.to_batches(max_chunksize=_BLOCK_ROWS)):
        before = len(first_row)
        for row, key in enumerate(block.keys, start):
            slot = slots.setdefault(key, len(first_row))
            if slot == len(first_row):
                first_row.append(row)
            of_row[row] = slot
        lexical_only[start : start + len(block.keys)] = block.lexical_only
        parts.append(block.texts.take(pa.array(np.array(first_row[before:], np.int64) - start)))
        start += len(block.keys)
    keys = np.frombuffer(b"".join(slots), np.uint8).reshape(-1, _KEY_BYTES)
    texts = pa.chunked_array(parts, TEXT)
    return BucketTexts(keys, of_row, lexical_only, texts, np.array(first_row, np.intp), chunks.select(_PLACE))


def _compose(chunks: pa.RecordBatch) -> _Block:
    roles = zip(*(chunks[name].to_pylist() for name in _ROLE), strict=True)
    lexical_only = [not has_meaning(kind, language) for kind, language in roles]
    texts = pc.if_else(pa.array(lexical_only, pa.bool_()), pa.scalar("", TEXT), compose_rows(chunks))
    return _Block(texts, [embed_key(text) for text in texts.cast(pa.large_binary()).to_pylist()], lexical_only)
