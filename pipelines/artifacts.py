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

import contextlib
import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines import formats
from pipelines.containment import inside
from pipelines.errors import ArtifactCorrupt, ArtifactMismatch, ArtifactMissing, StorageError

#: Stands for the bucket in the path of a per-repository artifact.
WHOLE = "all"
_MANIFEST = "manifest.json"
_MANIFEST_KEYS = {"recipe", "inputs", "files", "counts", "facts"}
_GENERATION_KEYS = {"repo", "generation", "encoder", "artifacts"}
_POINTER_KEYS = {"generation", "commit", "dirty", "published_at", "previous"}
#: Rows per Parquet row group: bounds the memory of a reader, and one file of a large bucket stays scannable.
_ROW_GROUP_ROWS = 65_536


@dataclass(frozen=True, slots=True, order=True)
class ArtifactRef:
    """Names one artifact. `bucket` is WHOLE for a per-repository artifact."""

    repo: str
    asset: str
    bucket: str
    fingerprint: str

    def __str__(self) -> str:
        return f"{self.repo}/{self.asset}/{self.bucket}/{self.fingerprint}"


@dataclass(frozen=True, slots=True)
class Target:
    """An artifact to be made: its name, the recipe (format, revision, settings) and the artifacts it is made from."""

    ref: ArtifactRef
    recipe: str
    inputs: tuple[ArtifactRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Artifact:
    """An opened artifact. Arrays and Arrow tables are memory-mapped; nothing is read before it is asked for."""

    ref: ArtifactRef
    folder: Path
    manifest: Mapping[str, Any]

    @property
    def counts(self) -> Mapping[str, Any]:
        """Row counts and the like, as the stage wrote them."""
        counts: Mapping[str, Any] = self.manifest["counts"]
        return counts

    @property
    def facts(self) -> Mapping[str, Any]:
        """What a reader must know besides counts: encoder, settings, dimensions."""
        facts: Mapping[str, Any] = self.manifest["facts"]
        return facts

    @property
    def recipe(self) -> str:
        """Fingerprint of format, revision and settings: rows may be reused between artifacts of equal recipe."""
        recipe: str = self.manifest["recipe"]
        return recipe

    @property
    def inputs(self) -> tuple[str, ...]:
        """Fingerprints of the artifacts it was made from."""
        return tuple(self.manifest["inputs"])

    @property
    def total_bytes(self) -> int:
        """Size of all files, the manifest apart."""
        return sum(item["bytes"] for item in self.manifest["files"].values())

    def __contains__(self, name: str) -> bool:
        return name in self.manifest["files"]

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """Read a Parquet table."""
        try:
            return pq.read_table(self._file(name), columns=columns, memory_map=True)
        except (pa.ArrowInvalid, OSError) as error:
            raise self._corrupt(name, error) from error

    def mapped_table(self, name: str) -> pa.Table:
        """Map an Arrow IPC file; columns are views into the file."""
        try:
            with pa.memory_map(str(self._file(name))) as source:
                return pa.ipc.open_file(source).read_all()
        except (pa.ArrowInvalid, OSError) as error:
            raise self._corrupt(name, error) from error

    def array(self, name: str) -> npt.NDArray[Any]:
        """Map a .npy array read-only; an empty one is read, since a map of no bytes does not exist."""
        empty = 0 in self.manifest["files"][name]["shape"]
        try:
            array: npt.NDArray[Any] = np.load(self._file(name), mmap_mode=None if empty else "r", allow_pickle=False)
        except (ValueError, OSError) as error:
            raise self._corrupt(name, error) from error
        return array

    def _file(self, name: str) -> Path:
        if name not in self.manifest["files"]:
            raise ArtifactMissing(f"artifact {self.ref} has no file {name}", hint="run `strata index --full`")
        return self.folder / name

    def _corrupt(self, name: str, error: Exception) -> ArtifactCorrupt:
        return ArtifactCorrupt(f"cannot read {name} of artifact {self.ref}: {error}", hint="run `strata index`")


@dataclass(slots=True)
class ArtifactWriter:
    """Collects the files of one artifact in a temporary folder; leaving the `with` block without error publishes it."""

    store: ArtifactStore
    target: Target
    folder: Path
    counts: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    _files: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def ref(self) -> ArtifactRef:
        """Name of the artifact."""
        return self.target.ref

    def table(self, name: str, table: pa.Table, schema: pa.Schema) -> None:
        """Write a Parquet table; ArtifactMismatch if its columns are not those of `schema` or hold unexpected nulls."""
        checked = _conform(table, schema, f"{name} of {self.ref}")
        pq.write_table(checked, self.folder / name, compression="zstd", row_group_size=_ROW_GROUP_ROWS)
        self._files[name] = {"kind": "table", "rows": checked.num_rows}

    def mapped_table(self, name: str, table: pa.Table, schema: pa.Schema) -> None:
        """Write an uncompressed Arrow IPC file of one record batch, to be memory-mapped."""
        checked = _conform(table, schema, f"{name} of {self.ref}").unify_dictionaries().combine_chunks()
        with pa.OSFile(str(self.folder / name), "wb") as sink, pa.ipc.new_file(sink, checked.schema) as writer:
            writer.write_table(checked, max_chunksize=max(1, checked.num_rows))
        self._files[name] = {"kind": "mapped_table", "rows": checked.num_rows}

    def array(self, name: str, array: npt.NDArray[Any]) -> None:
        """Write a C-order little-endian .npy array."""
        ordered = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        np.save(self.folder / name, ordered, allow_pickle=False)
        self._files[name] = {"kind": "array", "shape": list(array.shape), "dtype": ordered.dtype.str}

    @contextlib.contextmanager
    def array_parts(
        self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike
    ) -> Iterator[Callable[[npt.NDArray[Any]], None]]:
        """Write a .npy array that need not fit in memory: call what is yielded with one block of rows after another."""
        kind = np.dtype(dtype).newbyteorder("<")
        header = {"descr": kind.str, "fortran_order": False, "shape": shape}
        written = 0
        with open(self.folder / name, "wb") as file:
            np.lib.format.write_array_header_1_0(file, header)

            def append(block: npt.NDArray[Any]) -> None:
                nonlocal written
                file.write(np.ascontiguousarray(block, dtype=kind).data)
                written += len(block)

            yield append
        if written != shape[0]:
            raise ArtifactMismatch(f"{name} of {self.ref} has {written} rows, not {shape[0]}")
        self._files[name] = {"kind": "array", "shape": list(shape), "dtype": kind.str}

    def _finish(self) -> None:
        for name, described in self._files.items():
            path = self.folder / name
            described |= {"bytes": path.stat().st_size, "blake2b": _checksum(path)}
            _sync(path)
        manifest = {
            "format": formats.FORMATS[self.ref.asset].version,
            "repo": self.ref.repo,
            "asset": self.ref.asset,
            "bucket": self.ref.bucket,
            "fingerprint": self.ref.fingerprint,
            "recipe": self.target.recipe,
            "inputs": [ref.fingerprint for ref in self.target.inputs],
            "files": self._files,
            "counts": self.counts,
            "facts": self.facts,
        }
        _write_synced(self.folder / _MANIFEST, _json_bytes(manifest))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._finish()
                self.store._place(self.folder, self.ref)
            elif isinstance(error, OSError):
                raise storage_error(error, self.store.root) from error
        except OSError as failure:
            raise storage_error(failure, self.store.root) from failure
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


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
            replace_file(marker, _json_bytes({"format": formats.STORE.version}))
        except OSError as error:
            raise storage_error(error, self.root) from error

    def require_readable(self) -> None:
        """Raise ArtifactMissing where there is no store, FormatUnsupported where it is of another format."""
        marker = self.place("store.json")
        if not marker.exists():
            raise ArtifactMissing(f"no Strata store at {self.root}", hint="run `strata index` first")
        hint = f"remove {self.root}, then run `strata index`"
        formats.STORE.require_readable(_read_document(marker, hint)["format"], f"the store {self.root}")

    # --- artifacts ---

    def writer(self, target: Target) -> ArtifactWriter:
        """Begin an artifact; use as a context manager."""
        scratch = self.place("tmp", target.ref.repo)
        try:
            scratch.mkdir(parents=True, exist_ok=True)
            return ArtifactWriter(self, target, Path(tempfile.mkdtemp(prefix=f"{target.ref.asset}-", dir=scratch)))
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
            manifest = _read_document(inside(folder, _MANIFEST))
        except FileNotFoundError:
            raise ArtifactMissing(f"artifact {ref} is not in the store", hint="run `strata index`") from None
        formats.FORMATS[ref.asset].require_readable(manifest["format"], f"artifact {ref}")
        _require_keys(manifest, _MANIFEST_KEYS, f"the manifest of artifact {ref}")
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
            if _checksum(artifact.folder / name) != described["blake2b"]:
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
        _sync(target.parent)

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
            document = _read_document(path)
        except FileNotFoundError:
            raise ArtifactMissing(f"generation {generation} of {repo} is gone", hint="run `strata index`") from None
        formats.GENERATION.require_readable(document["format"], f"generation {generation} of {repo}")
        _require_keys(document, _GENERATION_KEYS, f"generation {generation} of {repo}")
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
            stored = _read_document(self._pointer_file(repo))
        except FileNotFoundError:
            return None
        formats.GENERATION.require_readable(stored["format"], f"the pointer of {repo}")
        _require_keys(stored, _POINTER_KEYS, f"the pointer of {repo}")
        return Pointer(**{**{key: stored[key] for key in _POINTER_KEYS}, "previous": tuple(stored["previous"])})

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
            replace_file(path, _json_bytes(document))
        except OSError as error:
            raise storage_error(error, self.root) from error


def replace_file(path: Path, content: bytes) -> None:
    """Replace a small file by one rename: a reader sees the old content or the new one, never a part."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    _sync(path.parent)


def storage_error(error: OSError, root: Path) -> StorageError:
    """Say what went wrong with the store in the user's terms: the folder, and what it needs."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageError(f"no space left for the store {root}", hint="free some space, or run `strata gc`")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StorageError(f"the store {root} cannot be written: {error.strerror}", hint="check its permissions")
    return StorageError(f"the store {root} cannot be written: {error}")


def _conform(table: pa.Table, schema: pa.Schema, thing: str) -> pa.Table:
    if table.column_names != schema.names:
        raise ArtifactMismatch(f"{thing} has columns {table.column_names}, not {schema.names}")
    for column in schema:
        if not column.nullable and table[column.name].null_count:
            raise ArtifactMismatch(f"{thing} has nulls in column {column.name}")
    try:
        return table.cast(schema)
    except pa.ArrowInvalid as error:
        raise ArtifactMismatch(f"{thing} has values of another type than its columns: {error}") from error


def _checksum(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _read_document(path: Path, hint: str = "run `strata index`") -> Mapping[str, Any]:
    """Read a JSON document that tells its format; only the caller knows which formats it may have."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise
    except (ValueError, OSError) as error:
        raise ArtifactCorrupt(f"{path} is not readable: {error}", hint=hint) from error
    if not isinstance(document, dict) or not isinstance(document.get("format"), int):
        raise ArtifactCorrupt(f"{path} does not tell its format", hint=hint)
    return document


def _require_keys(document: Mapping[str, Any], keys: set[str], thing: str) -> None:
    if lacking := keys - document.keys():
        raise ArtifactCorrupt(f"{thing} has no {min(lacking)}", hint="run `strata index`")


def _read_head(path: Path) -> str | None:
    """Read a head; one that is damaged says nothing, which costs no more than finding its artifact again."""
    try:
        fingerprint = json.loads(path.read_bytes())["fingerprint"]
    except (ValueError, KeyError, TypeError, OSError):
        return None
    return fingerprint if isinstance(fingerprint, str) else None


def _json_bytes(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False).encode() + b"\n"


def _write_synced(path: Path, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(path: Path) -> None:
    """Flush a file or folder to disk; some network file systems refuse this for folders, which costs no correctness."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
