"""What looks after a store: status, the registry, checks, retention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from assets_defs.indexing import count_rows, drop_unregistered, unregistered
from assets_defs.opening import located, published, workspace_at_hand
from pipelines import formats
from pipelines.errors import ArtifactError, InputError, StrataError
from pipelines.generation import GenerationDocument
from pipelines.identity import require_repo_key
from pipelines.locks import repository_lock, writer_of
from pipelines.records import CheckResult, Staleness
from pipelines.serving.checks import CHECKS, CHECKSUMS, CheckScope, run_checks
from pipelines.serving.cli.host import GarbageReport, Quarantine, RepositoryStatus
from pipelines.serving.publish import Garbage, collect_garbage, published_document
from pipelines.serving.quarantine import quarantine_of
from pipelines.store import ArtifactStore
from resources.deployment import deployment_to_query
from resources.environment import Environment
from resources.registry import Entry
from resources.repositories import Repository, repositories_of
from resources.workspace import LOCK_WAIT_S, Workspace

_STATES = {Staleness.FRESH: "ready", Staleness.STALE: "stale", Staleness.UNKNOWN: "unknown"}


def status(environment: Environment, where: Sequence[str]) -> Sequence[RepositoryStatus]:
    """Tell how the repositories of the store at hand stand, or the named ones."""
    if where:
        return [repository_status(workspace, key) for workspace, key in located(environment, where)]
    workspace = Workspace(deployment_to_query(environment))
    return [repository_status(workspace, key) for key in workspace.repositories]


def repository_status(workspace: Workspace, key: str) -> RepositoryStatus:
    """Tell how one repository stands."""
    repository, store = workspace.repository(key), workspace.store
    shown = RepositoryStatus(key, str(repository.root), repository.rev, "missing", None, {}, None, str(store.root))
    try:
        if holder := writer_of(store, key):
            shown = replace(shown, state="building", message=f"being indexed by {holder}")
        pointer = store.pointer(key)
        if pointer is None:
            return shown
        store.require_readable()
        document = published_document(store, key)
        shown = replace(shown, pointer=pointer, counts=_counts(store, document), encoder=document.encoder)
    except ArtifactError as error:
        return replace(shown, state="error", message=str(error))
    if shown.state == "building":
        return shown
    try:
        workspace.plan(key)
    except StrataError as error:
        return replace(shown, state="unknown", message=str(error))
    return replace(shown, state=_STATES[workspace.staleness(key)])


def _counts(store: ArtifactStore, document: GenerationDocument) -> Mapping[str, int]:
    files = sum(store.open(ref).counts["files_indexed"] for ref in document.buckets(formats.SYMBOLS.name))
    return {"files": files, **count_rows(store, document.refs)}


def quarantine(environment: Environment, where: Sequence[str], limit: int) -> Sequence[Quarantine]:
    """Tell which places of the published repositories are left out for a secret."""
    return [
        quarantine_of(workspace.store, published_document(workspace.store, key), limit)
        for workspace, key in published(environment, where)
    ]


def add_repository(environment: Environment, key: str, path: Path, rev: str) -> RepositoryStatus:
    """Register a repository with the store at hand, without indexing it."""
    root = (environment.folder / path).resolve()
    if not root.is_dir():
        raise InputError(f"{path} is not a folder", hint="name the folder of a repository")
    workspace = Workspace(deployment_to_query(environment))
    known = workspace.repositories.get(require_repo_key(key))
    if known is not None and known.root.resolve() != root:
        raise InputError(f"repository key {key} is taken by {known.root}", hint="choose another key")
    other = next((item.key for item in workspace.repositories.values() if item.root.resolve() == root), key)
    if other != key:
        raise InputError(
            f"{root} is a repository of this store already, with key {other}",
            hint=f"use that key: `strata index --repo {other}`",
        )
    repository = Repository(key, root, rev)
    workspace.take(repository)
    workspace.list_source(key)  # a revision that does not exist is told now, not at night
    workspace.store.initialise()
    workspace.registry.update(lambda content: content.with_entry(key, Entry(root, rev)))
    return repository_status(workspace, key)


def remove_repository(environment: Environment, key: str) -> None:
    """Forget a repository and everything stored of it."""
    workspace = workspace_at_hand(environment)
    workspace.repository(key)
    if key not in workspace.registry.read().entries:
        source = workspace.deployment.config or "the bundled sample"
        raise InputError(f"repository {key} is not in the registry but in {source}", hint="remove it there")
    with repository_lock(workspace.store, key, wait_s=LOCK_WAIT_S):
        workspace.registry.update(lambda content: content.without(key))
        if key not in repositories_of(workspace.deployment, workspace.registry.read()):
            workspace.store.forget(key)


def check(environment: Environment, where: Sequence[str]) -> Sequence[CheckResult]:
    """Run every check on the published generations, checksums included."""
    results: list[CheckResult] = []
    for workspace, key in published(environment, where):
        document = published_document(workspace.store, key)
        scope = CheckScope.of(workspace.store, document, workspace.settings(key))
        results += [replace(result, repo=key) for result in run_checks(scope, [*CHECKS, *CHECKSUMS])]
    return results


def collect(environment: Environment, dry_run: bool) -> GarbageReport:
    """Remove generations, artifacts and run records that the retention rule no longer keeps."""
    workspace = workspace_at_hand(environment)
    parts = [*_collected(workspace, dry_run)]
    gone = unregistered(workspace)
    for key in gone:
        parts.append(_everything(workspace.store, key))
    if not dry_run:
        drop_unregistered(workspace)
    return GarbageReport(
        sum(part.generations for part in parts),
        sum(part.artifacts for part in parts),
        _prune(workspace, dry_run),
        sum(part.bytes for part in parts),
        dry_run,
    )


def _collected(workspace: Workspace, dry_run: bool) -> Iterator[Garbage]:
    for key in workspace.repositories:
        keep = workspace.settings(key).artifacts.keep
        if dry_run:
            yield collect_garbage(workspace.store, key, keep, dry_run=True)
        else:
            with repository_lock(workspace.store, key, wait_s=LOCK_WAIT_S):
                yield collect_garbage(workspace.store, key, keep)


def _everything(store: ArtifactStore, key: str) -> Garbage:
    refs = list(store.artifacts(key))
    size = sum(file.stat().st_size for ref in refs for file in store.folder(ref).iterdir())
    return Garbage(len(store.generations(key)), len(refs), size)


def _prune(workspace: Workspace, dry_run: bool) -> int:
    """Prune run records, if the store has an instance at all: only then is dagster loaded."""
    if not (workspace.deployment.instance_folder / "dagster.yaml").exists():
        return 0
    from assets_defs.instance import open_instance
    from assets_defs.pruning import prune_runs

    keep = workspace.deployment.settings.artifacts.keep_runs
    with open_instance(workspace.deployment) as instance:
        return prune_runs(instance, keep, slack=0, dry_run=dry_run)
