"""Faults of stores, locks and interrupted runs that users of other indexers reported, as what must hold here."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pyarrow.parquet as pq
import pytest
import sqlalchemy

from assets_defs import upkeep
from assets_defs.definitions import build_definitions
from assets_defs.indexing import index_repository
from assets_defs.instance import open_instance
from assets_defs.opening import open_index
from assets_defs.partitions import REPOS, partition_key
from pipelines import formats
from pipelines.artifacts import ArtifactRef
from pipelines.errors import ArtifactCorrupt, ArtifactError, FormatUnsupported, StorageError
from pipelines.identity import bucket_of, default_repo_key
from pipelines.locks import writer_of
from pipelines.retrieval import Query
from pipelines.settings import override
from pipelines.store import ArtifactStore
from resources.environment import Environment, variables_for_child
from resources.registry import Entry, Registry
from resources.repositories import Repository
from tests.assets_defs.builders import (
    CODE,
    CONFIG,
    DAGSTER_S_OWN,
    index_path,
    make_repository,
    store_files,
    strata,
    workspace_of,
)
from tests.cases.builders import chunks_of, content_of, make_files, make_git_repository
from tests.serving.builds import SETTINGS, build, publish, write_files

pytestmark = pytest.mark.filterwarnings(*DAGSTER_S_OWN)


def store_of(root: Path) -> ArtifactStore:
    return ArtifactStore(root / ".strata")


def answers(root: Path) -> list[str]:
    return [hit.path for hit in open_index(Environment(root), ()).searcher.search(Query("apply_discount")).hits]


def require_good(root: Path) -> None:
    assert answers(root)[0] == "pricing.py"
    assert all(result.passed for result in upkeep.check(Environment(root), ()))
    assert upkeep.status(Environment(root), ())[0].state == "ready"


# --- repository keys and paths


def test_every_name_of_a_folder_gives_a_key_and_folders_of_its_own(tmp_path: Path) -> None:
    """83"""
    names = ["a.b", "a,b", "a|b", "a b", "C:", "con", "x" * 200, "\u4ed3\u5e93", "..a", "A.B"]
    before = sorted(tmp_path.iterdir())
    store = ArtifactStore(tmp_path / "store")
    keys = [default_repo_key(name) for name in names]
    assert len(set(keys)) == len(names)
    for name, key in zip(names[:4], keys, strict=False):
        root = tmp_path / "code" / name
        write_files(root, {"a.py": "def a(): pass\n"})
        publish(store, build(root, store, SETTINGS, key))
        assert [path.name for path in root.iterdir()] == ["a.py"]
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "code", tmp_path / "store"])
    assert {path.name for path in (store.root / "artifacts").iterdir()} == set(keys[:4])


def test_a_key_with_dots_is_one_partition_and_one_folder(tmp_path: Path) -> None:
    """83"""
    root = make_repository(tmp_path / "a,b")
    outcome = index_path(root, repo="0.94-to-0.95")
    assert (outcome.repo, outcome.published) == ("0.94-to-0.95", True)
    deployment = workspace_of(root).deployment
    with open_instance(deployment) as instance:
        assert instance.get_dynamic_partitions(REPOS) == ["0.94-to-0.95"]
        wanted = {partition_key("0.94-to-0.95", f"b{number:02x}") for number in range(4)}
        assert set(instance.get_materialized_partitions(dg.AssetKey("chunks"))) == wanted
    assert store_of(root).repositories() == ("0.94-to-0.95",)


# --- checks of single partitions


def test_a_check_looks_at_its_own_bucket_and_blocks_that_one_alone(tmp_path: Path) -> None:
    """86"""
    root = make_repository(tmp_path / "parcels")
    good, bad = bucket_of("pricing.py", 4), bucket_of("stock.py", 4)
    workspace = workspace_of(root)
    workspace.store.initialise()
    definitions = build_definitions(workspace.deployment)
    job = definitions.resolve_job_def("bucket_job")
    with open_instance(workspace.deployment) as instance, workspace:
        instance.add_dynamic_partitions(REPOS, ["parcels"])
        workspace.take(Repository("parcels", root.resolve()))

        def run(bucket: str) -> bool:
            key = partition_key("parcels", bucket)
            result = job.execute_in_process(
                instance=instance, partition_key=key, resources={"workspace": workspace}, raise_on_error=False
            )
            return result.success

        assert run(good)
        assert {ref.bucket for ref in workspace.store.heads("parcels")} == {good}
        assert workspace.checks
        assert all(check.passed for check in workspace.checks)
        assert run(bad)
        damaged = workspace.store.open_head("parcels", "symbols", bad)
        manifest = damaged.folder / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"files_indexed": 1', '"files_indexed": 2'))
        workspace.store.drop_head(ArtifactRef("parcels", "chunks", bad, ""))
        assert not run(bad)
        assert workspace.store.head("parcels", "symbols", bad) is None
        assert workspace.store.head("parcels", "chunks", good) is not None
        assert run(good)


# --- damage and other versions


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def without_a_column(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(table.column_names[-1:]), path)


def removed(path: Path) -> None:
    path.unlink()


DAMAGE: list[tuple[str, str, Callable[[Path], None]]] = [
    ("symbols", "symbols.parquet", without_a_column),
    ("chunks", "chunks.parquet", cut),
    ("lexical_segments", "terms.npy", emptied),
    ("chunk_vectors", "vectors.npy", removed),
    ("graph_snapshot", "manifest.json", emptied),
    ("binary_codes", "codes.npy", made_a_folder),
    ("search_rows", "texts.arrow", emptied),
    ("eval_runs", "manifest.json", made_a_folder),
]


def artifact_file(root: Path, asset: str, name: str) -> Path:
    store = store_of(root)
    refs = [ref for ref in store.heads("parcels") if ref.asset == asset]
    return max((store.folder(ref) / name for ref in refs), key=lambda path: path.stat().st_size)


def test_damage_of_every_kind_is_an_error_to_a_reader_and_repaired_by_the_next_run(indexed: Path) -> None:
    """65, 93: never an empty answer, and no state that only deleting things ends."""
    for asset, name, damage in DAMAGE:
        damage(artifact_file(indexed, asset, name))
    emptied(indexed / ".strata" / "repos" / "parcels" / "heads" / "chunks" / "b00.json")
    with pytest.raises(ArtifactError):
        answers(indexed)
    failed = {result.asset for result in upkeep.check(Environment(indexed), ()) if not result.passed}
    assert {asset for asset, _, _ in DAMAGE} <= failed
    assert index_path(indexed).published
    require_good(indexed)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": 1}', "null"])
@pytest.mark.parametrize("name", ["current.json", "generations/*.json"])
def test_a_damaged_pointer_or_generation_is_an_error_that_names_the_next_step(
    indexed: Path, name: str, content: str
) -> None:
    """65, 93"""
    (path,) = (indexed / ".strata" / "repos" / "parcels").glob(name)
    path.write_text(content)
    with pytest.raises(ArtifactCorrupt, match="run `strata index`"):
        answers(indexed)
    assert upkeep.status(Environment(indexed), ())[0].state == "error"


@pytest.mark.parametrize("name", ["current.json", "generations/*.json"])
def test_a_damaged_pointer_or_generation_is_published_again_without_computing(indexed: Path, name: str) -> None:
    """65, 93"""
    (path,) = (indexed / ".strata" / "repos" / "parcels").glob(name)
    path.write_text("{}")
    outcome = index_path(indexed)
    assert outcome.published
    assert outcome.buckets_computed == 0
    require_good(indexed)


def test_a_damaged_generation_before_the_served_one_does_not_stop_retention(tmp_path: Path) -> None:
    """65"""
    root, store = tmp_path / "code", ArtifactStore(tmp_path / "store")
    for number in range(3):
        write_files(root, {"a.py": f"def a(): return {number}\n"})
        document = publish(store, build(root, store))
        if number == 1:
            store.generation_file("sample", document.generation).write_text("{}")
    pointer = store.pointer("sample")
    assert pointer is not None
    assert pointer.generation == document.generation


def test_a_damaged_store_tells_what_to_remove(indexed: Path) -> None:
    """65"""
    emptied(indexed / ".strata" / "store.json")
    with pytest.raises(ArtifactCorrupt, match=r"remove .*\.strata, then run `strata index`"):
        index_path(indexed)


def with_format(root: Path, number: int) -> None:
    path = artifact_file(root, "search_rows", "manifest.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": number}))


def test_an_artifact_of_a_newer_release_is_refused_and_left_alone(indexed: Path) -> None:
    """65"""
    with_format(indexed, 99)
    before = store_files(indexed)
    with pytest.raises(FormatUnsupported, match=r"99; this release reads 1 to 1.*newer release"):
        answers(indexed)
    with pytest.raises(FormatUnsupported, match=r"99; this release reads 1 to 1.*newer release"):
        index_path(indexed)
    assert {path: stat for path, stat in store_files(indexed).items() if path in before} == before


def test_an_artifact_of_an_older_release_is_built_again(indexed: Path) -> None:
    """65"""
    with_format(indexed, 0)
    assert index_path(indexed).published
    require_good(indexed)


# --- other partitions, other assets


def test_another_number_of_buckets_gives_the_same_rows_once(tmp_path: Path) -> None:
    """88"""
    root, store = make_git_repository(tmp_path / "code", make_files(6)), ArtifactStore(tmp_path / "store")
    rows = []
    for count in (16, 8, 32):
        plan = build(root, store, override(SETTINGS, "index", buckets=count))
        publish(store, plan, keep=1)
        rows.append(chunks_of(store, plan))
    assert len(set(rows[0]["chunk_id"].to_pylist())) == rows[0].num_rows
    assert rows[0].equals(rows[1])
    assert rows[0].equals(rows[2])


def test_what_an_asset_of_another_name_left_is_collected(indexed: Path) -> None:
    """88"""
    store = store_of(indexed)
    old = ArtifactRef("parcels", "renamed_since", "b00", "ab" * 16)
    store.folder(old).mkdir(parents=True)
    store.set_head(old)
    assert upkeep.status(Environment(indexed), ())[0].state == "ready"
    write_files(indexed, {"pricing.py": "def apply_discount(net): return net\n"})
    assert index_path(indexed).published
    upkeep.collect(Environment(indexed), dry_run=False)
    assert not store.folder(old).exists()


# --- two at once


def test_a_repository_that_was_added_during_a_run_keeps_its_rows(tmp_path: Path) -> None:
    """90"""
    deploy = tmp_path / "deploy"
    write_files(deploy, {"strata.toml": CONFIG})
    first, second = (make_git_repository(tmp_path / name, make_files(1)) for name in ("r1", "r2"))
    registry = Registry(deploy / ".strata")
    registry.update(lambda content: content.with_entry("r1", Entry(first)))
    workspace = workspace_of(deploy)
    store = workspace.store
    publish(store, build(second, store, SETTINGS, "r2"))
    registry.update(lambda content: content.with_entry("r2", Entry(second)))
    with workspace:
        assert index_repository(workspace, workspace.repository("r1")).published
    assert store.repositories() == ("r1", "r2")
    assert store.pointer("r2") is not None


def test_a_reader_sees_one_generation_or_the_other_while_a_run_publishes(indexed: Path) -> None:
    """78, 90, 92"""
    before = answers(indexed)
    write_files(indexed, {"pricing.py": "x = 1\n", "price_list.py": "def apply_discount(net):\n    return net\n"})
    process = strata(indexed, "index", ".")
    seen = [before]
    while process.poll() is None:
        seen.append(answers(indexed))
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    after = answers(indexed)
    assert after[0] == "price_list.py"
    assert {tuple(item) for item in seen} <= {tuple(before), tuple(after)}


# --- kills, signals, full disks


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_git_repository(tmp_path_factory.mktemp("larger") / "parcels", {**make_files(32), "strata.toml": CONFIG})


@pytest.fixture
def not_indexed(larger: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(larger, tmp_path / "parcels"))


def whole_artifacts(root: Path) -> int:
    return len(list((root / ".strata" / "artifacts").rglob("manifest.json")))


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def children_of(pid: int) -> set[int]:
    found = {int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()}
    return found.union(*(children_of(child) for child in found))


def alive(pids: set[int]) -> set[int]:
    """Return which of some processes still run; one that only waits to be reaped does not."""
    states = {pid: Path(f"/proc/{pid}/stat") for pid in pids}
    return {pid for pid, path in states.items() if path.exists() and ") Z " not in path.read_text()}


def gone_soon(pids: set[int]) -> bool:
    deadline = time.monotonic() + 10
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pids)


def test_a_killed_run_leaves_whole_artifacts_and_the_next_one_ends_as_a_fresh_build(
    not_indexed: Path, tmp_path: Path
) -> None:
    """91, 92"""
    process = strata(not_indexed, "index", ".")
    wait_for(lambda: whole_artifacts(not_indexed) >= 3, process)
    children = children_of(process.pid)
    process.kill()
    process.communicate()
    assert gone_soon(children)
    assert upkeep.status(Environment(not_indexed), ())[0].state == "missing"
    lock = not_indexed / ".strata" / "locks" / "parcels.lock"
    lock.write_text("process 1 on another-host\n")
    tomorrow = time.time() + 86_400
    os.utime(lock, (tomorrow, tomorrow))
    outcome = index_path(not_indexed)
    assert outcome.published
    workspace = workspace_of(not_indexed)
    assert not list(workspace.store.root.glob("tmp/parcels/*"))
    plan = workspace.plan("parcels")
    fresh = ArtifactStore(tmp_path / "fresh")
    assert content_of(workspace.store, plan) == content_of(
        fresh, build(not_indexed, fresh, workspace.settings("parcels"), "parcels")
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_ends_with_its_children_and_the_next_one_goes_on(
    not_indexed: Path, number: signal.Signals, code: int
) -> None:
    """96"""
    process = strata(not_indexed, "index", ".")
    wait_for(lambda: whole_artifacts(not_indexed) >= 2, process)
    children = children_of(process.pid)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    assert gone_soon(children)
    assert writer_of(store_of(not_indexed), "parcels") == ""
    finished = {ref for ref in store_of(not_indexed).heads("parcels") if ref.asset == formats.SYMBOLS.name}
    inodes = {ref: store_of(not_indexed).folder(ref).stat().st_ino for ref in finished}
    assert finished
    assert index_path(not_indexed).published
    assert {ref: store_of(not_indexed).folder(ref).stat().st_ino for ref in finished} == inodes


@pytest.fixture
def small_disk(tmp_path: Path) -> list[str]:
    """Return the beginning of a command line: what follows it runs with a disk of 1 MB at <tmp_path>/disk."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f'mount -t tmpfs -o size=1m tmpfs "{disk}" && exec "$@"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    try:
        subprocess.run([*command, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this machine lets nobody mount a small disk")
    return command


def test_a_full_disk_is_told_with_the_folder_that_needs_space(
    tmp_path: Path, not_indexed: Path, small_disk: list[str]
) -> None:
    """92, 93"""
    home = tmp_path / "disk" / "store"
    variables = {"PYTHONPATH": str(CODE), "STRATA_HOME": str(home), "STRATA_CONFIG": None, "DAGSTER_HOME": None}
    done = subprocess.run(
        [*small_disk, sys.executable, "-m", "assets_defs.command", "index", "--json", "."],
        cwd=not_indexed,
        env=variables_for_child(variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    told = json.loads(done.stdout)
    assert (told["error"], told["detail"]) == ("StorageError", f"no space left for the store {home}")


def test_a_database_that_is_full_is_the_store_that_is_full(built: Path) -> None:
    """93"""
    deployment = workspace_of(built).deployment
    with pytest.raises(StorageError, match=rf"no space left for the store {built}"), open_instance(deployment):
        fill_a_database()


def fill_a_database() -> None:
    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        connection.execute(sqlalchemy.text("PRAGMA max_page_count = 1"))
        connection.execute(sqlalchemy.text("CREATE TABLE parcels (name TEXT)"))
