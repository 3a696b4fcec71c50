"""The rows that a searcher reads: chunk metadata joined with structural ranks, memory-mapped.

In: the chunks and symbols of all buckets, the graph snapshot. Out: search_rows. Row r is row r of binary_codes, and the
rows of the lexical segments follow each other in the same order: the order of chunk ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines import formats
from pipelines.artifacts import ArtifactRef, ArtifactWriter, Target
from pipelines.progress import Progress
from pipelines.report import StageReport
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore
from pipelines.tokens import normalise, term_hash

#: Columns that stand in search_rows as they stand in chunks; the labels among them are dictionary-coded.
_COPIED = (
    *("chunk_id", "path", "language", "scope", "kind", "name", "qualified_name", "signature"),
    *("part", "start_line", "end_line", "is_test"),
)


def build_search_rows(store: ArtifactStore, target: Target, progress: Progress) -> StageReport:
    """Make the search_rows artifact.

    :param target: its inputs are the chunks, then the symbols of all buckets in order, then the graph snapshot.
    :raises ArtifactMismatch: if a column is missing or holds nulls.
    """

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        chunks = _concatenate(store, target.inputs, formats.CHUNKS.name, "chunks.parquet", formats.CHUNKS_TABLE)
        progress.begin("search rows", chunks.num_rows)
        writer.mapped_table("rows.arrow", _rows(store, target, chunks), formats.ROWS_TABLE)
        writer.mapped_table("texts.arrow", chunks.select(["text"]), formats.TEXTS_TABLE)
        hashes, rows = _name_lookup(chunks)
        writer.array("names.npy", hashes)
        writer.array("name_rows.npy", rows)
        report.rows = report.computed = chunks.num_rows
        progress.advance(chunks.num_rows)
        progress.end()

    return run_stage(store, target, work)


def _concatenate(
    store: ArtifactStore, refs: Sequence[ArtifactRef], asset: str, file: str, schema: pa.Schema
) -> pa.Table:
    tables = [store.open(ref).table(file, columns=schema.names) for ref in refs if ref.asset == asset]
    return pa.concat_tables([table.cast(schema) for table in tables])


def _rows(store: ArtifactStore, target: Target, chunks: pa.Table) -> pa.Table:
    graph = store.open(target.inputs[-1])
    nodes = graph.table("nodes.parquet", columns=["symbol_id"])
    metrics = graph.table("metrics.parquet", columns=["pagerank_rank", "blast_rank"])
    node = _index_in(chunks["symbol_id"], nodes["symbol_id"])
    blooms = formats.SYMBOLS_TABLE.field("symbol_id"), formats.SYMBOLS_TABLE.field("bloom")
    symbols = _concatenate(store, target.inputs, formats.SYMBOLS.name, "symbols.parquet", pa.schema(blooms))
    columns: dict[str, Any] = {name: chunks[name] for name in _COPIED}
    for name in ("path", "language", "scope", "kind"):
        columns[name] = chunks[name].combine_chunks().dictionary_encode()
    columns["node"] = pa.array(node, pa.int32())
    for name in ("pagerank_rank", "blast_rank"):
        columns[name] = pa.array(_take(metrics[name].to_numpy(), node, np.float32(0)))
    empty = np.zeros(formats.BLOOM_BYTES, np.uint8)
    bloom = _take(_fixed_bytes(symbols["bloom"]), _index_in(chunks["symbol_id"], symbols["symbol_id"]), empty)
    columns["bloom"] = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(formats.BLOOM_BYTES), len(bloom), [None, pa.py_buffer(bloom.tobytes())]
    )
    return pa.table({name: columns[name] for name in formats.ROWS_TABLE.names})


def _index_in(values: pa.ChunkedArray, known: pa.ChunkedArray) -> npt.NDArray[np.int32]:
    """Return the place of each value in `known`, -1 where it is null or unknown."""
    if not len(known):
        return np.full(len(values), -1, np.int32)
    found = pc.index_in(values, value_set=known.combine_chunks(), skip_nulls=True)
    return np.asarray(pc.fill_null(found, -1).to_numpy(), np.int32)


def _fixed_bytes(column: pa.ChunkedArray) -> npt.NDArray[np.uint8]:
    """Return a fixed-size binary column as (rows, width) bytes."""
    array = column.combine_chunks()
    if not len(array):
        return np.zeros((0, array.type.byte_width), np.uint8)
    width = array.type.byte_width
    data = np.frombuffer(array.buffers()[1], np.uint8)[array.offset * width :]
    return data[: len(array) * width].reshape(len(array), width)


def _take(values: npt.NDArray[Any], places: npt.NDArray[np.int32], missing: Any) -> npt.NDArray[Any]:
    """Return values[places], and `missing` where a place is -1."""
    taken = np.empty((len(places), *values.shape[1:]), values.dtype)
    known = places >= 0
    taken[known] = values[places[known]]
    taken[~known] = missing
    return taken


def _name_lookup(chunks: pa.Table) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Return the hashes of every row's folded name and qualified name, sorted, and the row of each."""
    entries: list[tuple[int, int]] = []
    parts, names, qualified = (chunks[name].to_pylist() for name in ("part", "name", "qualified_name"))
    for row, (part, name, full) in enumerate(zip(parts, names, qualified, strict=True)):
        if part == 0 and name:
            entries += [
                (term_hash(item), row) for item in sorted({normalise(text).casefold() for text in (name, full)})
            ]
    entries.sort()
    hashes = np.array([item[0] for item in entries], np.uint64)
    return hashes, np.array([item[1] for item in entries], np.uint32)
