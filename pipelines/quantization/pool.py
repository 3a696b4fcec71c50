"""Which codes are nearest: an exact scan of all packed codes. In: a memory-mapped code matrix. Out: rows, distances.

No approximate index: at this pool size one is slower than the scan and loses a third of the pool. Ties fall to the
smaller row number, which is the smaller chunk id, so the pool is one set in one order on every machine.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Pool = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]

#: Rows per block of the numpy scan: the differing bits of one block (2 MB at 256 bits) stay in the cache.
_BLOCK_ROWS = 65_536
#: From here on faiss is used. One block is scanned by numpy in a millisecond, which importing faiss takes a hundred of.
_FAISS_FROM_ROWS = _BLOCK_ROWS


def hamming_pool(
    codes: npt.NDArray[np.uint8],
    query_code: npt.NDArray[np.uint8],
    size: int,
    *,
    valid: npt.NDArray[np.bool_] | None = None,
    rows: npt.NDArray[np.int64] | None = None,
) -> Pool:
    """Return the row numbers and Hamming distances (in bits) of the codes nearest to a query, nearest first.

    :param codes: (N, B) packed bits; a memory map is scanned in place.
    :param query_code: (B,) packed bits.
    :param size: how many rows are wanted; fewer come back where fewer are eligible.
    :param valid: (N,) False for rows that never match.
    :param rows: the only eligible rows, ascending; default: all.
    """
    if rows is None:
        near, distances = nearest_codes(codes, query_code, size)
        if valid is None or valid[near].all():
            return near, distances
        rows = np.flatnonzero(valid)  # an invalid row came near: scan again without any of them
    elif valid is not None:
        rows = rows[valid[rows]]
    near, distances = nearest_codes(codes[rows], query_code, size)
    return rows[near].astype(np.int64, copy=False), distances


def nearest_codes(codes: npt.NDArray[np.uint8], query_code: npt.NDArray[np.uint8], size: int) -> Pool:
    """Return the pool among all codes: by faiss, or by numpy where they are few or faiss is not installed."""
    size = max(0, min(size, len(codes)))
    if size == 0:
        return np.empty(0, np.int64), np.empty(0, np.int32)
    faiss = _faiss() if len(codes) >= _FAISS_FROM_ROWS else None
    if faiss is None:
        return scan_codes(codes, query_code, size)
    # One query is bound by memory, not by cores: further threads only wait for each other. OpenMP keeps this number for
    # each calling thread, and a server calls from several.
    faiss.omp_set_num_threads(1)
    distances, near = faiss.knn_hamming(np.ascontiguousarray(query_code[None, :]), np.ascontiguousarray(codes), size)
    order = np.lexsort((near[0], distances[0]))
    return near[0][order], distances[0][order]


def scan_codes(codes: npt.NDArray[np.uint8], query_code: npt.NDArray[np.uint8], size: int) -> Pool:
    """Return the pool among all codes with numpy alone: without faiss, and to test it against."""
    distances = np.zeros(len(codes), np.int32)
    word = np.dtype(np.uint64 if codes.shape[1] % 8 == 0 else np.uint8)
    query = np.ascontiguousarray(query_code).view(word)
    for start in range(0, len(codes), _BLOCK_ROWS):
        differing = np.bitwise_count(np.ascontiguousarray(codes[start : start + _BLOCK_ROWS]).view(word) ^ query)
        total = distances[start : start + len(differing)]
        for column in differing.T:  # a sum over so short an axis takes five times as long
            total += column
    within = np.cumsum(np.bincount(distances))
    candidates = np.flatnonzero(distances <= np.searchsorted(within, size))
    near = candidates[np.argsort(distances[candidates], kind="stable")[:size]]
    return near, distances[near]


@cache
def _faiss() -> Any | None:
    try:
        import faiss
    except ImportError:
        return None
    return faiss
