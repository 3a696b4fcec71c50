"""`strata index`: bring one repository up to date. In: a workspace and a repository. Out: what was done.

The wanted state is compared with the store before anything else, so a repository that did not change is done at once:
nothing is computed, nothing is written, and dagster is not even loaded.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import pyarrow.compute as pc

from assets_defs.notices import notices
from pipelines import formats
from pipelines.artifacts import WHOLE, ArtifactRef
from pipelines.errors import ArtifactCorrupt, BusyError, FormatUnsupported, SourceMoved, StrataError
from pipelines.generation import EncoderInfo
from pipelines.locks import repository_lock
from pipelines.serving.cli.host import IndexOutcome
from pipelines.store import ArtifactStore
from resources.rebuild import RebuildingStore
from resources.repositories import Repository, repositories_of
from resources.workspace import Workspace

#: A source that changes while it is read is listed again; one that never holds still is given up.
_MAX_LISTINGS = 3


def index_repository(workspace: Workspace, repository: Repository) -> IndexOutcome:
    """Build and publish what changed of a repository.

    :param workspace: with a RebuildingStore everything is made anew. :param repository: as it is asked for.
    :raises SourceMoved: if the source changed during each of three attempts.
    """
    began = time.perf_counter()
    key = repository.key
    before = workspace.repositories.get(key)
    workspace.take(repository)
    workspace.plan(key)  # what is wrong with the request is told before anything is written
    workspace.store.initialise()
    workspace.remember(repository)
    try:
        _bring_up_to_date(workspace, key)
    except StrataError:
        if before is not None:  # what is published was asked for in another way, and that still holds
            workspace.remember(before)
        raise
    return _outcome(workspace, key, began, before)


def _bring_up_to_date(workspace: Workspace, key: str) -> None:
    """Build what is missing and publish it."""
    listing = workspace.plan(key).listing
    if _published(workspace, key):
        pointer = workspace.store.pointer(key)
        if pointer is not None and (pointer.commit, pointer.dirty) != (listing.commit, listing.dirty):
            with workspace.writing(key):
                workspace.publish(key)
    else:
        with workspace.writing(key) as waited:
            if waited:
                workspace.refresh(key)
            _build(workspace, key)
        drop_unregistered(workspace)


def drop_unregistered(workspace: Workspace) -> list[str]:
    """Forget what is stored of repositories that left the configuration and the registry; return their keys."""
    gone = unregistered(workspace)
    for key in gone:
        try:
            with repository_lock(workspace.store, key, wait_s=0):
                if key in unregistered(workspace):  # it may have come back before the lock was taken
                    workspace.store.forget(key)
        except BusyError:
            workspace.progress.note(f"repository {key} is no longer registered, but is being indexed: kept for now")
    return gone


def unregistered(workspace: Workspace) -> list[str]:
    """Return the repositories of the store that nothing names; none where the registry itself may be lost."""
    if not workspace.registry.exists() and not workspace.deployment.settings.repositories:
        return []
    known = repositories_of(workspace.deployment, workspace.registry.read())  # others register theirs meanwhile
    return [key for key in workspace.store.repositories() if key not in {*known, *workspace.repositories}]


def _published(workspace: Workspace, key: str) -> bool:
    """Tell whether the wanted generation is served; what an older release wrote is removed, to be built again.

    A pointer that is damaged is removed too: publishing writes it anew, and no artifact is computed for that.
    """
    try:
        return workspace.plan(key).published(workspace.store)
    except ArtifactCorrupt as error:
        workspace.progress.note(f"{error.message}; it is published again")
        with workspace.writing(key):
            workspace.store.withdraw(key)
        return False
    except FormatUnsupported as error:
        if error.found > error.current:
            raise
        workspace.progress.note(f"{error.message}; it is built again")
        with workspace.writing(key):
            workspace.store.forget(key)
        return False


def _build(workspace: Workspace, key: str) -> None:
    for attempt in range(1, _MAX_LISTINGS + 1):
        if _published(workspace, key):
            break
        try:
            from assets_defs.runs import build_repository  # here, because it loads dagster

            if build_repository(workspace, key):
                break
            return
        except SourceMoved as error:
            if attempt == _MAX_LISTINGS:
                raise
            workspace.progress.note(f"{error.message}: listing the files again")
            workspace.refresh(key)
    _drop_old_heads(workspace, key)
    if isinstance(workspace.store, RebuildingStore) and workspace.store.replaced:
        workspace.progress.note(f"{len(workspace.store.replaced)} artifacts differed from their recomputation")


def _drop_old_heads(workspace: Workspace, key: str) -> None:
    """Forget the heads of buckets and assets that are no more, so that retention takes their artifacts."""
    plan = workspace.plan(key)
    targets = [*plan.targets.values(), *(item for bucket in plan.buckets.values() for item in bucket.targets.values())]
    wanted = {(target.ref.asset, target.ref.bucket) for target in targets}
    for ref in list(workspace.store.heads(key)):
        if (ref.asset, ref.bucket) not in wanted:
            workspace.store.drop_head(ref)


def _outcome(workspace: Workspace, key: str, began: float, before: Repository | None) -> IndexOutcome:
    plan, store = workspace.plan(key), workspace.store
    refs = [target.ref for bucket in plan.buckets.values() for target in bucket.targets.values()]
    counts = count_rows(store, refs)
    built = [report for report in workspace.reports if report.built and report.ref.bucket != WHOLE]
    computed = len({report.ref.bucket for report in built})
    embedded = sum(report.computed for report in built if report.ref.asset == formats.CHUNK_VECTORS.name)
    skipped = _skipped(workspace, refs)
    pointer = store.pointer(key)
    duration = time.perf_counter() - began
    return IndexOutcome(
        repo=key,
        path=str(workspace.repository(key).root),
        store=str(store.root),
        commit=plan.listing.commit,
        generation=plan.generation,
        published=pointer is not None and pointer.generation == plan.generation,
        files_indexed=skipped.pop("", 0),
        files_skipped=skipped,
        encodings=_encodings(store, refs),
        quarantined_pieces=counts["quarantined"],
        quarantined_files=_quarantined_files(store, refs),
        symbols=counts["symbols"],
        chunks=counts["chunks"],
        vectors_total=counts["vectors"],
        vectors_reused=counts["vectors"] - embedded,
        vectors_embedded=embedded,
        buckets_total=len(plan.buckets),
        buckets_computed=computed,
        buckets_reused=len(plan.buckets) - computed,
        checks=tuple(workspace.checks),
        encoder=EncoderInfo.of(workspace.encoder(key)),
        duration_s=duration,
        warnings=notices(workspace, key, before, refs),
        stages=_stages(workspace, duration),
    )


def count_rows(store: ArtifactStore, refs: Iterable[ArtifactRef]) -> dict[str, int]:
    """Return how many symbols, chunks and vectors the artifacts hold that are in the store.

    `quarantined` counts the parts of files that are in no chunk because they hold a secret.
    """
    counts = dict.fromkeys(("symbols", "chunks", "vectors", "quarantined"), 0)
    counted = {
        formats.SYMBOLS.name: ("symbols", "symbols"),
        formats.CHUNKS.name: ("chunks", "rows"),
        formats.CHUNK_VECTORS.name: ("vectors", "rows"),
    }
    for ref in refs:
        if ref.asset in counted and store.holds(ref):
            name, column = counted[ref.asset]
            artifact = store.open(ref)
            counts[name] += artifact.counts[column]
            if ref.asset == formats.CHUNKS.name:
                counts["quarantined"] += artifact.counts["skipped"]["secret"]
    return counts


def _encodings(store: ArtifactStore, refs: Iterable[ArtifactRef]) -> Counter[str]:
    """Count the indexed files that are not UTF-8, by what they were read as."""
    held = (store.open(ref) for ref in refs if ref.asset == formats.SYMBOLS.name and store.holds(ref))
    return sum((Counter(artifact.counts["encodings"]) for artifact in held), Counter[str]())


def _quarantined_files(store: ArtifactStore, refs: Iterable[ArtifactRef]) -> int:
    """Count the files that have parts in quarantine; a file is in one bucket."""
    held = [store.open(ref) for ref in refs if ref.asset == formats.CHUNKS.name and store.holds(ref)]
    return sum(
        pc.count_distinct(artifact.table("quarantine.parquet", columns=["path"])["path"]).as_py()
        for artifact in held
        if artifact.counts["skipped"]["secret"]
    )


def _skipped(workspace: Workspace, refs: list[ArtifactRef]) -> Counter[str]:
    """Count files by skip reason; "" stands for the indexed ones."""
    found: Counter[str] = Counter()
    for ref in refs:
        if ref.asset == formats.SYMBOLS.name and workspace.store.holds(ref):
            reasons = workspace.store.open(ref).table("files.parquet", columns=["skip_reason"])["skip_reason"]
            for item in pc.value_counts(reasons).to_pylist():
                found[item["values"] or ""] += item["counts"]
    return found


def _stages(workspace: Workspace, duration: float) -> Mapping[str, float]:
    seconds: dict[str, float] = defaultdict(float)
    for report in workspace.reports:
        seconds[report.ref.asset] += report.seconds
    if not workspace.reports:
        return {}
    return {**seconds, "dagster": max(0.0, duration - sum(seconds.values()))}
