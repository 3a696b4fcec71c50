"""Vectors that are known already. In: embed keys that lack a vector. Out: vectors of equal key and equal encoder.

They are looked for where they are likeliest: in the bucket's last artifact, in the other buckets of the repository (a
rename moves rows between buckets) as they stand now and as they stood in the published generations (the bucket that a
file left may have been rebuilt already), then in other repositories (forks, vendored copies). An artifact is opened
only while keys are missing; one that is broken or gone costs its reuse and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines import stage
from pipelines.artifacts import Artifact, ArtifactRef, Target
from pipelines.embedding.texts import BLANK_KEY
from pipelines.errors import ArtifactError
from pipelines.formats import CHUNK_VECTORS, ID
from pipelines.generation import read_generation
from pipelines.store import ArtifactStore

VECTORS, VALID, EMBED_KEYS = "vectors.npy", "valid.npy", "embed_keys.npy"


@dataclass(frozen=True, slots=True)
class Found:
    """Positions in the wanted keys, and their stored vectors as float16 rows."""

    positions: npt.NDArray[np.intp]
    vectors: npt.NDArray[np.float16]


class KnownVectors:
    """Looks vectors up in the artifacts of a store that were made like `target`, by an encoder with equal facts."""

    def __init__(self, store: ArtifactStore, target: Target, encoder: Mapping[str, Any]) -> None:
        self._store = store
        self._target = target
        self._encoder = encoder

    def find(self, keys: npt.NDArray[np.uint8]) -> Iterator[Found]:
        """Yield the vectors of distinct (K, 16) keys, each position once at most, artifact by artifact."""
        missing = np.arange(len(keys))
        for artifact in self._artifacts():
            if not len(missing):
                return
            try:
                found = _match(artifact, keys, missing)
            except ArtifactError:
                continue
            yield found
            missing = np.setdiff1d(missing, found.positions, assume_unique=True)

    def _artifacts(self) -> Iterator[Artifact]:
        last = stage.previous(self._store, self._target)
        seen = set()
        if last is not None:
            seen.add(last.ref)
            yield last
        for ref in self._refs():
            if ref not in seen:
                seen.add(ref)
                artifact = self._open(ref)
                if artifact is not None and artifact.facts.get("encoder") == self._encoder:
                    yield artifact

    def _refs(self) -> Iterator[ArtifactRef]:
        own = self._target.ref.repo
        others = [repo for repo in self._store.repositories() if repo != own]
        for repo in [own, *others]:
            yield from self._heads(repo)
            if repo == own:
                yield from self._published(repo)

    def _heads(self, repo: str) -> list[ArtifactRef]:
        try:
            return [ref for ref in self._store.heads(repo) if ref.asset == CHUNK_VECTORS.name]
        except (ArtifactError, FileNotFoundError):  # being written or removed at this moment
            return []

    def _published(self, repo: str) -> Iterator[ArtifactRef]:
        try:
            pointer = self._store.pointer(repo)
        except ArtifactError:
            return
        for generation in () if pointer is None else (pointer.generation, *pointer.previous):
            try:
                yield from read_generation(self._store, repo, generation).buckets(CHUNK_VECTORS.name)
            except ArtifactError:
                continue

    def _open(self, ref: ArtifactRef) -> Artifact | None:
        try:
            artifact = self._store.open(ref)
        except ArtifactError:
            return None
        return artifact if artifact.recipe == self._target.recipe else None


def _match(artifact: Artifact, keys: npt.NDArray[np.uint8], missing: npt.NDArray[np.intp]) -> Found:
    """Return which missing keys the artifact has a vector for, or knows to be of a blank text, which has zeros."""
    stored_keys = artifact.array(EMBED_KEYS)
    wanted, stored = _as_ids(keys[missing]), _as_ids(stored_keys)
    blank = (stored_keys == np.frombuffer(BLANK_KEY, np.uint8)).all(axis=1)
    # The hash table is made of the few wanted keys, not of the many stored ones; a key stored twice has one vector.
    slots = pc.index_in(stored, value_set=wanted)
    known = slots.is_valid().to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(known & (artifact.array(VALID) | blank))
    places, first = np.unique(slots.take(pa.array(rows)).to_numpy(zero_copy_only=False), return_index=True)
    vectors: npt.NDArray[np.float16] = artifact.array(VECTORS)[rows[first]]
    return Found(missing[places.astype(np.intp)], vectors)


def _as_ids(keys: npt.NDArray[np.uint8]) -> pa.FixedSizeBinaryArray:
    return pa.FixedSizeBinaryArray.from_buffers(ID, len(keys), [None, pa.py_buffer(np.ascontiguousarray(keys))])
