from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipelines.artifacts import WHOLE, ArtifactRef, ArtifactWriter, Target
from pipelines.containment import inside, require_no_links
from pipelines.errors import ArtifactError, StorageError
from pipelines.locks import repository_lock, writer_of
from pipelines.report import StageReport
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore, Pointer
from tests.spine.builders import fill, make_store

TARGET = Target(ArtifactRef("sample", "binary_codes", WHOLE, "ab" * 16), "recipe")
POINTER = Pointer("cd" * 16, "", False, "2025-11-30T12:00:00+00:00")


def lead_out(store: ArtifactStore, place: str, target: Path) -> None:
    """Put a link into a store, as a clone could bring one."""
    path = store.root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def write(store: ArtifactStore) -> None:
    def work(writer: ArtifactWriter, report: StageReport) -> None:
        writer.array("values.npy", np.zeros(3))

    run_stage(store, TARGET, work)


def lock(store: ArtifactStore) -> None:
    with repository_lock(store, "sample", wait_s=0):
        pass


USES: dict[str, Callable[[ArtifactStore], object]] = {
    "tmp": lock,
    "tmp/sample": lambda store: store.clear_scratch("sample"),
    "locks": lock,
    "locks/sample.lock": lock,
    "artifacts": write,
    "artifacts/sample/binary_codes": write,
    f"artifacts/sample/binary_codes/all/{TARGET.ref.fingerprint}": write,
    "repos/sample/heads": lambda store: store.set_head(TARGET.ref),
    "repos/sample/generations": lambda store: store.write_generation("sample", POINTER.generation, {}),
    "repos/sample": lambda store: store.publish("sample", POINTER),
    "repos": lambda store: store.forget("sample"),
    "store.json": lambda store: store.require_readable(),
}


@pytest.mark.parametrize("place", USES)
def test_a_link_in_a_store_is_refused_and_nothing_outside_is_touched(tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    (outside / "sample").mkdir(parents=True)
    (outside / "sample" / "precious").write_text("kept")
    store = ArtifactStore(tmp_path / "store")
    target = outside / "sample" / "precious" if "." in place else outside
    lead_out(store, place, target)
    with pytest.raises(StorageError, match="lead out"):
        USES[place](store)
    assert sorted(path.name for path in outside.rglob("*")) == ["precious", "sample"]
    assert (outside / "sample" / "precious").read_text() == "kept"


def test_a_lock_that_is_a_link_is_not_asked_either(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    lead_out(store, "locks/sample.lock", tmp_path)
    with pytest.raises(StorageError):
        writer_of(store, "sample")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", "a\0b"])
def test_only_plain_names_are_parts(tmp_path: Path, name: str) -> None:
    with pytest.raises(StorageError, match="plain name"):
        inside(tmp_path, "artifacts", name)


def test_a_name_from_a_document_stays_inside(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    (tmp_path / "elsewhere.json").write_text(json.dumps({"format": 1}))
    with pytest.raises(StorageError):
        store.read_generation("sample", "../../../../elsewhere")


@pytest.mark.parametrize("name", ["manifest.json", "values.npy"])
def test_a_file_of_an_artifact_is_no_link(tmp_path: Path, name: str) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    path = store.folder(TARGET.ref) / name
    path.rename(tmp_path / name)
    path.symlink_to(tmp_path / name)
    with pytest.raises((StorageError, ArtifactError), match="lead out"):
        store.open(TARGET.ref)


def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "large_disk").mkdir()
    (tmp_path / "store").symlink_to(tmp_path / "large_disk")
    store = ArtifactStore(tmp_path / "store")
    fill(store, TARGET)
    assert store.holds(TARGET.ref)


def test_a_folder_that_others_open_is_searched_for_links(tmp_path: Path) -> None:
    deep = tmp_path / "dagster" / "history" / "runs"
    deep.mkdir(parents=True)
    (deep / "index.db").write_text("")
    assert require_no_links(tmp_path, "dagster") == tmp_path / "dagster"
    assert require_no_links(tmp_path, "nothing_yet") == tmp_path / "nothing_yet"
    (deep / "run.db").symlink_to(tmp_path / "precious")
    with pytest.raises(StorageError, match=r"run\.db"):
        require_no_links(tmp_path, "dagster")
