"""Jacobi steps over the mixing matrix, a few columns at a time. In: vectors, weights. Out: mixed rows of unit length.

    x(t+1) = (1 - alpha) x(t) + alpha W x(t),   for rows that have neighbours; all others stay as they are

Columns do not meet before the last step, so each block of columns runs through all iterations alone. The mixed blocks
go to disk, since their length over all columns is known only when the last one is done.

Rows that move stand before those that only give, so a step is one sparse product and two passes over the moving rows,
in place: about what the bare product costs (tests/bench/diffusion.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pipelines.settings import DiffusionSettings

#: Bytes of float32 that one block of columns may have. A step holds two of them.
BLOCK_BYTES = 256 << 20
#: More threads only wait for memory.
_MOST_THREADS = 8
#: Values of float16 in a cache line.
_LINE = 32
#: Reads the values of ascending rows, from a first column on, into a (len(rows), columns) array.
Reader = Callable[[npt.NDArray[np.int64], int, npt.NDArray[np.float32]], None]


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
    block_bytes: int = BLOCK_BYTES,
) -> Mixed:
    """Mix the vectors of all rows that have neighbours.

    :param weights: (N, N) from mixing_matrix. :param read: gives the values of rows and columns.
    :param scratch: a folder for the blocks; as large as the mixed rows in float32.
    """
    moving, giving = _involved(weights)
    shares = _shares(weights, moving, giving, settings.alpha)
    width = block_width(shares.shape[1], dimensions, block_bytes)
    squares = np.zeros(len(moving), np.float64)
    blocks: list[npt.NDArray[np.float32]] = []
    buffer = np.empty(shares.shape[1] * width, np.float32)  # of every block: fresh memory would be zeroed each time
    with _Team(shares) as team:
        for first in range(0, dimensions, width):
            columns = min(width, dimensions - first)
            values = buffer[: shares.shape[1] * columns].reshape(-1, columns)
            mixed = values[: len(moving)]
            team.read(read, moving, first, mixed)
            read(giving, first, values[len(moving) :])
            for _ in range(settings.iterations):
                team.step(values, mixed, np.float32(1 - settings.alpha))
            squares += np.einsum("ij,ij->i", mixed, mixed)
            path = scratch / f"columns-{first}.npy"
            np.save(path, mixed, allow_pickle=False)
            blocks.append(np.load(path, mmap_mode="r" if len(moving) else None, allow_pickle=False))
    return Mixed(moving, tuple(blocks), np.sqrt(squares))


class _Team:
    """One thread for each core, each with its own span of the moving rows; who takes which row changes no byte."""

    def __init__(self, shares: sp.csr_array) -> None:
        cores = min(_MOST_THREADS, len(os.sched_getaffinity(0)))
        cuts = np.linspace(0, shares.shape[0], cores + 1).astype(int).tolist()
        self._spans = [slice(start, end) for start, end in pairwise(cuts)]
        self._shares = [_of_rows(shares, span) for span in self._spans]
        self._pool = ThreadPoolExecutor(cores)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._pool.shutdown()

    def read(self, read: Reader, rows: npt.NDArray[np.int64], first: int, out: npt.NDArray[np.float32]) -> None:
        """Read the values of the moving rows."""
        list(self._pool.map(lambda span: read(rows[span], first, out[span]), self._spans))

    def step(self, values: npt.NDArray[np.float32], mixed: npt.NDArray[np.float32], keep: np.float32) -> None:
        """Make one Jacobi step; `mixed` is the part of `values` that moves."""

        def add(span: slice, gained: npt.NDArray[np.float32]) -> None:
            mixed[span] *= keep
            mixed[span] += gained

        gained = list(self._pool.map(lambda part: part @ values, self._shares))  # all, before any row changes
        list(self._pool.map(add, self._spans, gained))


def _of_rows(shares: sp.csr_array, span: slice) -> sp.csr_array:
    """Return a span of rows that shares its memory with the whole."""
    starts = shares.indptr[span.start : span.stop + 1]
    parts = (shares.data[starts[0] : starts[-1]], shares.indices[starts[0] : starts[-1]], starts - starts[0])
    return sp.csr_array(parts, shape=(span.stop - span.start, shares.shape[1]), copy=False)


def block_width(rows: int, dimensions: int, block_bytes: int = BLOCK_BYTES) -> int:
    """Return the columns of a block: as many as fit, in whole cache lines of the stored float16 where that can be."""
    fitting = max(1, min(dimensions, block_bytes // max(1, 4 * rows)))
    return fitting - fitting % _LINE if fitting > _LINE else fitting


def _involved(weights: sp.csr_array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the rows that have neighbours, and those that are only neighbours, each ascending."""
    moves = np.diff(weights.indptr) > 0
    gives = np.zeros(len(moves), np.bool_)
    gives[weights.indices] = True
    return np.flatnonzero(moves), np.flatnonzero(gives & ~moves)


def _shares(
    weights: sp.csr_array, moving: npt.NDArray[np.int64], giving: npt.NDArray[np.int64], alpha: float
) -> sp.csr_array:
    """Return alpha W of the moving rows, columns numbered by their place in (moving, giving)."""
    place = np.zeros(weights.shape[0], weights.indices.dtype)
    place[moving] = np.arange(len(moving))
    place[giving] = np.arange(len(moving), len(moving) + len(giving))
    starts = np.append(weights.indptr[moving], weights.indptr[-1])  # rows that do not move are empty
    shape = (len(moving), len(moving) + len(giving))
    return sp.csr_array((weights.data * np.float32(alpha), place[weights.indices], starts), shape=shape)
