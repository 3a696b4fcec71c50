"""Small real things for the spine's tests: a store in a folder, a listing, a plan."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pipelines.artifacts import ArtifactWriter, Target
from pipelines.plan import Inputs, Plan, make_plan
from pipelines.records import Content, ListedFile, Listing
from pipelines.report import StageReport
from pipelines.settings import Settings
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore


def make_store(root: Path) -> ArtifactStore:
    store = ArtifactStore(root / "store")
    store.initialise()
    return store


def make_file(path: str, content: str = "x") -> ListedFile:
    return ListedFile(path, f"{content:0>40}", len(content), "python", "", Content.CODE)


def make_listing(*files: ListedFile, repo: str = "sample", commit: str = "c0ffee") -> Listing:
    return Listing(repo, commit, False, tuple(files))


def plan_of(
    *files: ListedFile, settings: Settings | None = None, encoder: str = "encoder", repo: str = "sample"
) -> Plan:
    return make_plan(make_listing(*files, repo=repo), Inputs(settings or Settings(), encoder, "grammars"))


def fill(store: ArtifactStore, target: Target, rows: int = 3) -> StageReport:
    """Make an artifact with one array whose content depends on its fingerprint alone."""

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        seed = int(target.ref.fingerprint[:8], 16)
        writer.array("values.npy", np.arange(rows, dtype=np.int64) + seed)
        report.rows = report.computed = rows

    return run_stage(store, target, work)


def fill_plan(store: ArtifactStore, plan: Plan) -> None:
    for bucket in plan.buckets.values():
        for target in bucket.targets.values():
            fill(store, target)
    for target in plan.targets.values():
        fill(store, target)
