"""The asset diffused_vectors. In: chunks and chunk_vectors of all buckets, graph_snapshot. Out: vectors, mixed.

A node's row is the one chunk that shows the symbol first (part 0). The further parts of a long function keep their own
vectors: which of its calls stands in which part is not known, and mixing all into each would blur the parts into one.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from pipelines.artifacts import Artifact, ArtifactRef, ArtifactWriter, Target
from pipelines.diffusion.mixing import Edges, mixing_matrix
from pipelines.diffusion.propagate import Mixed, propagate
from pipelines.errors import ArtifactMismatch
from pipelines.formats import CHUNK_VECTORS, CHUNKS, GRAPH_SNAPSHOT
from pipelines.progress import Progress
from pipelines.report import StageReport
from pipelines.settings import DiffusionSettings
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore

#: Rows that are written at a time: 64 MB of float32 at 256 values.
_BLOCK_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class BucketRows:
    """The plain vectors of all buckets as one matrix that is never read whole."""

    vectors: Sequence[npt.NDArray[np.float16]]
    valid: npt.NDArray[np.bool_]
    starts: npt.NDArray[np.int64]  # first row of each bucket, and the number of rows

    @classmethod
    def of(cls, buckets: Sequence[Artifact]) -> Self:
        """Take the chunk_vectors of all buckets in order."""
        vectors = [bucket.array("vectors.npy") for bucket in buckets]
        valid = np.concatenate([np.asarray(bucket.array("valid.npy")) for bucket in buckets])
        return cls(vectors, valid, np.cumsum([0, *(len(item) for item in vectors)], dtype=np.int64))

    def __len__(self) -> int:
        return len(self.valid)

    def read(self, rows: npt.NDArray[np.int64], first: int, out: npt.NDArray[np.float32]) -> None:
        """Read the values of ascending row numbers, from column `first` on, into (len(rows), columns)."""
        end = first + out.shape[1]
        cuts = np.searchsorted(rows, self.starts)
        for bucket, start, low, high in zip(self.vectors, self.starts[:-1], cuts[:-1], cuts[1:], strict=True):
            out[low:high] = bucket[rows[low:high] - start, first:end]


def build_diffused(
    store: ArtifactStore, target: Target, settings: DiffusionSettings, progress: Progress
) -> StageReport:
    """Make diffused_vectors; an artifact without arrays where diffusion is off.

    :param store: the store.
    :param target: its inputs are chunks of all buckets, chunk_vectors of all buckets, graph_snapshot.
    :param settings: share, iterations, direction, threshold. :param progress: told the steps.
    :raises ArtifactMismatch: if rows, encoders or dimensions do not agree.
    """

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        if settings.enabled:
            _diffuse(store, target, settings, progress, writer, report)
        else:
            writer.facts["enabled"] = False

    return run_stage(store, target, work)


def _diffuse(
    store: ArtifactStore,
    target: Target,
    settings: DiffusionSettings,
    progress: Progress,
    writer: ArtifactWriter,
    report: StageReport,
) -> None:
    buckets = _opened(store, target, CHUNK_VECTORS.name)
    encoder = _encoder(buckets)
    dimensions = int(encoder["dimensions"])
    rows = BucketRows.of(buckets)
    progress.begin("diffuse", 3)
    edges, row_of_node = open_calls(store, target, rows)
    weights = mixing_matrix(edges, row_of_node, len(rows), settings)
    progress.advance()
    scratch = Path(tempfile.mkdtemp(prefix="columns-", dir=writer.folder))
    mixed = propagate(weights, rows.read, dimensions, settings, scratch)
    progress.advance()
    moved = _write(writer, rows, mixed, dimensions)
    del mixed
    shutil.rmtree(scratch)
    progress.advance()
    progress.end()
    writer.facts |= {"enabled": True, "encoder": encoder, "dimensions": dimensions}
    writer.counts |= {"rows": len(rows), "mixed": moved, "edges": int(weights.nnz)}
    report.rows = report.computed = len(rows)
    report.extra |= {"mixed": moved, "edges": int(weights.nnz)}


def open_calls(store: ArtifactStore, target: Target, rows: BucketRows) -> tuple[Edges, npt.NDArray[np.int64]]:
    """Return the calls of the target's graph_snapshot, and the row that shows each node, as mixing_matrix takes it."""
    (graph,) = _opened(store, target, GRAPH_SNAPSHOT.name)
    return _edges(graph), _row_of_node(graph, _opened(store, target, CHUNKS.name), rows)


def _write(writer: ArtifactWriter, rows: BucketRows, mixed: Mixed, dimensions: int) -> int:
    """Write all rows in order, mixed ones replaced; return how many were."""
    moved = 0
    with writer.array_parts("vectors.npy", (int(rows.starts[-1]), dimensions), np.float16) as append:
        for bucket, first_row in zip(rows.vectors, rows.starts, strict=False):
            for start in range(0, len(bucket), _BLOCK_ROWS):
                block = np.array(bucket[start : start + _BLOCK_ROWS])
                base = int(first_row) + start
                changed, values = mixed.unit_rows(base, base + len(block))
                block[changed - base] = values
                moved += len(changed)
                append(block)
    return moved


def _opened(store: ArtifactStore, target: Target, asset: str) -> list[Artifact]:
    refs: list[ArtifactRef] = [ref for ref in target.inputs if ref.asset == asset]
    if not refs:
        raise ArtifactMismatch(f"{target.ref.asset} of {target.ref.repo} needs {asset} among its inputs")
    return [store.open(ref) for ref in refs]


def _encoder(buckets: Sequence[Artifact]) -> dict[str, Any]:
    encoder = dict(buckets[0].facts["encoder"])
    for bucket in buckets:
        width = bucket.manifest["files"]["vectors.npy"]["shape"][1]
        if bucket.facts["encoder"] != encoder or width != encoder["dimensions"]:
            raise ArtifactMismatch(
                f"{bucket.ref} has {width} values a row by encoder {bucket.facts['encoder']}, not those of {encoder}",
                hint="materialise chunk_vectors of every bucket again",
            )
    return encoder


def _row_of_node(graph: Artifact, chunks: Sequence[Artifact], rows: BucketRows) -> npt.NDArray[np.int64]:
    """Return, for each node, the row of its first part; -1 where there is none or its vector is not valid."""
    ids = graph.table("nodes.parquet", columns=["symbol_id"])["symbol_id"].combine_chunks()
    row_of_node = np.full(len(ids), -1, np.int64)
    for artifact, start, end in zip(chunks, rows.starts[:-1], rows.starts[1:], strict=True):
        table = artifact.table("chunks.parquet", columns=["symbol_id", "part"])
        if table.num_rows != end - start:
            raise ArtifactMismatch(f"{artifact.ref} has {table.num_rows} rows, its chunk_vectors have {end - start}")
        nodes = pc.fill_null(pc.index_in(table["symbol_id"], value_set=ids), -1).to_numpy()
        first_parts = (nodes >= 0) & (table["part"].to_numpy() == 0) & rows.valid[start:end]
        row_of_node[nodes[first_parts]] = start + np.flatnonzero(first_parts)
    return row_of_node


def _edges(graph: Artifact) -> Edges:
    indptr = np.asarray(graph.array("indptr.npy"))
    return Edges(
        np.repeat(np.arange(len(indptr) - 1, dtype=np.int64), np.diff(indptr)),
        np.asarray(graph.array("indices.npy"), np.int64),
        np.asarray(graph.array("confidence.npy")),
        np.asarray(graph.array("strategy.npy")),
    )
