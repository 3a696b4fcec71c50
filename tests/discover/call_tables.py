"""Symbols artifacts written by hand, and graph_snapshot read back by names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pipelines.artifacts import WHOLE, Artifact, ArtifactRef, Target
from pipelines.discover.graph.snapshot import build_graph
from pipelines.formats import CALLS_TABLE, FILES_TABLE, IMPORTS_TABLE, SECRETS_TABLE, SYMBOLS_TABLE, TYPINGS_TABLE
from pipelines.identity import bucket_keys, bucket_of, make_id, path_hash
from pipelines.progress import Silent
from pipelines.records import CallStrategy
from pipelines.report import StageReport
from pipelines.store import ArtifactStore

REPO = "sample"
LANGUAGES = {
    "py": "python",
    "ts": "typescript",
    "tsx": "tsx",
    "js": "javascript",
    "go": "go",
    "java": "java",
    "rs": "rust",
    "c": "c",
    "h": "c",
    "cpp": "cpp",
    "hpp": "cpp",
    "cs": "csharp",
    "kt": "kotlin",
    "php": "php",
    "scala": "scala",
    "swift": "swift",
    "rb": "ruby",
    "lua": "lua",
    "sh": "shell",
    "bash": "shell",
    "hs": "haskell",
    "ex": "elixir",
    "zig": "zig",
}


@dataclass(frozen=True)
class File:
    """`symbols` are "kind qualified.name" or "kind qualified.name: signature", `calls` (caller, "receiver.name")."""

    path: str
    symbols: tuple[str, ...] = ()
    calls: tuple[tuple[str | None, str], ...] = ()
    imports: tuple[tuple[str, str | None, str | None], ...] = ()
    typings: tuple[tuple[str | None, str, str, str], ...] = ()  # owner, role, name, type


class Edge(NamedTuple):
    strategy: CallStrategy
    confidence: float
    sites: int


@dataclass
class Snapshot:
    """A built graph_snapshot; nodes are named "path:qualified.name"."""

    artifact: Artifact
    report: StageReport
    nodes: list[str] = field(default_factory=list)
    edges: dict[tuple[str, str], Edge] = field(default_factory=dict)

    @property
    def unresolved(self) -> dict[str, int]:
        return dict(self.artifact.counts["unresolved"])

    def callers(self, node: str) -> set[str]:
        return {caller for caller, callee in self.edges if callee == node}

    def bound(self, caller: str) -> dict[str, CallStrategy]:
        return {callee: edge.strategy for (source, callee), edge in self.edges.items() if source == caller}


def build(root: Path, *files: File, buckets: int = 4) -> Snapshot:
    store = ArtifactStore(root)
    store.initialise()
    inputs = tuple(_write(store, bucket, files, buckets) for bucket in bucket_keys(buckets))
    target = Target(ArtifactRef(REPO, "graph_snapshot", WHOLE, f"{buckets:032d}"), "recipe", inputs)
    report = build_graph(store, target, Silent())
    return read(store.verify(target.ref), report)


def read(artifact: Artifact, report: StageReport) -> Snapshot:
    table = artifact.table("nodes.parquet")
    nodes = [
        f"{path}:{name}"
        for path, name in zip(table["path"].to_pylist(), table["qualified_name"].to_pylist(), strict=True)
    ]
    snapshot = Snapshot(artifact, report, nodes)
    indptr = artifact.array("indptr.npy")
    callers = np.repeat(np.arange(len(nodes)), np.diff(indptr))
    columns = (artifact.array(f"{name}.npy") for name in ("indices", "strategy", "confidence", "sites"))
    for caller, callee, strategy, confidence, sites in zip(callers, *columns, strict=True):
        edge = Edge(CallStrategy(int(strategy)), float(confidence), int(sites))
        snapshot.edges[nodes[caller], nodes[callee]] = edge
    return snapshot


def _write(store: ArtifactStore, bucket: str, files: Iterable[File], buckets: int) -> ArtifactRef:
    mine = sorted((file for file in files if bucket_of(file.path, buckets) == bucket), key=lambda f: path_hash(f.path))
    target = Target(ArtifactRef(REPO, "symbols", bucket, f"{buckets:032d}"), "recipe")
    symbols = [row for file in mine for row in _symbols(file)]
    with store.writer(target) as writer:
        writer.table("files.parquet", _table([_file(file) for file in mine], FILES_TABLE), FILES_TABLE)
        rows = sorted(symbols, key=lambda row: row["symbol_id"])
        writer.table("symbols.parquet", _table(rows, SYMBOLS_TABLE), SYMBOLS_TABLE)
        calls = [row for file in mine for row in _calls(file, symbols)]
        writer.table("calls.parquet", _table(calls, CALLS_TABLE), CALLS_TABLE)
        imports = [row for file in mine for row in _imports(file)]
        writer.table("imports.parquet", _table(imports, IMPORTS_TABLE), IMPORTS_TABLE)
        typings = [row for file in mine for row in _typings(file, symbols)]
        writer.table("typings.parquet", _table(typings, TYPINGS_TABLE), TYPINGS_TABLE)
        writer.table("secrets.parquet", SECRETS_TABLE.empty_table(), SECRETS_TABLE)
    return target.ref


def _table(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=schema)


def _file(file: File) -> dict[str, Any]:
    language = LANGUAGES.get(file.path.rpartition(".")[2], "")
    plain = {"blob_id": "0" * 40, "size": 1, "scope": "", "content": "code", "encoding": "utf-8", "lines": 1}
    return {"path": file.path, "language": language, "error_nodes": 0, "recovered": 0, **plain}


def _symbols(file: File) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for line, symbol in enumerate(file.symbols, start=1):
        head, _, signature = symbol.partition(": ")
        kind, qualified = head.split()
        ordinal = seen[head] = seen.get(head, -1) + 1
        rows.append(
            {
                "symbol_id": make_id(REPO, file.path, kind, qualified, ordinal),
                "path": file.path,
                "kind": kind,
                "name": qualified.rpartition(".")[2],
                "qualified_name": qualified,
                "ordinal": ordinal,
                "start_line": line,
                "end_line": line,
                "start_byte": line * 100,
                "end_byte": line * 100 + 99,
                "top_byte": line * 100,
                "signature": signature,
                "doc": "",
                "is_test": False,
                "bloom": bytes(32),
            }
        )
    return rows


def _calls(file: File, symbols: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ids = {row["qualified_name"]: row["symbol_id"] for row in symbols if row["path"] == file.path}
    rows: list[dict[str, Any]] = []
    for place, (caller, text) in enumerate(file.calls):
        cut = max(text.rfind("."), text.rfind("::") + 1, text.rfind("->") + 1)
        receiver = text[:cut].removesuffix(":").removesuffix("-") if cut > 0 else None
        name = text[cut + 1 :] if cut > 0 else text
        caller_id = None if caller is None else ids[caller]
        line = {"line": place + 1, "start_byte": place}
        rows.append({"path": file.path, "caller": caller_id, "name": name, "receiver": receiver, **line})
    return rows


def _imports(file: File) -> list[dict[str, Any]]:
    return [
        {"path": file.path, "module": module, "name": name, "alias": alias, "line": line}
        for line, (module, name, alias) in enumerate(file.imports, start=1)
    ]


def _typings(file: File, symbols: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ids = {row["qualified_name"]: row["symbol_id"] for row in symbols if row["path"] == file.path}
    return [
        {
            "path": file.path,
            "owner": None if owner is None else ids[owner],
            "role": role,
            "name": name,
            "type": written,
            "start_byte": place,
        }
        for place, (owner, role, name, written) in enumerate(file.typings)
    ]
