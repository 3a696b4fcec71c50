"""The asset binary_codes. In: vectors of all buckets, mixed or plain. Out: sign bits, int8 rows, scales, valid mask.

Buckets are streamed: what is held for the whole repository is one code, one scale and one flag per row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.artifacts import Artifact, ArtifactRef, ArtifactWriter, Target
from pipelines.errors import ArtifactMismatch
from pipelines.formats import CHUNK_VECTORS, DIFFUSED_VECTORS
from pipelines.progress import Progress
from pipelines.quantization.extension import BitMap
from pipelines.quantization.rescoring import to_int8
from pipelines.quantization.signs import usable_rows
from pipelines.report import StageReport
from pipelines.settings import QuantizationSettings
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore

#: Rows that are converted at a time: 64 MB of float32 at 256 values.
_BLOCK_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class _Vectors:
    """The vectors of all buckets in row order, and who made them."""

    buckets: Sequence[Artifact]
    diffused: Artifact | None
    encoder: dict[str, Any]

    @property
    def shape(self) -> tuple[int, int]:
        return sum(_shape(item)[0] for item in self.buckets), int(self.encoder["dimensions"])

    def blocks(self, bucket: Artifact, first_row: int) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]]:
        """Yield vectors and valid flags of a bucket, whose first row is `first_row` of the repository."""
        valid = bucket.array("valid.npy")
        vectors = bucket.array("vectors.npy")
        if self.diffused is not None:
            vectors = self.diffused.array("vectors.npy")[first_row : first_row + len(valid)]
        for start in range(0, len(valid), _BLOCK_ROWS):
            end = start + _BLOCK_ROWS
            yield np.asarray(vectors[start:end], np.float32), np.asarray(valid[start:end])


@dataclass(slots=True)
class _Collected:
    """What is small enough to be held for all rows."""

    codes: list[npt.NDArray[np.uint8]] = field(default_factory=list)
    scales: list[npt.NDArray[np.float32]] = field(default_factory=list)
    valid: list[npt.NDArray[np.bool_]] = field(default_factory=list)


def build_codes(
    store: ArtifactStore, target: Target, settings: QuantizationSettings, progress: Progress
) -> StageReport:
    """Make binary_codes.

    :param store: the store. :param target: its inputs are diffused_vectors, if diffusion is on, then chunk_vectors of
        all buckets in order.
    :param settings: how many bits, and how wider codes are drawn. :param progress: told the buckets as they are done.
    :raises ArtifactMismatch: if the vectors come from more than one encoder, or row counts do not agree.
    """

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        vectors = _open(store, target.inputs)
        rows, dimensions = vectors.shape
        bits = BitMap(dimensions, settings.bits or dimensions, settings.seed)
        collected = _Collected()
        progress.begin("quantize", len(vectors.buckets))
        with writer.array_parts("rescoring.npy", (rows, dimensions), np.int8) as append:
            first_row = 0
            for bucket in vectors.buckets:
                for block, valid in vectors.blocks(bucket, first_row):
                    append(_quantize(block, valid, bits, collected))
                first_row += _shape(bucket)[0]
                progress.advance()
        progress.end()
        codes = _joined(collected.codes, (0, bits.bits // 8), np.uint8)
        valid = _joined(collected.valid, (0,), np.bool_)
        writer.array("codes.npy", codes)
        writer.array("scales.npy", _joined(collected.scales, (0,), np.float32))
        writer.array("valid.npy", valid)
        writer.facts |= {"encoder": vectors.encoder, "dimensions": dimensions, "bits": bits.bits, "seed": bits.seed}
        figures = _figures(codes, valid)
        writer.counts |= {"rows": rows, **figures}
        report.rows = report.computed = rows
        report.skipped["invalid_vector"] = figures["invalid"]
        report.extra |= figures

    return run_stage(store, target, work)


def _open(store: ArtifactStore, refs: Sequence[ArtifactRef]) -> _Vectors:
    buckets = [store.open(ref) for ref in refs if ref.asset == CHUNK_VECTORS.name]
    mixed = [store.open(ref) for ref in refs if ref.asset == DIFFUSED_VECTORS.name]
    if not buckets:
        raise ArtifactMismatch("binary_codes needs the chunk_vectors of at least one bucket")
    encoder = dict(buckets[0].facts["encoder"])
    for bucket in buckets:
        if bucket.facts["encoder"] != encoder:
            raise ArtifactMismatch(
                f"{bucket.ref} was made by encoder {bucket.facts['encoder']}, {buckets[0].ref} by {encoder}",
                hint="materialise chunk_vectors of every bucket again",
            )
        if _shape(bucket)[1] != encoder["dimensions"]:
            raise ArtifactMismatch(f"{bucket.ref} has {_shape(bucket)[1]} values a row, not {encoder['dimensions']}")
    vectors = _Vectors(buckets, mixed[0] if mixed else None, encoder)
    if vectors.diffused is not None and _shape(vectors.diffused) != vectors.shape:
        raise ArtifactMismatch(
            f"{vectors.diffused.ref} has shape {_shape(vectors.diffused)}, chunk_vectors have {vectors.shape}",
            hint="materialise diffused_vectors again",
        )
    return vectors


def _quantize(
    vectors: npt.NDArray[np.float32], valid: npt.NDArray[np.bool_], bits: BitMap, collected: _Collected
) -> npt.NDArray[np.int8]:
    """Return the int8 rows of a block, after adding its codes, scales and flags to `collected`."""
    usable = valid & usable_rows(vectors)
    clean = np.where(usable[:, None], vectors, np.float32(0))
    rescoring, scales = to_int8(clean)
    collected.codes.append(bits.codes(clean))
    collected.scales.append(scales)
    collected.valid.append(usable)
    return rescoring


def _figures(codes: npt.NDArray[np.uint8], valid: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Return how well the bits are used: share of ones per bit, share of rows whose code an earlier row has."""
    count = int(valid.sum())
    figures: dict[str, Any] = {"invalid": len(valid) - count, "duplicate_share": 0.0}
    if count == 0:
        return figures
    ones = np.zeros(codes.shape[1] * 8, np.int64)
    for start in range(0, len(codes), _BLOCK_ROWS):  # codes of invalid rows hold no bit
        ones += np.unpackbits(codes[start : start + _BLOCK_ROWS], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    shares = ones / count
    figures["bit_balance"] = {name: round(float(getattr(shares, name)()), 6) for name in ("min", "mean", "max")}
    figures["duplicate_share"] = round(1 - _distinct(codes[valid]) / count, 6)
    return figures


def _distinct(codes: npt.NDArray[np.uint8]) -> int:
    column = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(codes.shape[1]), len(codes), [None, pa.py_buffer(np.ascontiguousarray(codes))]
    )
    import pyarrow.compute as pc  # not above: it takes longer to load than a query does to answer

    return int(pc.count_distinct(column).as_py())


def _joined(blocks: list[npt.NDArray[Any]], empty: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.concatenate(blocks) if blocks else np.empty(empty, dtype)


def _shape(artifact: Artifact) -> tuple[int, int]:
    rows, dimensions = artifact.manifest["files"]["vectors.npy"]["shape"]
    return rows, dimensions
