from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.artifacts import WHOLE, ArtifactRef, ArtifactWriter, Target
from pipelines.errors import ArtifactMissing
from pipelines.report import StageReport
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore
from resources.side import SideStore


def write(store: ArtifactStore, fingerprint: str, value: int) -> ArtifactRef:
    target = Target(ArtifactRef("sample", "binary_codes", WHOLE, fingerprint), "recipe")

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        writer.array("values.npy", np.array([value]))

    run_stage(store, target, work)
    return target.ref


def files(store: ArtifactStore) -> dict[str, bytes]:
    return {str(path.relative_to(store.root)): path.read_bytes() for path in store.root.rglob("*") if path.is_file()}


def test_a_side_store_sees_the_other_and_changes_nothing_there(tmp_path: Path) -> None:
    other = ArtifactStore(tmp_path / "other")
    other.initialise()
    theirs = write(other, "a" * 32, 1)
    before = files(other)
    side = SideStore(tmp_path / "side", other)
    side.initialise()
    ours = write(side, "b" * 32, 2)
    assert write(side, "a" * 32, 3) == theirs  # it is there, so nothing is made
    assert [int(side.open(ref).array("values.npy")[0]) for ref in (theirs, ours)] == [1, 2]
    assert files(other) == before
    with pytest.raises(ArtifactMissing):
        other.open(ours)


def test_what_is_broken_in_the_other_is_not_seen(tmp_path: Path) -> None:
    other = ArtifactStore(tmp_path / "other")
    other.initialise()
    ref = write(other, "a" * 32, 1)
    (other.folder(ref) / "values.npy").unlink()
    side = SideStore(tmp_path / "side", other)
    side.initialise()
    write(side, "a" * 32, 4)
    assert int(side.open(ref).array("values.npy")[0]) == 4
    assert other.folder(ref).is_dir()
