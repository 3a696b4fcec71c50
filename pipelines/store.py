"""The artifact store: immutable folders named by fingerprint, and the small pointers that say which of them count.

    <root>/store.json                                        format of the store
    <root>/artifacts/<repo>/<asset>/<bucket>/<fingerprint>/  one artifact: its files, manifest.json last
    <root>/repos/<repo>/heads/<asset>/<bucket>.json          the artifact that was materialised last
    <root>/repos/<repo>/generations/<id>.json                which artifacts make one searchable generation
    <root>/repos/<repo>/current.json                         the generation that is served, and the ones before it
    <root>/locks/<repo>.lock                                 held by the one writer of a repository
    <root>/tmp/<repo>/                                       what a running writer has not finished

A writer fills a temporary folder, syncs it, writes the manifest last and renames the folder into place; a pointer is
replaced by one rename. So a kill at any moment leaves every visible artifact whole and the last generation served.
Artifacts hold neither times nor run counts: equal inputs give equal bytes.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines import formats
from pipelines.artifacts import MANIFEST, WHOLE, Artifact, ArtifactRef, ArtifactWriter, Target
from pipelines.containment import inside
from pipelines.described import Each, natural, require_described
from pipelines.durable import (
    checksum,
    json_bytes,
    read_document,
    replace_file,
    storage_error,
    sync_path,
)
from pipelines.errors import ArtifactCorrupt, ArtifactMissing

_MANIFEST = {
    "recipe": str,
    "inputs": [str],
    "files": Each({"bytes": natural, "blake2b": str}),
    "counts": dict,
    "facts": dict,
}
_GENERATION = {
    "repo": str,
    "generation": str,
    "encoder": {"name": str, "digest": str, "dimensions": natural},
    "artifacts": [(formats.FORMATS.__contains__, str, str)],  # asset, bucket, fingerprint
}
_POINTER = {"generation": str, "commit": str, "dirty": bool, "published_at": str, "previous": [str]}


@dataclass(frozen=True, slots=True)
class Pointer:
    """What current.json says: the generation served, newest of `previous` first, and the source it was built from."""

    generation: str
    commit: str
    dirty: bool
    published_at: str  # ISO 8601, UTC
    previous: tuple[str, ...] = ()


class ArtifactStore:
    """A store in a local folder. Writers of one repository hold its lock (see locks.RepositoryLock)."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def place(self, *parts: str) -> Path:
        """Return the path of something in the store; StorageError where a link leads elsewhere."""
        return inside(self.root, *parts)

    def initialise(self) -> None:
        """Create the store's folders, or check that an existing one has a format that this release reads."""
        marker = self.place("store.json")
        if marker.exists():
            self.require_readable()
            return
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            replace_file(self.place(".gitignore"), b"*\n")
            replace_file(marker, json_bytes({"format": formats.STORE.version}))
        except OSError as error:
            raise storage_error(error, self.root) from error

    def require_readable(self) -> None:
        """Raise ArtifactMissing where there is no store, FormatUnsupported where it is of another format."""
        marker = self.place("store.json")
        if not marker.exists():
            raise ArtifactMissing(f"no Strata store at {self.root}", hint="run `strata index` first")
        hint = f"remove {self.root}, then run `strata index`"
        formats.STORE.require_readable(read_document(marker, hint)["format"], f"the store {self.root}")

    # --- artifacts ---

    def writer(self, target: Target) -> ArtifactWriter:
        """Begin an artifact; use as a context manager."""
        scratch = self.place("tmp", target.ref.repo)
        try:
            scratch.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=f"{target.ref.asset}-", dir=scratch))
            return ArtifactWriter(target, folder, self.root, self._place)
        except OSError as error:
            raise storage_error(error, self.root) from error

    def folder(self, ref: ArtifactRef) -> Path:
        """Return where the artifact is or would be."""
        return self.place("artifacts", ref.repo, ref.asset, ref.bucket, ref.fingerprint)

    def holds(self, ref: ArtifactRef) -> bool:
        """Tell whether the artifact is there, readable and of the right size: a cut or removed file is noticed."""
        try:
            self.open(ref)
        except (ArtifactMissing, ArtifactCorrupt):
            return False
        return True

    def open(self, ref: ArtifactRef) -> Artifact:
        """Open an artifact after checking its format and the sizes of its files; checksums are `verify`'s work."""
        folder = self.folder(ref)
        try:
            manifest = read_document(inside(folder, MANIFEST))
        except FileNotFoundError:
            raise ArtifactMissing(f"artifact {ref} is not in the store", hint="run `strata index`") from None
        formats.FORMATS[ref.asset].require_readable(manifest["format"], f"artifact {ref}")
        require_described(manifest, _MANIFEST, f"the manifest of artifact {ref}")
        for name, described in manifest["files"].items():
            try:
                size = os.stat(inside(folder, name)).st_size
            except OSError as error:
                raise ArtifactCorrupt(f"{name} of artifact {ref} is not readable: {error.strerror}") from error
            if size != described["bytes"]:
                raise ArtifactCorrupt(
                    f"{name} of artifact {ref} has {size} bytes, not {described['bytes']}", hint="run `strata index`"
                )
        return Artifact(ref, folder, manifest)

    def verify(self, ref: ArtifactRef) -> Artifact:
        """Open an artifact and compare every file's checksum with the manifest."""
        artifact = self.open(ref)
        for name, described in artifact.manifest["files"].items():
            if checksum(artifact.folder / name) != described["blake2b"]:
                raise ArtifactCorrupt(
                    f"{name} of artifact {ref} has another checksum than when it was written",
                    hint="run `strata index --full`",  # its size is right, so a plain run takes it for whole
                )
        return artifact

    def discard(self, ref: ArtifactRef) -> None:
        """Remove an artifact: out of its place by one rename, then for good."""
        folder = self.folder(ref)
        if folder.exists():
            trash = self.place("tmp", ref.repo)
            trash.mkdir(parents=True, exist_ok=True)
            grave = Path(tempfile.mkdtemp(prefix="trash-", dir=trash))
            os.rename(folder, grave / ref.fingerprint)
            shutil.rmtree(grave, ignore_errors=True)

    def artifacts(self, repo: str) -> Iterator[ArtifactRef]:
        """Name every artifact of a repository."""
        for folder in sorted(self.place("artifacts", repo).glob("*/*/*")):
            yield ArtifactRef(repo, folder.parts[-3], folder.parts[-2], folder.name)

    def _place(self, folder: Path, ref: ArtifactRef) -> None:
        target = self.folder(ref)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not self.holds(ref):
            self.discard(ref)
        try:
            os.rename(folder, target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not self.holds(ref):
                raise
        sync_path(target.parent)

    # --- heads ---

    def head(self, repo: str, asset: str, bucket: str = WHOLE) -> str | None:
        """Return the fingerprint that was materialised last for an asset and bucket, None before the first time."""
        return _read_head(self._head_file(repo, asset, bucket))

    def open_head(self, repo: str, asset: str, bucket: str = WHOLE) -> Artifact:
        """Open what was materialised last; ArtifactMissing, naming asset and bucket, where nothing was."""
        fingerprint = self.head(repo, asset, bucket)
        if fingerprint is None:
            raise ArtifactMissing(
                f"{asset} of repository {repo}, bucket {bucket}, was never materialised",
                hint=f"materialise {asset} first, or run `strata index`",
            )
        return self.open(ArtifactRef(repo, asset, bucket, fingerprint))

    def set_head(self, ref: ArtifactRef) -> None:
        """Make an artifact the one that was materialised last; nothing is written if it is already."""
        if self.head(ref.repo, ref.asset, ref.bucket) != ref.fingerprint:
            self._replace(self._head_file(ref.repo, ref.asset, ref.bucket), {"fingerprint": ref.fingerprint})

    def heads(self, repo: str) -> Iterator[ArtifactRef]:
        """Name every head of a repository."""
        for path in sorted(self.place("repos", repo, "heads").glob("*/*.json")):
            if fingerprint := _read_head(path):
                yield ArtifactRef(repo, path.parent.name, path.stem, fingerprint)

    def drop_head(self, ref: ArtifactRef) -> None:
        """Forget a head: its bucket no longer exists."""
        self._head_file(ref.repo, ref.asset, ref.bucket).unlink(missing_ok=True)

    def _head_file(self, repo: str, asset: str, bucket: str) -> Path:
        return self.place("repos", repo, "heads", asset, f"{bucket}.json")

    # --- generations ---

    def write_generation(self, repo: str, generation: str, document: Mapping[str, Any]) -> None:
        """Write the document of a generation; publishing it is a second step."""
        self._replace(self.generation_file(repo, generation), {"format": formats.GENERATION.version, **document})

    def read_generation(self, repo: str, generation: str) -> Mapping[str, Any]:
        """Read the document of a generation, checking its format."""
        path = self.generation_file(repo, generation)
        try:
            document = read_document(path)
        except FileNotFoundError:
            raise ArtifactMissing(f"generation {generation} of {repo} is gone", hint="run `strata index`") from None
        thing = f"generation {generation} of {repo}"
        formats.GENERATION.require_readable(document["format"], thing)
        require_described(document, _GENERATION, thing)
        if (document["repo"], document["generation"]) != (repo, generation):
            raise ArtifactCorrupt(f"{thing} names another one", hint="run `strata index`")
        if not document["artifacts"]:
            raise ArtifactCorrupt(f"{thing} names no artifacts", hint="run `strata index`")
        return document

    def generation_file(self, repo: str, generation: str) -> Path:
        """Return the file of a generation: readers hold a shared lock on it, so that it is not removed under them."""
        return self.place("repos", repo, "generations", f"{generation}.json")

    def generations(self, repo: str) -> tuple[str, ...]:
        """Name every generation in the store, published or not."""
        return tuple(sorted(path.stem for path in self.place("repos", repo, "generations").glob("*.json")))

    def pointer(self, repo: str) -> Pointer | None:
        """Return what is published, None before the first time."""
        try:
            stored = read_document(self._pointer_file(repo))
        except FileNotFoundError:
            return None
        formats.GENERATION.require_readable(stored["format"], f"the pointer of {repo}")
        require_described(stored, _POINTER, f"the pointer of {repo}")
        return Pointer(**{**{key: stored[key] for key in _POINTER}, "previous": tuple(stored["previous"])})

    def publish(self, repo: str, pointer: Pointer) -> None:
        """Swap the pointer: from this rename on, new readers get the new generation."""
        document = {
            "format": formats.GENERATION.version,
            "generation": pointer.generation,
            "commit": pointer.commit,
            "dirty": pointer.dirty,
            "published_at": pointer.published_at,
            "previous": list(pointer.previous),
        }
        self._replace(self._pointer_file(repo), document)

    def withdraw(self, repo: str) -> None:
        """Remove the pointer: nothing is served until the next publication."""
        self._pointer_file(repo).unlink(missing_ok=True)

    def _pointer_file(self, repo: str) -> Path:
        return self.place("repos", repo, "current.json")

    def repositories(self) -> tuple[str, ...]:
        """Name every repository that has anything in the store."""
        return tuple(sorted(path.name for path in self.place("repos").glob("*") if path.is_dir()))

    def forget(self, repo: str) -> None:
        """Remove everything of a repository."""
        for folder in ("repos", "artifacts", "tmp"):
            shutil.rmtree(self.place(folder, repo), ignore_errors=True)

    def clear_scratch(self, repo: str) -> None:
        """Remove what a killed writer left behind. Only the holder of the repository's lock may call this."""
        shutil.rmtree(self.place("tmp", repo), ignore_errors=True)

    def _replace(self, path: Path, document: Mapping[str, Any]) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, json_bytes(document))
        except OSError as error:
            raise storage_error(error, self.root) from error


def _read_head(path: Path) -> str | None:
    """Read a head; one that is damaged says nothing, which costs no more than finding its artifact again."""
    try:
        fingerprint = json.loads(path.read_bytes())["fingerprint"]
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        return None
    return fingerprint if isinstance(fingerprint, str) else None
