"""Faults of incremental runs that users of other indexers reported, as what must hold here."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from assets_defs import upkeep
from assets_defs.indexing import index_repository
from assets_defs.opening import open_index
from pipelines import formats
from pipelines.errors import EncoderError
from pipelines.fingerprint import fingerprint
from pipelines.progress import Silent
from pipelines.records import Encoder
from pipelines.retrieval import Query
from pipelines.serving.cli.host import IndexOutcome
from pipelines.settings import Settings, parse_settings
from pipelines.store import ArtifactStore
from resources.environment import Environment
from resources.workspace import Workspace
from tests.assets_defs.builders import CONFIG, DAGSTER_S_OWN, commit, git, index_path, make_repository, workspace_of
from tests.cases.builders import (
    Counting,
    chunks_of,
    content_of,
    found_paths,
    fresh_content,
    make_files,
    make_git_repository,
    paths_in,
    refs_of,
    valid_vectors,
)
from tests.serving.builds import SETTINGS, build, publish, write_files

pytestmark = pytest.mark.filterwarnings(*DAGSTER_S_OWN)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "store")


def test_deleted_renamed_and_emptied_files_leave_no_row_in_any_table(tmp_path: Path, store: ArtifactStore) -> None:
    """55"""
    root = make_git_repository(tmp_path / "code", make_files(20))
    publish(store, build(root, store), keep=1)
    removed = [f"pkg/module_{number:03}.py" for number in (3, 4, 17)]
    git(root, "rm", "-q", *removed)
    git(root, "mv", "pkg/module_009.py", "pkg/renamed.py")
    write_files(root, {"pkg/module_012.py": ""})
    plan = build(root, store)
    publish(store, plan, keep=1)
    listed = {file.path: file.skip_reason for file in plan.listing.files}
    assert listed["pkg/module_012.py"] == "empty"
    assert paths_in(store) == set(listed)
    assert not {*removed, "pkg/module_009.py"} & set(listed)
    assert "pkg/module_012.py" not in chunks_of(store, plan)["path"].to_pylist()
    assert "pkg/renamed.py" in chunks_of(store, plan)["path"].to_pylist()
    assert content_of(store, plan) == fresh_content(root, tmp_path / "fresh")


def test_a_bucket_that_lost_its_last_file_is_empty(tmp_path: Path, store: ArtifactStore) -> None:
    """55"""
    root = make_git_repository(tmp_path / "code", make_files(2))
    first = build(root, store)
    (bucket,) = (key for key, item in first.buckets.items() if item.files and item.files[0].path.endswith("_001.py"))
    git(root, "rm", "-q", "pkg/module_001.py")
    plan = build(root, store)
    counts = {name: store.open(target.ref).counts["rows"] for name, target in plan.buckets[bucket].targets.items()}
    assert plan.changed_buckets(store) == []
    assert counts == dict.fromkeys(counts, 0)


def test_a_branch_switch_redoes_the_files_that_differ_and_ends_as_a_fresh_build(
    tmp_path: Path, store: ArtifactStore
) -> None:
    """57"""
    root = make_git_repository(tmp_path / "code", make_files(30))
    at_main = build(root, store)
    publish(store, at_main)
    git(root, "checkout", "-q", "-b", "feat")
    write_files(
        root, {f"pkg/module_{number:03}.py": f"def feature_{number}(): return {number}\n" for number in range(5)}
    )
    commit(root)
    there = Counting()
    publish(store, build(root, store, progress=there), keep=1)
    assert (there.work["parsing"], there.work["embedding"]) == (5, 5)
    git(root, "checkout", "-q", "main")
    back = Counting()
    again = build(root, store, progress=back)
    publish(store, again)
    assert (back.work["parsing"], back.work["embedding"]) == (5, 5)
    assert again.generation == at_main.generation
    assert content_of(store, again) == fresh_content(root, tmp_path / "fresh")


def test_a_generation_that_is_still_there_is_served_again_without_work(tmp_path: Path, store: ArtifactStore) -> None:
    """57: a switch to the branch before and back."""
    root = make_git_repository(tmp_path / "code", make_files(10))
    publish(store, build(root, store))
    git(root, "checkout", "-q", "-b", "feat")
    write_files(root, {"pkg/module_000.py": "def feature(): return 1\n"})
    commit(root)
    publish(store, build(root, store))
    git(root, "checkout", "-q", "main")
    counting = Counting()
    publish(store, build(root, store, progress=counting))
    assert counting.work.total() == 0


class Failing:
    """An encoder that fails on one text."""

    name = "hash"
    dimensions = 64
    digest = fingerprint("failing")

    def __init__(self, bad: str = "reserve") -> None:
        self._bad = bad

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if any(self._bad in text for text in texts):
            raise EncoderError("the model gave up")
        return np.full((len(texts), self.dimensions), 1 / 8, np.float32)

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        vector: npt.NDArray[np.float32] = self.encode([text])[0]
        return vector


class OtherEncoder(Workspace):
    """A workspace whose encoder is given."""

    given: Encoder

    def encoder(self, key: str) -> Encoder:
        return self.given


def index_with(root: Path, encoder: Encoder) -> IndexOutcome:
    workspace = OtherEncoder(workspace_of(root).deployment, progress=Silent())
    workspace.given = encoder
    with workspace:
        return index_repository(workspace, workspace.repository("parcels"))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[IndexOutcome, dict[str, int], str]]]:
    """A repository that was indexed with flags, without them, and after an edit on another branch.

    Returned with the outcome, the counts and the state that `strata status` then tells, after each run.
    """
    root = make_repository(tmp_path_factory.mktemp("told") / "parcels")
    (root / "strata.toml").write_text(CONFIG + "[artifacts]\nkeep = 1\n")
    (root / ".gitignore").write_text("*.log\n")
    (root / "logo.png").write_bytes(b"\x89PNG\r\n")
    commit(root)
    runs = []

    def run(**request: Any) -> None:
        outcome = index_path(root, **request)
        (status,) = upkeep.status(Environment(root), ())
        assert status.pointer is not None
        assert status.pointer.commit == outcome.commit
        assert not status.pointer.dirty
        runs.append((outcome, dict(status.counts), status.state))

    run(overrides={"embedder": {"dimensions": 128}})
    run()
    git(root, "checkout", "-q", "-b", "feat")
    write_files(root, {"pricing.py": "def other_price(net):\n    return net\n\n\ndef third(net):\n    return net\n"})
    commit(root)
    run()
    return root, runs


Told = tuple[Path, list[tuple[IndexOutcome, dict[str, int], str]]]


def test_status_tells_the_last_run_whatever_it_had_to_do(told: Told) -> None:
    """57, 61"""
    _, runs = told
    for outcome, counts, state in runs:
        assert outcome.published
        assert state == "ready"
        assert counts == {
            "files": outcome.files_indexed,
            "symbols": outcome.symbols,
            "chunks": outcome.chunks,
            "vectors": outcome.vectors_total,
            "quarantined": outcome.quarantined_pieces,
        }
    assert len({outcome.generation for outcome, _, _ in runs}) == 3
    assert runs[2][1]["symbols"] == runs[1][1]["symbols"] + 1
    assert runs[2][0].buckets_computed == 1


def test_what_the_index_does_not_cover_makes_nothing_stale(told: Told) -> None:
    """61"""
    root, _ = told
    (root / "run.log").write_text("ignored by git")
    (root / "logo.png").write_bytes(b"\x89PNG\r\nanother picture")
    assert upkeep.status(Environment(root), ())[0].state == "ready"
    outcome = index_path(root)
    assert outcome.buckets_computed == 0


def test_every_chunk_has_its_vector_whatever_flags_the_run_before_had(told: Told) -> None:
    """62"""
    for outcome, counts, _ in told[1]:
        assert outcome.vectors_total == outcome.chunks == counts["vectors"] > 0


def test_every_listed_file_is_indexed_or_counted_with_its_reason(told: Told) -> None:
    """60"""
    root, runs = told
    listed = subprocess.check_output(["git", "-C", root, "ls-files"], text=True).split()
    for outcome, _, _ in runs:
        assert outcome.files_skipped == {"unsupported": 1}
        assert outcome.files_indexed == len(listed) - 1


def test_a_failing_encoder_fails_the_run_and_leaves_what_was_served(told: Told) -> None:
    """60"""
    root, _ = told
    before = workspace_of(root).store.pointer("parcels")
    with pytest.raises(EncoderError, match="the model gave up"):
        index_with(root, Failing())
    assert workspace_of(root).store.pointer("parcels") == before
    assert upkeep.status(Environment(root), ())[0].state == "ready"
    assert open_index(Environment(root), ()).searcher.search(Query("reserve")).hits


def test_a_limit_that_would_skip_every_file_is_refused() -> None:
    """60"""
    for key in ("max_file_bytes", "max_text_bytes"):
        with pytest.raises(Exception, match=rf"index\.{key} = 0 is not allowed"):
            parse_settings(f"[index]\n{key} = 0\n", "strata.toml")
    assert Settings().index.max_file_bytes > Settings().index.max_text_bytes > 0


TWINS = {
    "a/LICENSE": "Permission is granted to anyone to use this parcel.\n",
    "b/LICENSE": "Permission is granted to anyone to use this parcel.\n",
    "x.py": "def same(value):\n    return value * 42\n",
    "y.py": "def same(value):\n    return value * 42\n",
    "twice.py": "if True:\n    def again(): return 7\nelse:\n    def again(): return 7\n",
}


def test_equal_files_and_functions_have_rows_of_their_own_and_share_one_vector(
    tmp_path: Path, store: ArtifactStore
) -> None:
    """63"""
    root = make_git_repository(tmp_path / "code", TWINS)
    counting = Counting()
    plan = build(root, store, progress=counting)
    chunks = chunks_of(store, plan)
    assert len(set(chunks["chunk_id"].to_pylist())) == chunks.num_rows
    assert chunks["name"].to_pylist().count("again") == 2
    assert valid_vectors(store, plan) == chunks.num_rows
    assert {"x.py", "y.py"} <= set(found_paths(store, plan, "same")[:2])
    assert {"a/LICENSE", "b/LICENSE"} <= set(found_paths(store, plan, "permission granted parcel"))
    git(root, "rm", "-q", "x.py", "a/LICENSE")
    plan = build(root, store)
    publish(store, plan, keep=1)
    assert found_paths(store, plan, "same")[0] == "y.py"
    assert valid_vectors(store, plan) == chunks_of(store, plan).num_rows
    assert content_of(store, plan) == fresh_content(root, tmp_path / "fresh")


def test_a_repository_that_was_renamed_or_removed_leaves_no_row(tmp_path: Path) -> None:
    """64"""
    deploy = tmp_path / "deploy"
    listed = '\n[[repositories]]\nkey = "{0}"\npath = "../{0}"\n'
    for name in ("r1", "r2"):
        make_git_repository(tmp_path / name, {f"{name}.py": f"def of_{name}(): return 1\n"})
    write_files(deploy, {"strata.toml": CONFIG + listed.format("r1") + listed.format("r2")})
    # built without Dagster, which adds nothing to this: the third run below is the one that must clear up
    store = ArtifactStore(deploy / ".strata")
    for name in ("r1", "r2"):
        publish(store, build(tmp_path / name, store, SETTINGS, name))
    (tmp_path / "r1").rename(tmp_path / "r9")
    write_files(deploy, {"strata.toml": CONFIG + listed.format("r9")})
    assert index_path(tmp_path / "r9", deploy).repo == "r9"
    assert store.repositories() == ("r9",)
    assert {path.name for path in (store.root / "artifacts").iterdir()} == {"r9"}
    assert set(open_index(Environment(deploy), ()).pointers) == {"r9"}


def test_another_chunker_computes_everything_after_it_and_going_back_gives_the_first_result(
    tmp_path: Path, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64"""
    root = make_git_repository(tmp_path / "code", make_files(8))
    first = build(root, store)
    publish(store, first, keep=1)
    monkeypatch.setitem(formats.FORMATS, "chunks", replace(formats.CHUNKS, revision=formats.CHUNKS.revision + 1))
    bumped = Counting()
    second = build(root, store, progress=bumped)
    publish(store, second, keep=1)
    assert (bumped.work["parsing"], bumped.work["chunks"]) == (0, 8)
    changed = {ref.asset for ref in set(refs_of(second)) - set(refs_of(first))}
    assert changed == set(formats.FORMATS) - {"symbols", "graph_snapshot"}
    monkeypatch.undo()
    back = Counting()
    third = build(root, store, progress=back)
    publish(store, third, keep=1)
    assert back.work["chunks"] == 8
    assert content_of(store, third) == fresh_content(root, tmp_path / "fresh")


def size_of(folder: Path) -> tuple[int, int]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return len(files), sum(path.stat().st_size for path in files)


def test_a_store_does_not_grow_with_the_number_of_its_runs(tmp_path: Path, store: ArtifactStore) -> None:
    """66: artifacts and generations; run records are pruned in tests/assets_defs/test_upkeep.py."""
    root = make_git_repository(tmp_path / "code", make_files(20))
    sizes = []
    for turn in range(5):
        for number in range(turn % 4, 20, 10):
            write_files(root, {f"pkg/module_{number:03}.py": f"def turn_{turn}_{number}(): return {turn}\n"})
        publish(store, build(root, store))
        sizes.append(size_of(store.root))
    assert sizes[-1][0] <= 2 * sizes[0][0]
    assert sizes[-1][1] <= 2 * sizes[0][1]
    assert len(store.generations("sample")) == 2
    assert not list((store.root / "tmp").glob("*/*"))
