"""A searcher without one of its parts: what an evaluation sets beside the whole. In: a generation. Out: a searcher.

What a variant leaves out shows what the part is worth. The vectors as they were before they became bits are read from
chunk_vectors, which no search does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.formats import CHUNK_VECTORS, DIFFUSED_VECTORS
from pipelines.records import Encoder, SearchMode
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.filters import Mask
from pipelines.retrieval.generation import Generation
from pipelines.retrieval.rows import Rows
from pipelines.retrieval.searcher import Searcher
from pipelines.retrieval.semantic import Meaning, Pool, Stored, Vector
from pipelines.retrieval.weights import BRANCHES_ALONE, WEIGHTS
from pipelines.store import ArtifactStore


@dataclass(frozen=True, slots=True)
class Variant:
    """Fields of the query that differ from its defaults, weights of the features, and what vectors are compared by."""

    options: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    vectors: str = "int8"  # "int8" and "bits" as they are stored, "float" as they were made

    @staticmethod
    def all() -> Mapping[str, Variant]:
        """Return every variant by name; the first is what a user gets."""
        return _ALL

    def searcher(self, store: ArtifactStore, generation: Generation, encoder: Encoder) -> Searcher:
        """Return a searcher that answers in this way, if it is asked with the options.

        :param store: has the vectors that the generation's bits were made of.
        """
        meanings: Mapping[str, Meaning] = {"int8": Stored(), "bits": Bits(), "float": Floats(store, generation)}
        return Searcher([generation], encoder, weights=self.weights, meaning=meanings[self.vectors])


_ALL: Mapping[str, Variant] = {
    "hybrid": Variant(),
    "lexical": Variant({"mode": SearchMode.LEXICAL}),
    "semantic": Variant({"mode": SearchMode.SEMANTIC}),
    "symbol": Variant({"mode": SearchMode.SYMBOL}),
    "late": Variant({"fusion": "late"}),
    "no priors": Variant(weights=BRANCHES_ALONE),
    "float": Variant(vectors="float"),
    "bits": Variant(vectors="bits"),
    "BM25": Variant({"mode": SearchMode.LEXICAL, "no_fusion": True}),
    "vectors": Variant({"mode": SearchMode.SEMANTIC}, {"semantic": 1.0}),
}


class Bits(Stored):
    """By the bits alone: the pool in Hamming order, a row's similarity the share of bits that are equal."""

    def pool(self, corpus: Corpus, masks: Sequence[Mask], vector: Vector, size: int) -> Pool:
        """Return the nearest rows in plain Hamming order."""
        found = super().pool(corpus, masks, vector, size)
        bits = corpus.generations[0].bit_map.bits
        return Pool(found.rows, found.distances, 1 - 2 * found.distances / bits).nearest(corpus, size)

    def similarities(self, corpus: Corpus, rows: Rows, vector: Vector) -> npt.NDArray[np.float64]:
        """Return the share of equal bits, as far from a half as a cosine is from zero."""
        generation = corpus.generations[0]
        different = np.bitwise_count(generation.codes.codes[rows] ^ generation.bit_map.codes(vector)).sum(axis=1)
        shares: npt.NDArray[np.float64] = 1 - 2 * different.astype(np.float64) / generation.bit_map.bits
        return shares


class Floats:
    """By the vectors as they were made, of one generation: every row is compared, none is left out by its bits."""

    def __init__(self, store: ArtifactStore, generation: Generation) -> None:
        self._store, self._generation = store, generation

    @cached_property
    def _vectors(self) -> Vector:
        document = self._generation.document
        refs = [ref for ref in document.refs if ref.asset == DIFFUSED_VECTORS.name]
        mixed = [item for item in map(self._store.open, refs) if "vectors.npy" in item.manifest["files"]]
        parts = mixed or [self._store.open(ref) for ref in document.buckets(CHUNK_VECTORS.name)]
        vectors = np.concatenate([np.asarray(item.array("vectors.npy"), np.float32) for item in parts])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, np.float32(1))
        return vectors

    def pool(self, corpus: Corpus, masks: Sequence[Mask], vector: Vector, size: int) -> Pool:
        """Return the rows of the greatest cosine."""
        allowed = self._generation.codes.valid if masks[0] is None else self._generation.codes.valid & masks[0]
        rows = np.flatnonzero(allowed)
        cosines = self.similarities(corpus, rows, vector)
        order = corpus.order(rows, -cosines)[:size]
        code = self._generation.bit_map.codes(vector)
        distances = np.bitwise_count(self._generation.codes.codes[rows[order]] ^ code).sum(axis=1)
        return Pool(rows[order], distances.astype(np.int64), cosines[order])

    def similarities(self, corpus: Corpus, rows: Rows, vector: Vector) -> npt.NDArray[np.float64]:
        """Return the cosine of each row."""
        length = float(np.linalg.norm(vector))
        cosines: npt.NDArray[np.float64] = (self._vectors[rows] @ vector).astype(np.float64) / (length or 1.0)
        return cosines
