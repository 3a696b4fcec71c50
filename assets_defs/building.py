"""From what was typed after `strata index` to the workspace that it is about."""

from __future__ import annotations

from assets_defs.indexing import index_repository
from pipelines.errors import InputError
from pipelines.plan import Plan
from pipelines.progress import Progress
from pipelines.serving.cli.host import IndexOutcome, IndexRequest
from resources.deployment import deployment_to_build
from resources.environment import Environment
from resources.rebuild import RebuildingStore
from resources.repositories import Repository, key_for, with_request
from resources.workspace import Workspace


def index(environment: Environment, request: IndexRequest, progress: Progress) -> IndexOutcome:
    """Bring the index of the requested repository up to date and publish it."""
    with _workspace(environment, request, progress) as workspace:
        return index_repository(workspace, _requested(environment, request, workspace))


def plan(environment: Environment, request: IndexRequest) -> Plan:
    """Return what would be indexed, why each other file is left out, and what would become of it."""
    with _workspace(environment, request) as workspace:
        repository = _requested(environment, request, workspace)
        workspace.take(repository)
        return workspace.plan(repository.key)


def _workspace(environment: Environment, request: IndexRequest, progress: Progress | None = None) -> Workspace:
    root = environment.folder / request.path
    if not root.is_dir():
        raise InputError(f"{request.path} is not a folder", hint="name the folder of a repository")
    deployment = deployment_to_build(environment, root)
    store = RebuildingStore(deployment.store_root) if request.full else None
    return Workspace(deployment, store=store, progress=progress)


def _requested(environment: Environment, request: IndexRequest, workspace: Workspace) -> Repository:
    root = environment.folder / request.path
    key = key_for(root, workspace.repositories, request.repo)
    known = workspace.repositories.get(key) or Repository(key, root.resolve())
    return with_request(known, request.rev, request.overrides)
