"""What the tests of reported faults share: repositories of many small files, and what a store holds of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assets_defs.host import StrataHost
from pipelines import formats
from pipelines.artifacts import ArtifactRef
from pipelines.embedding import make_encoder
from pipelines.plan import Plan
from pipelines.progress import Silent
from pipelines.retrieval import Query, Searcher, open_generation
from pipelines.serving.cli import main
from pipelines.settings import Settings
from pipelines.store import ArtifactStore
from resources.bundled import encoder_folder
from resources.environment import Environment
from resources.registry import Entry, Registry
from tests.assets_defs.builders import commit, git
from tests.discover.git_repository import make_repository
from tests.serving.builds import SETTINGS, build, publish, write_files

Files = dict[str, str]
#: What `Built.ask` needs to know of the settings that `build` was given.
CONFIG = """\
[index]
buckets = 4
[embedder]
name = "hash"
dimensions = 64
"""


def make_files(count: int) -> Files:
    """Return Python modules, each of which calls the function of the one before it."""
    return {
        f"pkg/module_{number:03}.py": (
            f"from pkg.module_{max(0, number - 1):03} import step_{max(0, number - 1)}\n\n\n"
            f'def step_{number}(value):\n    """Do step number {number}."""\n'
            f"    return step_{max(0, number - 1)}(value) + {number}\n"
        )
        for number in range(count)
    }


def make_git_repository(root: Path, files: Files) -> Path:
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    write_files(root, files)
    commit(root)
    return root


class Counting(Silent):
    """Adds up the sizes of the pieces of work, by the first word of their label: what a run really did."""

    def __init__(self) -> None:
        self.work: Counter[str] = Counter()

    def begin(self, label: str, total: int) -> None:
        self.work[label.split()[0]] += total


def refs_of(plan: Plan) -> list[ArtifactRef]:
    """Name every artifact of a plan."""
    buckets = [target.ref for bucket in plan.buckets.values() for target in bucket.targets.values()]
    return [*buckets, *(target.ref for target in plan.targets.values())]


def content_of(store: ArtifactStore, plan: Plan) -> dict[str, bytes]:
    """Return every byte of a plan's artifacts, by asset, bucket and file."""
    return {
        f"{ref.asset}/{ref.bucket}/{file.name}": file.read_bytes()
        for ref in refs_of(plan)
        for file in sorted(store.folder(ref).iterdir())
    }


def fresh_content(root: Path, scratch: Path, repo: str = "sample") -> dict[str, bytes]:
    """Return every byte of what a first build of the folder makes, in a store of its own."""
    store = ArtifactStore(scratch)
    return content_of(store, build(root, store, SETTINGS, repo))


def paths_in(store: ArtifactStore, repo: str = "sample") -> set[str]:
    """Return every path that stands in any table of any artifact of a repository."""
    found: set[str] = set()
    for ref in store.artifacts(repo):
        for file in store.folder(ref).iterdir():
            if file.suffix == ".parquet" and "path" in pq.read_schema(file).names:
                found |= set(pq.read_table(file, columns=["path"])["path"].to_pylist())
            elif file.suffix == ".arrow":
                table = store.open(ref).mapped_table(file.name)
                found |= set(table["path"].to_pylist()) if "path" in table.column_names else set()
    return found


def chunks_of(store: ArtifactStore, plan: Plan) -> pa.Table:
    """Return the chunks of all buckets."""
    refs = [bucket.targets[formats.CHUNKS.name].ref for bucket in plan.buckets.values()]
    return pa.concat_tables(store.open(ref).table("chunks.parquet") for ref in refs)


def valid_vectors(store: ArtifactStore, plan: Plan) -> int:
    """Return how many chunks have a vector."""
    refs = [bucket.targets[formats.CHUNK_VECTORS.name].ref for bucket in plan.buckets.values()]
    return sum(int(store.open(ref).array("valid.npy").sum()) for ref in refs)


def found_paths(store: ArtifactStore, plan: Plan, text: str, mode: str = "hybrid") -> list[str]:
    """Publish a plan and return the paths of the hits for a query, best first."""
    document = publish(store, plan)
    with open_generation(store, plan.repo, document.generation) as generation:
        answer = Searcher([generation], None).search(Query(text, mode=mode))  # type: ignore[arg-type]
        return [hit.path for hit in answer.hits]


@dataclass
class Built:
    """An indexed repository: what its artifacts hold, and what `strata query` answers."""

    root: Path
    store: ArtifactStore
    plan: Plan

    def rows(self, asset: str, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table, over all buckets."""
        refs = [bucket.targets[asset].ref for bucket in self.plan.buckets.values()]
        return [row for ref in refs for row in self.store.open(ref).table(f"{table}.parquet").to_pylist()]

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        return {row["path"]: row for row in self.rows("symbols", "files")}

    @property
    def symbols(self) -> list[dict[str, Any]]:
        return self.rows("symbols", "symbols")

    @property
    def chunks(self) -> list[dict[str, Any]]:
        return self.rows("chunks", "chunks")

    def reasons(self) -> dict[str, str | None]:
        """Map every listed file to why it is left out."""
        return {path: row["skip_reason"] for path, row in self.files.items()}

    def names(self, path: str) -> list[str]:
        """Return the qualified names that a file defines, in its order."""
        found = [row for row in self.symbols if row["path"] == path]
        return [row["qualified_name"] for row in sorted(found, key=lambda row: (row["start_byte"], -row["end_byte"]))]

    def edges(self, least: float = 0.0) -> dict[tuple[str, str], int]:
        """Map (caller, callee), by qualified name, to the number of call sites; edges below a confidence left out."""
        graph = self.store.open(self.plan.targets["graph_snapshot"].ref)
        nodes = graph.table("nodes.parquet")["qualified_name"].to_pylist()
        indptr, indices, sites, confidence = (
            graph.array(f"{name}.npy").tolist() for name in ("indptr", "indices", "sites", "confidence")
        )
        return {
            (nodes[caller], nodes[indices[place]]): sites[place]
            for caller in range(len(nodes))
            for place in range(indptr[caller], indptr[caller + 1])
            if confidence[place] >= least
        }

    def ask(self, capsys: pytest.CaptureFixture[str], text: str, *options: str) -> dict[str, Any]:
        """Return the document of `strata query --json`."""
        capsys.readouterr()
        code = main(["query", "--json", *options, "--", text], StrataHost(Environment(self.root)))
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert code == (0 if document.get("hits") else 1), document
        return document

    def hits(self, capsys: pytest.CaptureFixture[str], text: str, *options: str) -> list[dict[str, Any]]:
        """Return the hits of `strata query --json`."""
        found: list[dict[str, Any]] = self.ask(capsys, text, *options)["hits"]
        return found


def index(root: Path, settings: Settings = SETTINGS, *, parser: Sequence[str] | None = None) -> Built:
    """Index a folder into the store inside it and publish, without Dagster: a query cannot tell."""
    store = ArtifactStore(root / ".strata")
    encoder = make_encoder(settings.embedder, encoder_folder())
    plan = build(root, store, settings, "parcels", encoder=encoder, parser=parser)
    publish(store, plan)
    Registry(store.root).update(lambda content: content.with_entry("parcels", Entry(root)))
    return Built(root, store, plan)


def make_case(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Make a git repository of the files, with the settings that `index` uses."""
    return make_repository(root / "parcels", {"strata.toml": CONFIG, **files})
