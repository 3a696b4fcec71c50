from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.artifacts import ArtifactWriter, Target
from pipelines.plan import Plan
from pipelines.report import StageReport
from pipelines.stage import previous, run_stage
from pipelines.store import ArtifactStore
from resources.rebuild import RebuildingStore
from tests.spine.builders import fill, fill_plan, make_file, make_store, plan_of


@pytest.fixture
def plan() -> Plan:
    return plan_of(make_file("a.py"))


@pytest.fixture
def store(tmp_path: Path, plan: Plan) -> ArtifactStore:
    store = make_store(tmp_path)
    fill_plan(store, plan)
    return store


def target_of(plan: Plan) -> Target:
    return plan.targets["graph_snapshot"]


def test_nothing_is_taken_for_done_and_nothing_is_reused(store: ArtifactStore, plan: Plan) -> None:
    rebuilding = RebuildingStore(store.root)
    assert not rebuilding.holds(target_of(plan).ref)
    assert previous(rebuilding, target_of(plan)) is None
    assert plan.changed_buckets(rebuilding) == list(plan.buckets)


def test_an_equal_recomputation_leaves_the_artifact_untouched(store: ArtifactStore, plan: Plan) -> None:
    target, rebuilding = target_of(plan), RebuildingStore(store.root)
    before = store.folder(target.ref).stat().st_ino
    report = fill(rebuilding, target)
    assert report.built
    assert rebuilding.holds(target.ref)
    assert rebuilding.replaced == []
    assert store.folder(target.ref).stat().st_ino == before


def test_a_flipped_byte_is_noticed_and_repaired(store: ArtifactStore, plan: Plan) -> None:
    target, rebuilding = target_of(plan), RebuildingStore(store.root)
    path = store.folder(target.ref) / "values.npy"
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    fill(rebuilding, target)
    assert rebuilding.replaced == [target.ref]
    store.verify(target.ref)


def test_a_recomputation_that_differs_takes_the_place(store: ArtifactStore, plan: Plan) -> None:
    target, rebuilding = target_of(plan), RebuildingStore(store.root)

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        writer.array("values.npy", np.zeros(9, np.int64))
        report.rows = 9

    run_stage(rebuilding, target, work)
    assert rebuilding.replaced == [target.ref]
    assert len(store.open(target.ref).array("values.npy")) == 9


def test_what_was_rebuilt_is_the_wanted_state(store: ArtifactStore, plan: Plan) -> None:
    rebuilding = RebuildingStore(store.root)
    fill_plan(rebuilding, plan)
    assert plan.changed_buckets(rebuilding) == []
