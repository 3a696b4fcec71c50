"""The one way in which every stage makes an artifact: not at all if it is there, else whole, then made the head."""

from __future__ import annotations

import time
from collections.abc import Callable

from pipelines.artifacts import Artifact, ArtifactWriter, Target
from pipelines.errors import ArtifactError
from pipelines.report import StageReport
from pipelines.store import ArtifactStore


def run_stage(store: ArtifactStore, target: Target, work: Callable[[ArtifactWriter, StageReport], None]) -> StageReport:
    """Make one artifact and return the report of it.

    :param store: where it goes. :param target: what is to be made.
    :param work: fills the writer and the report's rows, reused, computed and skipped; not called if the store holds the
        artifact already.
    :raises StrataError: whatever `work` raises; nothing is then visible in the store.
    """
    began = time.perf_counter()
    report = StageReport(target.ref)
    if store.holds(target.ref):
        report.built = False
        report.rows = report.reused = int(store.open(target.ref).counts.get("rows", 0))
    else:
        with store.writer(target) as writer:
            work(writer, report)
            writer.counts.setdefault("rows", report.rows)
    report.bytes = store.open(target.ref).total_bytes
    store.set_head(target.ref)
    report.seconds = time.perf_counter() - began
    return report


def previous(store: ArtifactStore, target: Target) -> Artifact | None:
    """Return the bucket's last artifact if its rows may be reused for `target`: equal recipe, still readable."""
    fingerprint = store.head(target.ref.repo, target.ref.asset, target.ref.bucket)
    if fingerprint is None:
        return None
    try:
        artifact = store.open_head(target.ref.repo, target.ref.asset, target.ref.bucket)
    except ArtifactError:
        return None  # a broken predecessor only costs its reuse: everything is computed
    return artifact if artifact.recipe == target.recipe else None
