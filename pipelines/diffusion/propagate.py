"""Jacobi steps over the mixing matrix, a few columns at a time. In: vectors, weights. Out: mixed rows of unit length.

    x(t+1) = (1 - alpha) x(t) + alpha W x(t),   for rows that have neighbours; all others stay as they are

Columns do not meet before the last step, so each block of columns runs through all iterations alone. The mixed blocks
go to disk, since their length over all columns is known only when the last one is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pipelines.settings import DiffusionSettings

#: Bytes of float32 that one block of columns may have; a step holds three of them.
_BLOCK_BYTES = 192 << 20
#: Reads float32 values: (rows, first column, end column) to (len(rows), columns).
Reader = Callable[[npt.NDArray[np.int64], int, int], npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Mixed:
    """Mixed values of the rows that have neighbours, in column blocks on disk, and their length."""

    rows: npt.NDArray[np.int64]  # ascending
    blocks: tuple[npt.NDArray[np.float32], ...]
    lengths: npt.NDArray[np.float64]

    def unit_rows(self, start: int, end: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Return the mixed rows with numbers from `start` to `end`, and their vectors scaled to length 1.

        A row whose neighbours cancel it out has no direction; it is left out, and so keeps its vector.
        """
        low, high = np.searchsorted(self.rows, (start, end))
        lengths = self.lengths[low:high]
        mixed = np.concatenate([block[low:high] for block in self.blocks], axis=1)
        some = lengths > 0
        return self.rows[low:high][some], (mixed[some] / lengths[some, None]).astype(np.float32)


def propagate(
    weights: sp.csr_array,
    read: Reader,
    dimensions: int,
    settings: DiffusionSettings,
    scratch: Path,
    *,
    block_bytes: int = _BLOCK_BYTES,
) -> Mixed:
    """Mix the vectors of all rows that have neighbours.

    :param weights: (N, N) from mixing_matrix. :param read: gives the values of rows and columns.
    :param scratch: a folder for the blocks; as large as the mixed rows in float32.
    """
    has_neighbours = np.diff(weights.indptr) > 0
    involved = has_neighbours.copy()
    involved[weights.indices] = True
    rows = np.flatnonzero(involved)
    local = weights[rows][:, rows]
    moving = np.flatnonzero(has_neighbours[rows])
    local = local[moving]
    columns = max(1, min(dimensions, block_bytes // max(1, 4 * len(rows))))
    squares = np.zeros(len(moving), np.float64)
    blocks: list[npt.NDArray[np.float32]] = []
    for first in range(0, dimensions, columns):
        values = read(rows, first, min(first + columns, dimensions))
        for _ in range(settings.iterations):
            values[moving] = (1 - settings.alpha) * values[moving] + settings.alpha * (local @ values)
        mixed = values[moving]
        squares += np.einsum("ij,ij->i", mixed, mixed, dtype=np.float64)
        path = scratch / f"columns-{first}.npy"
        np.save(path, mixed, allow_pickle=False)
        blocks.append(np.load(path, mmap_mode="r" if mixed.size else None, allow_pickle=False))
    return Mixed(rows[moving], tuple(blocks), np.sqrt(squares))
