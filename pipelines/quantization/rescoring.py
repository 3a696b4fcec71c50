"""What puts a pool into its order: int8 rows, which hold what the signs forgot, or the signs themselves.

In: vectors, or codes. Out: int8 rows and scales; scores of a pool.

Row-wise symmetric: a row's largest magnitude becomes 127 and its scale is stored, so that scale * int8 is the vector to
within half a step, whatever the row's length.

Asymmetric scores compare the query's values, which are known, with the signs of a row: more than a distance in bits
tells, less than the int8 rows do, and it needs none of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_STEPS = 127  # the int8 range without -128, so that a value and its negative have equal error


def to_int8(vectors: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Return (N, D) int8 rows and (N,) scales of finite vectors; a zero row has scale 0."""
    scales = np.abs(vectors).max(axis=1, initial=0.0) / np.float32(_STEPS)
    divisors = np.where(scales > 0, scales, np.float32(1))
    steps = np.clip(np.rint(vectors / divisors[:, None]), -_STEPS, _STEPS)
    return steps.astype(np.int8), scales.astype(np.float32)


def rescore(
    rescoring: npt.NDArray[np.int8],
    scales: npt.NDArray[np.float32],
    rows: npt.NDArray[np.int64],
    query_vector: npt.NDArray[np.float32],
) -> npt.NDArray[np.float32]:
    """Return the cosine of each of `rows` with the query, for stored rows of unit length; only those rows are read."""
    query = _unit(query_vector)
    scores: npt.NDArray[np.float32] = (rescoring[rows].astype(np.float32) @ query) * scales[rows]
    return scores


def asymmetric_scores(
    codes: npt.NDArray[np.uint8], rows: npt.NDArray[np.int64], query_values: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Return the cosine of the query with the signs (1 or -1) of each of `rows`; only those rows are read.

    :param codes: (N, B / 8) packed bits. :param query_values: (B,) the values whose signs are the query's own bits.
    """
    signs = np.unpackbits(codes[rows], axis=1, bitorder="little").astype(np.float32) * 2 - 1
    scores: npt.NDArray[np.float32] = (signs @ _unit(query_values)) / np.sqrt(np.float32(len(query_values)))
    return scores


def _unit(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    values = np.asarray(vector, np.float32)
    length = np.sqrt(np.dot(values, values))
    return values / length if length > 0 else values
