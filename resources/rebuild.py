"""`strata index --full`: a store that makes every artifact anew, although it is there.

An artifact's name follows from its inputs, so a recomputation has the name of the artifact it repeats. Where the bytes
are equal, as they must be unless a disk or a stage is at fault, the old artifact stays untouched and readers of the
served generation notice nothing; where they differ the new one takes its place.
"""

from __future__ import annotations

from pathlib import Path

from pipelines.artifacts import Artifact, ArtifactRef
from pipelines.errors import ArtifactError, ArtifactMissing
from pipelines.store import ArtifactStore


class RebuildingStore(ArtifactStore):
    """An ArtifactStore that opens nothing but what it has made itself, so nothing is taken for done and nothing reused.

    `replaced` names the artifacts whose bytes were not those of their recomputation.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._made: set[ArtifactRef] = set()
        self._before = ArtifactStore(root)
        self.replaced: list[ArtifactRef] = []

    def open(self, ref: ArtifactRef) -> Artifact:
        """Open an artifact that was made anew; ArtifactMissing for any other."""
        if ref not in self._made:
            raise ArtifactMissing(f"artifact {ref} is being made anew")
        return super().open(ref)

    def _place(self, folder: Path, ref: ArtifactRef) -> None:
        existed = self.folder(ref).exists()
        if not existed or not self._equal(folder, ref):
            super()._place(folder, ref)
            self.replaced += [ref] if existed else []
        self._made.add(ref)

    def _equal(self, folder: Path, ref: ArtifactRef) -> bool:
        """Compare the manifests, which hold every file's checksum, and the old files with theirs."""
        manifest = "manifest.json"
        try:
            self._before.verify(ref)
            return (folder / manifest).read_bytes() == (self.folder(ref) / manifest).read_bytes()
        except ArtifactError:
            return False
