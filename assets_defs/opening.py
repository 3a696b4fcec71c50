"""Published indexes, opened for questions. In: keys and paths as they were typed. Out: a searcher, or figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pipelines.errors import ArtifactMissing, InputError, NothingIndexed
from pipelines.records import Staleness
from pipelines.retrieval import Generation, Searcher, open_generation
from pipelines.serving.cli.host import Opened
from pipelines.store import ArtifactStore, Pointer
from resources.deployment import deployment_to_query
from resources.environment import Environment
from resources.workspace import Workspace

#: A generation can be replaced and removed between reading the pointer and taking the lease; then the next is there.
_MAX_OPENINGS = 3


def open_index(environment: Environment, where: Sequence[str]) -> Opened:
    """Open the published index of the named repositories; none named = all that are published in the store at hand.

    :raises NothingIndexed: if there is none. :raises InputError: for a key that is not known.
    """
    found = list(published(environment, where))
    opened = [open_published(workspace.store, key) for workspace, key in found]
    workspace, key = found[0]
    encoder = workspace.encoder_of(key, opened[0][0].document.encoder)
    return Opened(
        Searcher([generation for generation, _ in opened], encoder),
        {key: pointer for (_, key), (_, pointer) in zip(found, opened, strict=True)},
        _comparison(found),
    )


def _comparison(found: Sequence[tuple[Workspace, str]]) -> Callable[[], Mapping[str, Staleness]]:
    """Compare the repositories with their sources while questions are answered: most of it is waiting for git."""

    def compare() -> Mapping[str, Staleness]:
        return {key: workspace.staleness(key) for workspace, key in found}

    thread = ThreadPoolExecutor(1, "comparison")
    comparison = thread.submit(compare)
    thread.shutdown(wait=False)
    return comparison.result


def published(environment: Environment, where: Sequence[str]) -> Iterator[tuple[Workspace, str]]:
    """Yield the named repositories with the workspace that each is in; none named = all that are published."""
    if where:
        found = dict.fromkeys(located(environment, where))
    else:
        workspace = workspace_at_hand(environment)
        found = dict.fromkeys((workspace, key) for key in workspace.repositories if workspace.store.pointer(key))
        if not found:
            raise NothingIndexed(f"nothing is published in {workspace.store.root}", hint="run `strata index PATH`")
    for workspace, key in found:
        if workspace.store.pointer(key) is None:
            path = workspace.repository(key).root
            raise NothingIndexed(f"nothing of repository {key} is published", hint=f"run `strata index {path}`")
        yield workspace, key


def located(environment: Environment, where: Sequence[str]) -> Iterator[tuple[Workspace, str]]:
    """Yield for each name its workspace and key: a key of the store at hand, or a path at or below a repository."""
    at_hand: Workspace | None = None
    try:
        at_hand = workspace_at_hand(environment)
    except NothingIndexed:
        if not all((environment.folder / name).is_dir() for name in where):
            raise
    for name in where:
        if at_hand is not None and name in at_hand.repositories:
            yield at_hand, name
        elif (environment.folder / name).is_dir():
            yield _at_path(environment, environment.folder / name, at_hand)
        elif at_hand is not None:
            at_hand.repository(name)  # says which keys there are


def workspace_at_hand(environment: Environment) -> Workspace:
    """Return the workspace of the store that the environment or the working directory names."""
    return _readable(Workspace(deployment_to_query(environment)))


def _readable(workspace: Workspace) -> Workspace:
    try:
        workspace.store.require_readable()
    except ArtifactMissing as error:
        raise NothingIndexed(error.message, hint="run `strata index PATH` first") from error
    return workspace


def _at_path(environment: Environment, path: Path, at_hand: Workspace | None) -> tuple[Workspace, str]:
    """Return the repository at or above a path: of the store at hand, or of the one that the path leads to."""
    if at_hand is not None and (key := _covering(at_hand, path)) is not None:
        return at_hand, key
    workspace = _readable(Workspace(deployment_to_query(environment, path)))
    key = _covering(workspace, path)
    if key is None:
        known = ", ".join(workspace.repositories) or "none"
        raise InputError(f"{path} is in no repository of {workspace.store.root}; known: {known}")
    return workspace, key


def _covering(workspace: Workspace, path: Path) -> str | None:
    resolved = path.resolve()
    roots = {key: item.root.resolve() for key, item in workspace.repositories.items()}
    covering = [key for key, root in roots.items() if resolved.is_relative_to(root)]
    return max(covering, key=lambda key: len(roots[key].parts), default=None)


def open_published(store: ArtifactStore, key: str) -> tuple[Generation, Pointer]:
    """Open what is published of a repository now; the caller closes it."""
    for attempt in range(1, _MAX_OPENINGS + 1):
        pointer = store.pointer(key)
        if pointer is None:
            raise NothingIndexed(f"nothing of repository {key} is published", hint="run `strata index`")
        try:
            return open_generation(store, key, pointer.generation), pointer
        except ArtifactMissing:
            if attempt == _MAX_OPENINGS:
                raise
    raise AssertionError("unreachable")
