"""The branch by meaning: sign bits pick a pool, int8 vectors rank it. In: a query's vector. Out: the best rows.

Only the rows of the pool are touched in the rescoring matrix, so a query costs one pass over 32 bytes a row. With
scoring `asymmetric` the matrix is not read at all: the query's values are compared with the signs of the pool's rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.quantization import asymmetric_scores, hamming_pool, rescore
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.filters import Mask
from pipelines.retrieval.rows import Rows


@dataclass(frozen=True, slots=True)
class Pool:
    """The semantic candidates, best scored first. Distances are in bits, scores are cosines."""

    rows: Rows
    distances: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]

    @classmethod
    def empty(cls) -> Pool:
        """Return the pool of a query without a vector."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float64))

    def by_row(self) -> Pool:
        """Return the pool in row order, as fusion takes it."""
        return self._at(np.argsort(self.rows))

    def by_distance(self, corpus: Corpus) -> Pool:
        """Return the pool in plain Hamming order."""
        return self._at(corpus.order(self.rows, self.distances))

    def _at(self, places: npt.NDArray[np.int64]) -> Pool:
        return Pool(self.rows[places], self.distances[places], self.scores[places])


def search_semantic(
    corpus: Corpus, masks: Sequence[Mask], vector: npt.NDArray[np.float32], size: int, scoring: str = "int8"
) -> Pool:
    """Return the `size` nearest rows among those that the masks accept; none for a vector that is zero or not finite.

    :param vector: the (dimensions,) vector of the query. :param scoring: what orders them, one of query.SCORINGS.
    """
    if not vector.any() or not np.isfinite(vector).all():
        return Pool.empty()
    pools = [Pool.empty()]
    for base, generation, mask in zip(corpus.bases.tolist(), corpus.generations, masks, strict=False):
        allowed = None if mask is None else np.flatnonzero(mask)
        if generation.count == 0 or (allowed is not None and not len(allowed)):
            continue
        arrays, bit_map = generation.codes, generation.bit_map
        code = bit_map.codes(vector)
        rows, distances = hamming_pool(arrays.codes, code, size, valid=arrays.valid, rows=allowed)
        if scoring == "asymmetric":
            scores = asymmetric_scores(arrays.codes, rows, bit_map.values(vector))
        else:
            scores = rescore(arrays.rescoring, arrays.scales, rows, vector)
        pools.append(Pool(rows.astype(np.int64) + base, distances.astype(np.int64), scores.astype(np.float64)))
    merged = Pool(
        *(np.concatenate(parts) for parts in zip(*((p.rows, p.distances, p.scores) for p in pools), strict=True))
    )
    nearest = merged._at(corpus.order(merged.rows, merged.distances)[:size])
    return nearest._at(corpus.order(nearest.rows, -nearest.scores))
