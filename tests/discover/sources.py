"""Small real things for the tests of parsing: files in memory, a bucket's plan, a pool of one parser."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from pipelines.artifacts import Artifact, Target
from pipelines.discover import ParserPool, build_symbols
from pipelines.discover.parsing.parse import ParsedFile, parse_file
from pipelines.errors import Unreadable
from pipelines.identity import path_hash
from pipelines.plan import Inputs, make_plan
from pipelines.progress import Silent
from pipelines.records import Content, ListedFile, Listing
from pipelines.report import StageReport
from pipelines.settings import IndexSettings, Settings
from pipelines.store import ArtifactStore

LANGUAGE_OF = {
    "py": "python",
    "js": "javascript",
    "ts": "typescript",
    "tsx": "tsx",
    "go": "go",
    "java": "java",
    "rs": "rust",
    "c": "c",
    "h": "c",
    "cpp": "cpp",
    "cs": "csharp",
    "kt": "kotlin",
    "php": "php",
    "scala": "scala",
    "swift": "swift",
    "ex": "elixir",
    "hs": "haskell",
    "lua": "lua",
    "rb": "ruby",
    "bats": "shell",
    "sh": "shell",
    "zig": "zig",
}
#: One parser process is enough for small files, whatever the machine.
ONE_WORKER = IndexSettings(workers=1)
BUCKET = "b00"


def parse(path: str, text: str | bytes) -> ParsedFile:
    """Parse a file of the repository `sample`, its language taken from its extension."""
    data = text.encode() if isinstance(text, str) else text
    return parse_file("sample", path, LANGUAGE_OF.get(path.rsplit(".", 1)[-1], ""), data)


def listed(path: str, data: bytes, **changes: Any) -> ListedFile:
    """List a file as git would, as far as the stage can tell."""
    fields: dict[str, Any] = {
        "path": path,
        "blob_id": hashlib.sha1(data).hexdigest(),
        "size": len(data),
        "language": LANGUAGE_OF.get(path.rsplit(".", 1)[-1], ""),
        "scope": "",
        "content": Content.CODE,
    }
    return ListedFile(**(fields | changes))


class MemoryTree:
    """A SourceTree over bytes in memory; a path that maps to None may not be read."""

    def __init__(self, files: Mapping[str, bytes | None]) -> None:
        self.files = files
        self.reads: list[str] = []

    def read(self, file: ListedFile) -> bytes:
        """Return the bytes of a listed file."""
        self.reads.append(file.path)
        data = self.files[file.path]
        if data is None:
            raise Unreadable(f"cannot read {file.path}") from PermissionError(13, "Permission denied")
        return data


def target_of(*files: ListedFile, grammars: str = "grammars") -> Target:
    """Return the target of the one bucket that a repository with these files has."""
    ordered = tuple(sorted(files, key=lambda file: path_hash(file.path)))
    settings = Settings(index=IndexSettings(buckets=1))
    plan = make_plan(Listing("sample", "c0ffee", False, ordered), Inputs(settings, "encoder", grammars))
    return plan.buckets[BUCKET].targets["symbols"]


def build(
    store: ArtifactStore,
    files: Mapping[str, bytes | None],
    pool: ParserPool,
    *,
    listing: tuple[ListedFile, ...] | None = None,
    tree: MemoryTree | None = None,
) -> tuple[StageReport, Artifact]:
    """Make the symbols of files in memory and open them."""
    wanted = listing or tuple(listed(path, data or b"?") for path, data in files.items())
    report = build_symbols(store, target_of(*wanted), wanted, tree or MemoryTree(files), pool, Silent())
    return report, store.open(report.ref)
