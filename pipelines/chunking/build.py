"""The chunks artifact of one bucket. In: the bucket's symbols and the files. Out: the rows that are searched.

A file whose content, language and scope are those of the previous artifact gives the rows it gave there, unread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines import formats
from pipelines.artifacts import Artifact, ArtifactWriter, Target
from pipelines.chunking.definitions import SymbolRow
from pipelines.chunking.rows import FileChunks, QuarantineRow, chunk_file
from pipelines.chunking.source import SecretSpans
from pipelines.decode import NotText
from pipelines.errors import ArtifactMismatch, SourceMoved
from pipelines.file_text import FileText, read_text
from pipelines.identity import path_hash
from pipelines.progress import Progress
from pipelines.records import ChunkKind, Content, ListedFile, SourceTree
from pipelines.report import StageReport
from pipelines.settings import ChunkingSettings
from pipelines.stage import previous, run_stage
from pipelines.store import ArtifactStore

_FILE_COLUMNS = ["path", "blob_id", "size", "language", "scope", "content", "skip_reason"]
_SYMBOL_COLUMNS = [
    *("path", "symbol_id", "kind", "name", "qualified_name", "ordinal"),
    *("start_byte", "end_byte", "top_byte", "signature", "doc", "is_test"),
]
_SECRET_COLUMNS = ["path", "start_byte", "end_byte", "detector"]
#: What a file's rows are made from, besides the settings and the recipe of its symbols.
_REUSE_KEY = ("path", "blob_id", "language", "scope", "content")
_COUNTS = ("chunks", "blank", "secret")


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is taken from the previous artifact: counts by path of unchanged files, and their rows."""

    files: dict[str, tuple[int, ...]] = field(default_factory=dict)
    chunks: pa.Table = field(default_factory=formats.CHUNKS_TABLE.empty_table)
    quarantine: pa.Table = field(default_factory=formats.QUARANTINE_TABLE.empty_table)


def build_chunks(
    store: ArtifactStore, target: Target, tree: SourceTree, settings: ChunkingSettings, progress: Progress
) -> StageReport:
    """Make the chunks artifact of one bucket.

    :param target: its input is the bucket's symbols artifact. :param tree: where the files are read.
    :raises SourceMoved: if a file is no longer what the symbols were taken from.
    :raises ArtifactMismatch: if two chunks have one id.
    """

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        symbols = store.open(target.inputs[0])
        files = [_listed_file(row) for row in symbols.table("files.parquet", _FILE_COLUMNS).to_pylist()]
        files = [file for file in files if file.skip_reason is None]
        kept = _kept(store, target, symbols, files)
        progress.begin(f"chunks {target.ref.bucket}", len(files))
        progress.advance(len(kept.files))
        fresh: dict[str, FileChunks] = {}
        for file, rows, secrets in _inputs(symbols, [file for file in files if file.path not in kept.files]):
            fresh[file.path] = chunk_file(target.ref.repo, file, _read(tree, file), rows, secrets, settings)
            progress.advance()
        progress.end()
        writer.facts["symbols_recipe"] = symbols.recipe
        _write(writer, report, files, kept, fresh)

    return run_stage(store, target, work)


def _listed_file(row: Mapping[str, Any]) -> ListedFile:
    return ListedFile(**{**row, "content": Content(row["content"])})


def _kept(store: ArtifactStore, target: Target, symbols: Artifact, files: Iterable[ListedFile]) -> _Kept:
    """Return what is unchanged: nothing if the symbols were taken by another parser or another scan for secrets."""
    artifact = previous(store, target)
    if artifact is None or artifact.facts.get("symbols_recipe") != symbols.recipe:
        return _Kept()
    wanted = {tuple(getattr(file, name) for name in _REUSE_KEY) for file in files}
    unchanged = {
        row["path"]: tuple(row[name] for name in _COUNTS)
        for row in artifact.table("files.parquet").to_pylist()
        if tuple(row[name] for name in _REUSE_KEY) in wanted
    }
    return _Kept(
        unchanged,
        _of_paths(artifact.table("chunks.parquet").cast(formats.CHUNKS_TABLE), unchanged),
        _of_paths(artifact.table("quarantine.parquet").cast(formats.QUARANTINE_TABLE), unchanged),
    )


def _inputs(
    symbols: Artifact, files: Sequence[ListedFile]
) -> Iterator[tuple[ListedFile, Sequence[SymbolRow], SecretSpans]]:
    paths = [file.path for file in files]
    definitions = _by_path(symbols.table("symbols.parquet", _SYMBOL_COLUMNS), paths)
    secrets = _by_path(symbols.table("secrets.parquet", _SECRET_COLUMNS), paths)
    for file in files:
        spans = [(row["start_byte"], row["end_byte"], row["detector"]) for row in secrets[file.path]]
        yield file, [_symbol_row(row) for row in definitions[file.path]], SecretSpans(spans)


def _by_path(table: pa.Table, paths: Iterable[str]) -> Mapping[str, list[Mapping[str, Any]]]:
    grouped: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in _of_paths(table, paths).to_pylist():
        grouped[row["path"]].append(row)
    return grouped


def _of_paths(table: pa.Table, paths: Iterable[str]) -> pa.Table:
    return table.filter(pc.is_in(table["path"], value_set=pa.array(list(paths), pa.string())))


def _symbol_row(row: Mapping[str, Any]) -> SymbolRow:
    return SymbolRow(
        symbol_id=row["symbol_id"],
        kind=ChunkKind(row["kind"]),
        name=row["name"],
        qualified_name=row["qualified_name"],
        ordinal=row["ordinal"],
        start=row["start_byte"],
        end=row["end_byte"],
        top=row["top_byte"],
        signature=row["signature"],
        doc=row["doc"],
        is_test=row["is_test"],
    )


def _read(tree: SourceTree, file: ListedFile) -> FileText:
    text = read_text(file.language, tree.read(file))
    if isinstance(text, NotText):
        raise SourceMoved(f"{file.path} was text and no longer is: {text.detail}", hint="run `strata index` again")
    return text


def _write(
    writer: ArtifactWriter,
    report: StageReport,
    files: Sequence[ListedFile],
    kept: _Kept,
    fresh: Mapping[str, FileChunks],
) -> None:
    computed = _table([row for item in fresh.values() for row in item.rows], formats.CHUNKS_TABLE)
    chunks = pa.concat_tables([kept.chunks, computed])
    chunks = chunks.take(pc.sort_indices(chunks["chunk_id"])).combine_chunks()
    _require_unique(chunks)
    quarantine = [row for item in fresh.values() for row in item.quarantine]
    quarantine += [QuarantineRow(**row) for row in kept.quarantine.to_pylist()]
    quarantine.sort(key=lambda row: (path_hash(row.path), row))
    counts = {**kept.files, **{path: (len(item.rows), item.blank, item.secret) for path, item in fresh.items()}}
    rows = [(*(getattr(file, name) for name in _REUSE_KEY), *counts[file.path]) for file in files]
    table = _table(rows, formats.CHUNKED_FILES_TABLE)
    writer.table("chunks.parquet", chunks, formats.CHUNKS_TABLE)
    writer.table("quarantine.parquet", _table(quarantine, formats.QUARANTINE_TABLE), formats.QUARANTINE_TABLE)
    writer.table("files.parquet", table, formats.CHUNKED_FILES_TABLE)
    report.reused, report.computed = kept.chunks.num_rows, computed.num_rows
    _count(writer, report, chunks, table)


def _table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema.names)
    return pa.table(dict(zip(schema.names, columns, strict=True)), schema=schema)


def _require_unique(chunks: pa.Table) -> None:
    ids = chunks["chunk_id"].to_pylist()
    for place in range(1, len(ids)):
        if ids[place - 1] == ids[place]:
            pair = chunks.slice(place - 1, 2).select(["path", "kind", "qualified_name", "start_line"]).to_pylist()
            named = " and ".join(
                f"{row['kind']} {row['qualified_name']!r} at {row['path']}:{row['start_line']}" for row in pair
            )
            raise ArtifactMismatch(f"two chunks have the id {ids[place].hex()}: {named}")


def _count(writer: ArtifactWriter, report: StageReport, chunks: pa.Table, files: pa.Table) -> None:
    kinds = {item["values"]: item["counts"] for item in pc.value_counts(chunks["kind"]).to_pylist()}
    kinds = dict(sorted(kinds.items()))
    skipped = {name: pc.sum(files[name]).as_py() or 0 for name in ("blank", "secret")}
    chars = pc.utf8_length(chunks["text"])
    report.rows = chunks.num_rows
    report.skipped.update({name: count for name, count in skipped.items() if count})
    report.extra = {
        "files": files.num_rows,
        "chars_mean": round(pc.mean(chars).as_py() or 0.0, 1),
        "chars_max": pc.max(chars).as_py() or 0,
        "kinds": kinds,
    }
    writer.counts.update(rows=chunks.num_rows, files=files.num_rows, kinds=kinds, skipped=skipped)
