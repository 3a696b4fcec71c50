"""The branch by meaning: sign bits pick a pool, int8 vectors rank it. In: a query's vector. Out: the best rows.

Only the rows of the pool are touched in the rescoring matrix, so a query costs one pass over 32 bytes a row. With
scoring `asymmetric` the matrix is not read at all: the query's values are compared with the signs of the pool's rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pipelines.quantization import asymmetric_scores, hamming_pool, rescore
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.filters import Mask
from pipelines.retrieval.generation import Generation
from pipelines.retrieval.rows import Rows

Vector = npt.NDArray[np.float32]


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

    def nearest(self, corpus: Corpus, size: int) -> Pool:
        """Return the `size` rows of the least distance, best scored first."""
        near = self._at(corpus.order(self.rows, self.distances)[:size])
        return near._at(corpus.order(near.rows, -near.scores))

    def _at(self, places: npt.NDArray[np.int64]) -> Pool:
        return Pool(self.rows[places], self.distances[places], self.scores[places])


class Meaning(Protocol):
    """How rows are compared with a query's vector: by what a generation stores, or by what an evaluation puts there."""

    def pool(self, corpus: Corpus, masks: Sequence[Mask], vector: Vector, size: int) -> Pool:
        """Return the `size` nearest rows among those that the masks accept."""
        ...

    def similarities(self, corpus: Corpus, rows: Rows, vector: Vector) -> npt.NDArray[np.float64]:
        """Return the similarity of each row, in the pool or not; of no meaning for a row without a vector."""
        ...


@dataclass(frozen=True, slots=True)
class Stored:
    """By what is stored: bits choose the pool; int8 vectors, or with scoring `asymmetric` the bits again, order it."""

    scoring: str = "int8"

    def pool(self, corpus: Corpus, masks: Sequence[Mask], vector: Vector, size: int) -> Pool:
        """Return the nearest rows by their bits, best scored first."""
        pools = [Pool.empty()]
        for base, generation, mask in zip(corpus.bases.tolist(), corpus.generations, masks, strict=False):
            allowed = None if mask is None else np.flatnonzero(mask)
            if generation.count == 0 or (allowed is not None and not len(allowed)):
                continue
            code = generation.bit_map.codes(vector)
            arrays = generation.codes
            rows, distances = hamming_pool(arrays.codes, code, size, valid=arrays.valid, rows=allowed)
            scores = self._scores(generation, rows, vector)
            pools.append(Pool(rows.astype(np.int64) + base, distances.astype(np.int64), scores))
        parts = zip(*((pool.rows, pool.distances, pool.scores) for pool in pools), strict=True)
        merged = Pool(*(np.concatenate(part) for part in parts))
        return merged.nearest(corpus, size)

    def similarities(self, corpus: Corpus, rows: Rows, vector: Vector) -> npt.NDArray[np.float64]:
        """Return the cosine of each row, or with scoring `asymmetric` what its bits tell of it."""
        found = np.zeros(len(rows), np.float64)
        for generation, places, local in corpus.split(rows):
            found[places] = self._scores(generation, local, vector)
        return found

    def _scores(self, generation: Generation, rows: Rows, vector: Vector) -> npt.NDArray[np.float64]:
        arrays, bit_map = generation.codes, generation.bit_map
        if self.scoring == "asymmetric":
            return asymmetric_scores(arrays.codes, rows, bit_map.values(vector)).astype(np.float64)
        return rescore(arrays.rescoring, arrays.scales, rows, vector).astype(np.float64)


def is_usable(vector: Vector) -> bool:
    """Tell whether a query's vector can be compared: it is finite and not zero."""
    return bool(vector.any() and np.isfinite(vector).all())
