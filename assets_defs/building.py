"""From what was typed after `strata index` to the workspace that it is about."""

from __future__ import annotations

from pathlib import Path

from assets_defs.indexing import index_repository
from pipelines.discover import preview_files
from pipelines.errors import InputError, NothingIndexed
from pipelines.progress import Progress
from pipelines.serving.cli.host import IndexOutcome, IndexRequest, Preview
from resources.deployment import Deployment, deployment_to_build, deployment_to_query
from resources.environment import Environment
from resources.rebuild import RebuildingStore
from resources.registry import Registry
from resources.repositories import Repository, key_for, repositories_of, with_request
from resources.workspace import Workspace


def index(environment: Environment, request: IndexRequest, progress: Progress) -> IndexOutcome:
    """Bring the index of the requested repository up to date and publish it."""
    deployment, root = _place(environment, request)
    store = RebuildingStore(deployment.store_root) if request.full else None
    with Workspace(deployment, store=store, progress=progress) as workspace:
        workspace.agreed_tokens = request.agreed_tokens
        return index_repository(workspace, _requested(root, request, workspace))


def preview(environment: Environment, request: IndexRequest, progress: Progress) -> Preview:
    """Return what would be indexed, why each other file is left out, and what would become of it; nothing is written.

    :raises SourceMoved: if the source changed while it was looked at.
    """
    deployment, root = _place(environment, request)
    with Workspace(deployment, progress=progress) as workspace:
        repository = _requested(root, request, workspace)
        workspace.take(repository)
        plan = workspace.plan(repository.key)
        tree = workspace.tree(repository.key)
        return Preview(plan, preview_files(plan, workspace.store, tree, progress, full=request.full))


def _place(environment: Environment, request: IndexRequest) -> tuple[Deployment, Path]:
    """Return the deployment to build in, and the root of the repository."""
    if request.path is None:
        return _place_without_path(environment, request.repo)
    root = environment.folder / request.path
    if not root.is_dir():
        raise InputError(f"{request.path} is not a folder", hint="name the folder of a repository")
    return deployment_to_build(environment, root), root


def _place_without_path(environment: Environment, key: str) -> tuple[Deployment, Path]:
    """Return the repository that has the key already, else the working directory.

    :raises InputError: where a strata.toml lists repositories elsewhere: its own folder is hardly meant to be another.
    """
    here = environment.folder
    try:
        at_hand = deployment_to_query(environment)
    except NothingIndexed:
        return deployment_to_build(environment, here), here
    known = repositories_of(at_hand, Registry(at_hand.store_root).read())
    if key in known:
        root = known[key].root
        if not root.is_dir():
            raise InputError(f"repository {key} is at {root}, which is not a folder")
        return at_hand, root
    listed = [item.key for item in at_hand.settings.repositories]
    if listed and not any(here.resolve().is_relative_to(item.root.resolve()) for item in known.values()):
        raise InputError(
            f"which repository? {at_hand.config} is there for {', '.join(known)}",
            hint="run `strata index --repo KEY`, or `strata index PATH`",
        )
    return deployment_to_build(environment, here), here


def _requested(root: Path, request: IndexRequest, workspace: Workspace) -> Repository:
    key = key_for(root, workspace.repositories, request.repo)
    known = workspace.repositories.get(key) or Repository(key, root.resolve())
    return with_request(known, request.rev, request.overrides)
