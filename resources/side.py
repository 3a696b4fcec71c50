"""A store beside another one: to measure what the other one could hold, without a change to it."""

from __future__ import annotations

from pathlib import Path

from pipelines.artifacts import ArtifactRef
from pipelines.store import ArtifactStore


class SideStore(ArtifactStore):
    """An ArtifactStore in a folder of its own that sees the artifacts of another one and writes none there.

    The caller keeps what it sees from being removed, by a generation that it has open.
    """

    def __init__(self, root: Path, seen: ArtifactStore) -> None:
        super().__init__(root)
        self._seen = seen

    def folder(self, ref: ArtifactRef) -> Path:
        """Return where the artifact is: here, or in the other store; else where it would be here."""
        own = super().folder(ref)
        return own if own.exists() or not self._seen.holds(ref) else self._seen.folder(ref)
