from __future__ import annotations

from pathlib import Path

from pipelines.store import ArtifactStore
from resources.registry import Entry, Registry
from tests.bench.determinism import WAYS, ask_twice
from tests.cases.builders import make_files, make_git_repository
from tests.serving.builds import build, publish


def test_processes_that_hash_differently_print_the_same(tmp_path: Path) -> None:
    root = make_git_repository(tmp_path / "parcels", make_files(40))
    store = ArtifactStore(tmp_path / "store")
    publish(store, build(root, store, repo="parcels"))
    Registry(store.root).update(lambda content: content.with_entry("parcels", Entry(root)))
    texts = ("step 7", "do step number", "step_12", "module value", "where is step_3 called", "pkg.module_020")
    queries = [text for text in texts for _ in WAYS]
    first, second = ask_twice(store.root, "parcels", queries)
    assert len(first) == len(queries)
    assert {line[0] for line in first} <= {"0", "1"}
    assert sum(line[0] == "0" for line in first) > len(queries) // 2
    assert first == second
