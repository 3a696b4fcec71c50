"""Texts that a run would have to embed. In: wanted chunk_vectors. Out: their texts that no artifact has a vector of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np

from pipelines.artifacts import Target
from pipelines.embedding.reuse import KnownVectors
from pipelines.embedding.texts import COLUMNS, compose_bucket
from pipelines.generation import EncoderInfo
from pipelines.records import Encoder
from pipelines.store import ArtifactStore

#: Texts that are Python objects at one time.
_BLOCK_TEXTS = 512


def pending_texts(store: ArtifactStore, targets: Sequence[Target], encoder: Encoder) -> Iterator[str]:
    """Yield each distinct text once that no stored artifact of an equal encoder has a vector of.

    :param targets: the wanted chunk_vectors; the chunks of each are in the store already.
    """
    seen: set[bytes] = set()
    for target in targets:
        texts = compose_bucket(store.open(target.inputs[0]).table("chunks.parquet", list(COLUMNS)))
        missing = ~texts.blank
        for found in KnownVectors(store, target, asdict(EncoderInfo.of(encoder))).find(texts.keys):
            missing[found.positions] = False
        fresh = [index for index in np.flatnonzero(missing) if texts.keys[index].tobytes() not in seen]
        seen.update(texts.keys[index].tobytes() for index in fresh)
        for start in range(0, len(fresh), _BLOCK_TEXTS):
            yield from texts.take(np.array(fresh[start : start + _BLOCK_TEXTS], np.intp))
