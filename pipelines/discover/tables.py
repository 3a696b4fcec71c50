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
from pipelines.discover.details import safe_detail
from pipelines.discover.parsing.parse import OUTCOME_COLUMNS, Outcome
from pipelines.discover.processes.unpacking import TABLES
from pipelines.discover.processes.workers import Job, ParserPool
from pipelines.errors import Unreadable
from pipelines.formats import BLOOM_BYTES, FILES_TABLE
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
        SkipReason.MALFORMED,
        SkipReason.TOO_LARGE,
        SkipReason.GENERATED,
        SkipReason.TIMED_OUT,
        SkipReason.CRASHED,
    }
)
_ORDER_COLUMN = {"calls": "start_byte", "imports": "line", "secrets": "start_byte", "typings": "start_byte"}
#: Rows and absent words that the false-positive rate of the blooms is measured with.
_BLOOM_SAMPLE_ROWS = 1_000
_BLOOM_PROBES = 64


@dataclass(slots=True)
class _Bucket:
    """The outcome of every listed file: rows of the last artifact, or what the parsers returned."""

    files: list[ListedFile]  # in order of path hash
    reused: dict[str, Mapping[str, Any]]  # path -> row of the last files.parquet
    outcomes: dict[str, Outcome]
    made: Mapping[str, pa.Table]
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
        tables = {name: _table(bucket, name) for name in TABLES}
        writer.table("files.parquet", pa.Table.from_pylist(rows, FILES_TABLE), FILES_TABLE)
        for name, table in tables.items():
            writer.table(f"{name}.parquet", table, TABLES[name])
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
    ordered = sorted(files, key=lambda file: path_hash(file.path))
    reused = _outcomes_of(last, ordered)
    wanted = [file for file in ordered if file.skip_reason is None and file.path not in reused]
    unreadable: dict[str, Outcome] = {}

    def jobs() -> Iterator[Job]:
        for file in wanted:
            try:
                yield Job(file.path, file.language, tree.read(file))
            except Unreadable as error:
                unreadable[file.path] = Outcome.skipped(SkipReason.UNREADABLE, unreadable_detail(error))
                progress.advance()

    progress.begin(f"parsing {target.ref.bucket}", len(wanted))
    parsed = pool.parse(target.ref.repo, jobs(), sum(file.size for file in wanted), progress.advance)
    progress.end()
    return _Bucket(ordered, reused, unreadable | parsed.outcomes, parsed.tables, last)


def known_outcomes(store: ArtifactStore, target: Target, files: Sequence[ListedFile]) -> dict[str, Mapping[str, Any]]:
    """Return, by path, the rows of files.parquet that a build of the bucket would take over."""
    return _outcomes_of(previous(store, target), files)


def _outcomes_of(last: Artifact | None, files: Sequence[ListedFile]) -> dict[str, Mapping[str, Any]]:
    if last is None:
        return {}
    known = {row["path"]: row for row in last.table("files.parquet").to_pylist()}
    for row in known.values():
        row["skip_detail"] = safe_detail(row["skip_detail"] or "") or None
    return {file.path: known[file.path] for file in files if _reusable(file, known.get(file.path))}


def unreadable_detail(error: Unreadable) -> str:
    """Say why a file could not be read, in the words of the system."""
    cause = error.__cause__
    return cause.strerror if isinstance(cause, OSError) and cause.strerror else "cannot be read"


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
        return listed | _columns(Outcome.skipped(file.skip_reason, file.skip_detail))
    if file.path in bucket.reused:
        row = bucket.reused[file.path]
        return {**row, **listed}
    return listed | _columns(bucket.outcomes[file.path])


def _columns(outcome: Outcome) -> dict[str, Any]:
    return {**{name: getattr(outcome, name) for name in OUTCOME_COLUMNS}, "skip_detail": outcome.skip_detail or None}


def _table(bucket: _Bucket, name: str) -> pa.Table:
    """Return one table of the bucket: rows taken over, rows made now, in the order that `formats` says."""
    made = bucket.made[name]
    if bucket.last is not None and bucket.reused:
        old = bucket.last.table(f"{name}.parquet")
        old = old.filter(pc.is_in(old["path"], value_set=pa.array(bucket.reused, pa.string())))
        made = pa.concat_tables([old.cast(made.schema), made])
    if name == "symbols":
        return made.sort_by("symbol_id")
    rank = pc.index_in(made["path"], value_set=pa.array([file.path for file in bucket.files], pa.string()))
    return (
        made.append_column("rank", rank)
        .sort_by([("rank", "ascending"), (_ORDER_COLUMN[name], "ascending")])
        .drop(["rank"])
    )


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
        "recovered": sum(row["recovered"] for row in indexed),
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
