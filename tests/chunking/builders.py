"""Small real inputs for the chunkers: Python files with their symbols, a bucket of files in memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipelines import formats
from pipelines.artifacts import Artifact, ArtifactWriter
from pipelines.chunking import build_chunks, build_segment
from pipelines.chunking.definitions import SymbolRow
from pipelines.chunking.rows import FileChunks, chunk_file
from pipelines.chunking.source import SecretSpans
from pipelines.file_text import FileText
from pipelines.identity import make_id, path_hash
from pipelines.plan import BucketPlan, Inputs, make_plan
from pipelines.progress import Silent
from pipelines.records import ChunkKind, Content, ListedFile, Listing, SkipReason
from pipelines.report import StageReport
from pipelines.settings import ChunkingSettings, IndexSettings, Settings
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore

ROOT = Path(__file__).parents[2]
REPO = "sample"
SMALL = ChunkingSettings(max_chars=200, min_chars=10)
#: (start byte, end byte, detector)
Secret = tuple[int, int, str]


def listed(path: str, language: str = "python", content: Content = Content.CODE, blob: str = "") -> ListedFile:
    return ListedFile(path, blob or path, 1, language, "", content)


def symbol(
    text: str,
    first: str,
    last: str,
    name: str,
    kind: ChunkKind = ChunkKind.FUNCTION,
    path: str = "a.py",
    ordinal: int = 0,
    doc: str = "",
) -> SymbolRow:
    """Make a symbol from the first place of `first` to the end of the first `last` after it."""
    begin = text.index(first)
    end = text.index(last, begin) + len(last)
    return SymbolRow(
        symbol_id=make_id(REPO, path, kind, name, ordinal),
        kind=kind,
        name=name.rpartition(".")[2],
        qualified_name=name,
        ordinal=ordinal,
        start=len(text[:begin].encode()),
        end=len(text[:end].encode()),
        top=_top(text.encode(), len(text[:begin].encode())),
        signature=" ".join(first.split()),
        doc=doc,
        is_test=False,
    )


def python_symbols(text: str, path: str) -> list[SymbolRow]:
    """Take the functions, methods and classes of a Python file from its syntax tree."""
    lines = text.encode().split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found: list[SymbolRow] = []
    for names, node in _definitions(ast.parse(text), ()):
        kind = ChunkKind.CLASS if isinstance(node, ast.ClassDef) else ChunkKind.FUNCTION
        qualified = ".".join(names)
        ordinal = sum(item.qualified_name == qualified and item.kind == kind for item in found)
        head = min((node, *node.decorator_list), key=lambda item: item.lineno)
        begin = starts[head.lineno - 1] + head.col_offset - (head is not node)
        end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        signature = " ".join(lines[node.lineno - 1].decode().split()).rstrip(":")
        doc = ast.get_docstring(node) or ""
        identity = make_id(REPO, path, kind, qualified, ordinal)
        is_test = names[-1].startswith("test_")
        top = _top(text.encode(), begin)
        found.append(SymbolRow(identity, kind, names[-1], qualified, ordinal, begin, end, top, signature, doc, is_test))
    return found


def _top(data: bytes, start: int) -> int:
    """Return where the comment lines directly above a definition begin."""
    top = start
    line = data.rfind(b"\n", 0, start) + 1
    while line > 0:
        above = data.rfind(b"\n", 0, line - 1) + 1
        if not data[above:line].lstrip().startswith((b"#", b"//", b"/*", b"*")):
            break
        top = above + len(data[above:line]) - len(data[above:line].lstrip())
        line = above
    return top


_Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _definitions(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], _Node]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Node):
            yield (*names, child.name), child
            yield from _definitions(child, (*names, child.name))
        else:
            yield from _definitions(child, names)


def chunk_python(
    text: str,
    path: str = "a.py",
    settings: ChunkingSettings | None = None,
    secrets: Sequence[Secret] = (),
    symbols: Sequence[SymbolRow] | None = None,
) -> FileChunks:
    rows = python_symbols(text, path) if symbols is None else symbols
    return chunk_file(REPO, listed(path), FileText(text), rows, SecretSpans(secrets), settings or ChunkingSettings())


def chunk_text(
    text: str,
    language: str,
    content: Content = Content.TEXT,
    settings: ChunkingSettings | None = None,
    secrets: Sequence[Secret] = (),
) -> FileChunks:
    file = listed("a.txt", language, content)
    return chunk_file(REPO, file, FileText(text), (), SecretSpans(secrets), settings or ChunkingSettings())


def secret_at(text: str, secret: str, detector: str = "token") -> Secret:
    begin = len(text[: text.index(secret)].encode())
    return begin, begin + len(secret.encode()), detector


@dataclass
class Bucket:
    """A repository of one bucket whose files are in memory; editing `contents` and building again is an edit."""

    store: ArtifactStore
    contents: dict[str, bytes] = field(default_factory=dict)
    languages: Mapping[str, str] = field(default_factory=lambda: {"py": "python", "md": "markdown"})
    secrets: dict[str, list[Secret]] = field(default_factory=dict)
    settings: ChunkingSettings = field(default_factory=ChunkingSettings)
    grammars: str = "grammars"
    skipped: set[str] = field(default_factory=set)
    reads: list[str] = field(default_factory=list)
    symbol_edits: Mapping[str, Any] = field(default_factory=dict)

    def read(self, file: ListedFile) -> bytes:
        self.reads.append(file.path)
        return self.contents[file.path]

    def plan(self) -> BucketPlan:
        settings = Settings(index=IndexSettings(buckets=1), chunking=self.settings)
        files = tuple(self._file(path) for path in sorted(self.contents, key=path_hash))
        plan = make_plan(Listing(REPO, "c0ffee", False, files), Inputs(settings, "encoder", self.grammars))
        return plan.buckets["b00"]

    def build(self) -> StageReport:
        self.reads.clear()
        plan = self.plan()
        self.make_symbols(plan)
        return build_chunks(self.store, plan.targets["chunks"], self, self.settings, Silent())

    def build_segment(self) -> StageReport:
        return build_segment(self.store, self.plan().targets["lexical_segments"], Silent())

    def chunks(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.artifact("chunks").table("chunks.parquet").to_pylist()
        return rows

    def artifact(self, asset: str) -> Artifact:
        return self.store.open_head(REPO, asset, "b00")

    def _file(self, path: str) -> ListedFile:
        language = self.languages.get(path.rpartition(".")[2], "")
        content = {"": Content.TEXT, "markdown": Content.DOCS}.get(language, Content.CODE)
        file = listed(path, language, content, blob=self.contents[path].hex())
        return replace(file, skip_reason=SkipReason.BINARY) if path in self.skipped else file

    def make_symbols(self, plan: BucketPlan) -> None:
        """Write the symbols artifact that discover would make of the Python files."""

        def work(writer: ArtifactWriter, report: StageReport) -> None:
            rows: dict[str, list[dict[str, Any]]] = {"files": [], "symbols": [], "secrets": []}
            for file in plan.files:
                rows["files"].append(_file_row(file))
                rows["secrets"] += [_secret_row(file.path, *span) for span in self.secrets.get(file.path, ())]
                if file.language == "python" and file.skip_reason is None:
                    text = self.contents[file.path].decode()
                    rows["symbols"] += [_symbol_row(file.path, item) for item in python_symbols(text, file.path)]
            rows["symbols"].sort(key=lambda row: row["symbol_id"])
            schemas = (formats.FILES_TABLE, formats.SYMBOLS_TABLE, formats.SECRETS_TABLE)
            for (name, items), schema in zip(rows.items(), schemas, strict=True):
                items = [{**item, **self.symbol_edits} if name == "symbols" else item for item in items]
                writer.table(f"{name}.parquet", pa.Table.from_pylist(items, schema=schema), schema)
            report.rows = report.computed = len(rows["symbols"])

        run_stage(self.store, plan.targets["symbols"], work)


def _file_row(file: ListedFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "blob_id": file.blob_id,
        "size": file.size,
        "language": file.language,
        "scope": file.scope,
        "content": file.content.value,
        "encoding": "utf-8",
        "lines": 1,
        "error_nodes": 0,
        "recovered": 0,
        "skip_reason": file.skip_reason and file.skip_reason.value,
        "skip_detail": None,
    }


def _secret_row(path: str, start: int, end: int, detector: str) -> dict[str, Any]:
    return {
        "path": path,
        "start_byte": start,
        "end_byte": end,
        "start_line": 1,
        "end_line": 1,
        "detector": detector,
    }


def _symbol_row(path: str, item: SymbolRow) -> dict[str, Any]:
    return {
        "symbol_id": item.symbol_id,
        "path": path,
        "kind": item.kind.value,
        "name": item.name,
        "qualified_name": item.qualified_name,
        "ordinal": item.ordinal,
        "start_line": 1,
        "end_line": 1,
        "start_byte": item.start,
        "end_byte": item.end,
        "top_byte": item.top,
        "signature": item.signature,
        "doc": item.doc,
        "is_test": item.is_test,
        "bloom": bytes(formats.BLOOM_BYTES),
    }


def make_bucket(folder: Path, **contents: str) -> Bucket:
    """Make a bucket from texts; `a__py` stands for the path a.py."""
    store = ArtifactStore(folder / "store")
    store.initialise()
    return Bucket(store, {path.replace("__", "."): text.encode() for path, text in contents.items()})
