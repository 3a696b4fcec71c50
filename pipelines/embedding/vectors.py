"""The chunk_vectors stage. In: the chunks of a bucket, an encoder. Out: one vector per chunk, in the chunks' order.

    vectors.npy     float16 (N, D)   unit vectors; zeros where there is none
    valid.npy       bool    (N)      False where a chunk has no vector
    embed_keys.npy  uint8   (N, 16)  hash of the text that was embedded

Each distinct text is embedded once, and only if no artifact of the store knows its vector. A chunk of data or settings,
a chunk without a word, or one that the encoder gives zeros or no numbers for, has no vector: it is marked, counted, and
still found by its words.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from pipelines import stage
from pipelines.artifacts import ArtifactWriter, Target
from pipelines.embedding.explained import Explained
from pipelines.embedding.reuse import EMBED_KEYS, VALID, VECTORS, KnownVectors
from pipelines.embedding.texts import COLUMNS, BucketTexts, compose_bucket
from pipelines.errors import EncoderError, EncoderUnavailable
from pipelines.generation import EncoderInfo
from pipelines.progress import Progress
from pipelines.records import Encoder
from pipelines.report import StageReport
from pipelines.store import ArtifactStore

#: Texts that an encoder is given at one time, unless it asks for more: few enough to tell often how far it is.
_BATCH_TEXTS = 512
#: Why a chunk has no vector.
LEXICAL_ONLY, BLANK, ZERO, NOT_FINITE = "lexical_only", "blank_text", "zero_vector", "not_finite"


@runtime_checkable
class Truncating(Protocol):
    """An encoder that reads texts up to a length and counts those that were longer."""

    truncated: int


@runtime_checkable
class InBulk(Protocol):
    """An encoder that is quicker the more texts it has, and tells how many it wants at one time."""

    texts_at_once: int


@runtime_checkable
class OnRuntime(Protocol):
    """An encoder whose last bits may be those of a runtime, and tells which."""

    runtime: str


@dataclass(slots=True)
class _Outcome:
    """What became of each of K distinct texts."""

    vectors: npt.NDArray[np.float16]  # (K, D)
    reused: npt.NDArray[np.bool_]
    zero: npt.NDArray[np.bool_]
    infinite: npt.NDArray[np.bool_]

    @classmethod
    def empty(cls, count: int, dimensions: int) -> Self:
        return cls(np.zeros((count, dimensions), np.float16), *(np.zeros(count, bool) for _ in range(3)))


def build_vectors(store: ArtifactStore, target: Target, encoder: Encoder, progress: Progress) -> StageReport:
    """Make the chunk_vectors of a bucket; `target.inputs[0]` is its chunks.

    The report's `extra` has "embedded_texts", the distinct texts that were encoded, and "truncated", those of them that
    were longer than the encoder reads.

    :param store: where both are. :param target: what is to be made; its recipe must come from the encoder's digest.
    :param encoder: gives the vectors. :param progress: told of every batch of texts.
    :raises EncoderError: if the encoder fails, naming the chunk; nothing is then visible in the store.
    """

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        texts = compose_bucket(store.open(target.inputs[0]).table("chunks.parquet", list(COLUMNS)))
        outcome = _Outcome.empty(len(texts), encoder.dimensions)
        writer.facts["encoder"] = asdict(EncoderInfo.of(encoder))
        if isinstance(encoder, OnRuntime):
            writer.facts["runtime"] = encoder.runtime
        for found in KnownVectors(store, target, writer.facts["encoder"]).find(texts.keys):
            outcome.vectors[found.positions] = found.vectors
            outcome.reused[found.positions] = True
        pending = np.flatnonzero(~outcome.reused & ~texts.blank)
        before = encoder.truncated if isinstance(encoder, Truncating) else 0
        _embed(texts, pending, outcome, encoder, progress)
        _write(writer, texts, outcome, report)
        report.extra["embedded_texts"] = len(pending)
        report.extra["truncated"] = encoder.truncated - before if isinstance(encoder, Truncating) else 0

    return stage.run_stage(store, target, work)


def _embed(
    texts: BucketTexts, pending: npt.NDArray[np.intp], outcome: _Outcome, encoder: Encoder, progress: Progress
) -> None:
    progress.begin("embedding", len(pending))
    size = encoder.texts_at_once if isinstance(encoder, InBulk) else _BATCH_TEXTS
    for start in range(0, len(pending), size):
        indices = pending[start : start + size]
        vectors = _encode(texts, indices, encoder)
        infinite = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        outcome.infinite[indices[infinite]] = True
        outcome.zero[indices] = (vectors == 0).all(axis=1)
        vectors[infinite] = 0
        outcome.vectors[indices] = vectors
        progress.advance(len(indices))
    progress.end()


def _encode(texts: BucketTexts, indices: npt.NDArray[np.intp], encoder: Encoder) -> npt.NDArray[np.float16]:
    """Encode a batch; if that fails, encode its texts one by one, so that the error names the chunk."""
    places = [texts.place(int(index)) for index in indices[[0, -1]]]
    where = places[0] if len(indices) == 1 else f"{places[0]} to {places[-1]}"
    try:
        with Explained(f"the {encoder.name} encoder failed on {where}"):
            vectors = encoder.encode(texts.take(indices))
            if vectors.shape != (len(indices), encoder.dimensions):
                raise EncoderError(f"it gave shape {vectors.shape} for {len(indices)} texts")
    except EncoderUnavailable:
        raise
    except EncoderError:
        for index in indices if len(indices) > 1 else ():
            _encode(texts, np.array([index]), encoder)
        raise
    with np.errstate(over="ignore"):  # beyond float16 is not finite, and counted as that
        return vectors.astype(np.float16)


def _write(writer: ArtifactWriter, texts: BucketTexts, outcome: _Outcome, report: StageReport) -> None:
    valid = ~(texts.blank | outcome.zero | outcome.infinite)
    writer.array(VECTORS, outcome.vectors[texts.of_row])
    writer.array(VALID, valid[texts.of_row])
    writer.array(EMBED_KEYS, texts.keys[texts.of_row])
    report.rows = len(texts.of_row)
    report.reused = int(outcome.reused[texts.of_row].sum())
    report.computed = report.rows - report.reused
    report.skipped[LEXICAL_ONLY] += int(texts.lexical_only.sum())
    report.skipped[BLANK] -= report.skipped[LEXICAL_ONLY]
    for reason, flags in ((BLANK, texts.blank), (ZERO, outcome.zero), (NOT_FINITE, outcome.infinite)):
        report.skipped[reason] += int(flags[texts.of_row].sum())
    report.skipped = +report.skipped
    writer.counts["valid"] = int(valid[texts.of_row].sum())
    writer.counts["skipped"] = dict(sorted(report.skipped.items()))
