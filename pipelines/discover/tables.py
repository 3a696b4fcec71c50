"""The stage that makes `symbols`: one bucket's files, definitions, calls, imports, typings and secret spans.

A file whose blob id, path and language are those of the bucket's last artifact is not read again: its rows are taken
over. What becomes of a file depends on the file alone, so neither reuse nor the number of workers shows in the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.artifacts import Artifact, ArtifactWriter, Target
from pipelines.bloom import rows_that_may_hold
from pipelines.discover.parse import ParsedFile
from pipelines.discover.workers import Job, ParserPool
from pipelines.errors import Unreadable
from pipelines.formats import (
    BLOOM_BYTES,
    CALLS_TABLE,
    FILES_TABLE,
    IMPORTS_TABLE,
    SECRETS_TABLE,
    SYMBOLS_TABLE,
    TYPINGS_TABLE,
)
from pipelines.identity import path_hash
from pipelines.progress import Progress
from pipelines.records import ListedFile, SkipReason, SourceTree
from pipelines.report import StageReport
from pipelines.stage import previous, run_stage
from pipelines.store import ArtifactStore

#: Outcomes that a file's content alone decides, so that they hold for as long as its blob does. A file that crashed its
#: parser is among them: it is not tried again with every run, but with `strata index --full`.
_LASTING = frozenset(
    {
        SkipReason.EMPTY,
        SkipReason.BINARY,
        SkipReason.UNDECODABLE,
        SkipReason.GENERATED,
        SkipReason.TIMED_OUT,
        SkipReason.CRASHED,
    }
)
_TABLES: Mapping[str, pa.Schema] = {
    "symbols": SYMBOLS_TABLE,
    "calls": CALLS_TABLE,
    "imports": IMPORTS_TABLE,
    "secrets": SECRETS_TABLE,
    "typings": TYPINGS_TABLE,
}
#: Where `path` stands among the columns; a ParsedFile's rows leave it out.
_ID_COLUMNS = frozenset({"symbol_id", "caller", "owner", "bloom"})
_ORDER_COLUMN = {"calls": "start_byte", "imports": "line", "secrets": "start_byte", "typings": "start_byte"}
#: Rows and absent words that the false-positive rate of the blooms is measured with.
_BLOOM_SAMPLE_ROWS = 1_000
_BLOOM_PROBES = 64


@dataclass(slots=True)
class _Bucket:
    """The outcome of every listed file: rows of the last artifact, or what the parsers returned."""

    files: list[ListedFile]  # in order of path hash
    reused: dict[str, Mapping[str, Any]]  # path -> row of the last files.parquet
    parsed: dict[str, ParsedFile]
    last: Artifact | None


def build_symbols(
    store: ArtifactStore,
    target: Target,
    files: Sequence[ListedFile],
    tree: SourceTree,
    pool: ParserPool,
    progress: Progress,
) -> StageReport:
    """Make the `symbols` artifact of one bucket.

    :param store: where it goes. :param target: what is to be made. :param files: the bucket's part of the listing.
    :param tree: where their contents are read. :param pool: parses them, opened. :param progress: told each file.
    :raises SourceMoved: if a file is no longer the listed one.
    """

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        bucket = _collect(store, target, files, tree, pool, progress)
        rows = [_file_row(bucket, file) for file in bucket.files]
        tables = {name: _table(bucket, name) for name in _TABLES}
        writer.table("files.parquet", pa.Table.from_pylist(rows, FILES_TABLE), FILES_TABLE)
        for name, table in tables.items():
            writer.table(f"{name}.parquet", table, _TABLES[name])
        _count(writer, report, bucket, rows, tables)

    return run_stage(store, target, work)


def _collect(
    store: ArtifactStore,
    target: Target,
    files: Sequence[ListedFile],
    tree: SourceTree,
    pool: ParserPool,
    progress: Progress,
) -> _Bucket:
    last = previous(store, target)
    bucket = _Bucket(sorted(files, key=lambda file: path_hash(file.path)), {}, {}, last)
    if last is not None:
        known = {row["path"]: row for row in last.table("files.parquet").to_pylist()}
        bucket.reused = {file.path: known[file.path] for file in bucket.files if _reusable(file, known.get(file.path))}
    wanted = [file for file in bucket.files if file.skip_reason is None and file.path not in bucket.reused]

    def jobs() -> Iterator[Job]:
        for file in wanted:
            try:
                yield Job(file.path, file.language, tree.read(file))
            except Unreadable as error:
                cause = error.__cause__
                detail = cause.strerror if isinstance(cause, OSError) and cause.strerror else "cannot be read"
                bucket.parsed[file.path] = ParsedFile.skipped(SkipReason.UNREADABLE, detail)
                progress.advance()

    progress.begin(f"parsing {target.ref.bucket}", len(wanted))
    bucket.parsed |= pool.parse(target.ref.repo, jobs(), sum(file.size for file in wanted), progress.advance)
    progress.end()
    return bucket


def _reusable(file: ListedFile, row: Mapping[str, Any] | None) -> bool:
    return (
        row is not None
        and file.skip_reason is None
        and bool(file.blob_id)
        and (file.blob_id, file.language) == (row["blob_id"], row["language"])
        and (row["skip_reason"] is None or row["skip_reason"] in _LASTING)
    )


def _file_row(bucket: _Bucket, file: ListedFile) -> dict[str, Any]:
    listed: dict[str, Any] = {
        "path": file.path,
        "blob_id": file.blob_id,
        "size": file.size,
        "language": file.language,
        "scope": file.scope,
        "content": file.content.value,
    }
    if file.skip_reason is not None:
        skipped = ParsedFile.skipped(file.skip_reason, file.skip_detail)
        return listed | _outcome(skipped)
    if file.path in bucket.reused:
        row = bucket.reused[file.path]
        return {**row, **listed}
    return listed | _outcome(bucket.parsed[file.path])


def _outcome(parsed: ParsedFile) -> dict[str, Any]:
    return {
        "encoding": parsed.encoding,
        "lines": parsed.lines,
        "error_nodes": parsed.error_nodes,
        "skip_reason": parsed.skip_reason,
        "skip_detail": parsed.skip_detail or None,
    }


def _table(bucket: _Bucket, name: str) -> pa.Table:
    """Return one table of the bucket: rows taken over, rows made now, in the order that `formats` says."""
    schema = _TABLES[name]
    made = _made_rows(bucket, name, schema)
    if bucket.last is not None and bucket.reused:
        old = bucket.last.table(f"{name}.parquet")
        old = old.filter(pc.is_in(old["path"], value_set=pa.array(bucket.reused, pa.string())))
        made = pa.concat_tables([old.cast(schema), made])
    if name == "symbols":
        return made.sort_by("symbol_id")
    rank = pc.index_in(made["path"], value_set=pa.array([file.path for file in bucket.files], pa.string()))
    return (
        made.append_column("rank", rank)
        .sort_by([("rank", "ascending"), (_ORDER_COLUMN[name], "ascending")])
        .drop(["rank"])
    )


def _made_rows(bucket: _Bucket, name: str, schema: pa.Schema) -> pa.Table:
    names = [column for column in schema.names if column != "path"]
    columns: dict[str, list[Any]] = {column: [] for column in schema.names}
    for file in bucket.files:
        parsed = bucket.parsed.get(file.path)
        rows = getattr(parsed, name) if parsed is not None else []
        columns["path"].extend([file.path] * len(rows))
        for column, values in zip(names, zip(*rows, strict=True), strict=False):
            columns[column].extend(values)
    for column in _ID_COLUMNS & columns.keys():
        columns[column] = [None if value is None else bytes.fromhex(value) for value in columns[column]]
    return pa.Table.from_pydict(columns, schema)


def _count(
    writer: ArtifactWriter,
    report: StageReport,
    bucket: _Bucket,
    rows: list[dict[str, Any]],
    tables: Mapping[str, pa.Table],
) -> None:
    indexed = [row for row in rows if row["skip_reason"] is None]
    report.skipped = Counter(row["skip_reason"] for row in rows if row["skip_reason"] is not None)
    report.rows = len(indexed)
    report.reused = sum(row["path"] in bucket.reused for row in indexed)
    report.computed = report.rows - report.reused
    figures: dict[str, Any] = {
        **{name: table.num_rows for name, table in tables.items()},
        "error_nodes": sum(row["error_nodes"] for row in indexed),
        "parse_fallbacks": sum(row["skip_detail"] is not None for row in indexed),
        "encodings": dict(sorted(Counter(row["encoding"] for row in indexed if row["encoding"] != "utf-8").items())),
        "bloom_false_positives": _bloom_false_positives(tables["symbols"]),
    }
    report.extra.update(figures)
    writer.counts.update(figures, files_indexed=report.rows, files_skipped=dict(sorted(report.skipped.items())))


def _bloom_false_positives(symbols: pa.Table) -> float:
    """Return the share of sketches that seem to hold a word which no source has, measured over a sample."""
    sample = symbols["bloom"].slice(0, _BLOOM_SAMPLE_ROWS).to_pylist()
    if not sample:
        return 0.0
    blooms = np.frombuffer(b"".join(sample), np.uint8).reshape(len(sample), BLOOM_BYTES)
    # A space never stands in a word.
    shares = [rows_that_may_hold(blooms, [f"no word {probe}"]).mean() for probe in range(_BLOOM_PROBES)]
    return round(float(np.mean(shares)), 4)
