"""What the signs forgot: int8 rows that put a pool into its true order. In: vectors. Out: int8 rows, scales, scores.

Row-wise symmetric: a row's largest magnitude becomes 127 and its scale is stored, so that scale * int8 is the vector to
within half a step, whatever the row's length.
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
    query = np.asarray(query_vector, np.float32)
    length = np.sqrt(np.dot(query, query))
    if length > 0:
        query = query / length
    scores: npt.NDArray[np.float32] = (rescoring[rows].astype(np.float32) @ query) * scales[rows]
    return scores
