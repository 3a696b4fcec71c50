"""The published indexes of the store at hand, for a server: a Library as pipelines/serving/library.py describes it."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assets_defs.opening import open_published, workspace_at_hand
from pipelines.serving.library import Volume
from resources.environment import Environment
from resources.workspace import Workspace

if TYPE_CHECKING:
    from pipelines.records import Encoder
    from pipelines.serving.cli.host import RepositoryStatus
    from pipelines.store import Pointer


class StoreLibrary:
    """Reads the store that the environment or the working directory names.

    :raises NothingIndexed: where there is no store. One without anything published is followed until there is.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._guard = threading.Lock()
        self._signature: tuple[object, ...] = ()
        self._workspace = workspace_at_hand(environment)
        self._encoders: dict[str, Encoder] = {}

    def pointers(self) -> Mapping[str, Pointer]:
        """Return what is published of each repository."""
        workspace = self._current()
        found = {key: workspace.store.pointer(key) for key in workspace.repositories}
        return {key: pointer for key, pointer in found.items() if pointer is not None}

    def open(self, repo: str) -> Volume:
        """Open what is published of a repository."""
        workspace = self._current()
        generation, pointer = open_published(workspace.store, repo)
        made_by = generation.document.encoder
        with self._guard:
            encoder = self._encoders.get(made_by.digest) or workspace.encoder_of(repo, made_by)
            self._encoders[encoder.digest] = encoder
        return Volume(generation, pointer, encoder)

    def statuses(self) -> Sequence[RepositoryStatus]:
        """Tell how each repository stands to its source, as it is now."""
        from assets_defs.upkeep import repository_status

        workspace = self._current()
        for key in workspace.repositories:
            workspace.refresh(key)
        return [repository_status(workspace, key) for key in workspace.repositories]

    def _current(self) -> Workspace:
        """Return the workspace, made anew when the registry or the configuration has changed."""
        deployment = self._workspace.deployment
        files = [deployment.store_root / "repositories.json", *filter(None, [deployment.config])]
        signature = tuple(map(_signature, files))
        if signature != self._signature:
            with self._guard:
                self._workspace, self._signature = workspace_at_hand(self._environment), signature
        return self._workspace


def _signature(path: Path) -> object:
    try:
        stat = os.stat(path)
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
