"""What the tests of reported faults share: repositories of many small files, and what a store holds of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines import formats
from pipelines.artifacts import ArtifactRef
from pipelines.plan import Plan
from pipelines.progress import Silent
from pipelines.retrieval import Query, Searcher, open_generation
from pipelines.store import ArtifactStore
from tests.assets_defs.builders import commit, git
from tests.serving.builds import SETTINGS, build, publish, write_files

Files = dict[str, str]


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
