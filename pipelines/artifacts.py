"""One artifact: an immutable folder named by fingerprint, as it is written and as it is read.

A writer fills a temporary folder, syncs it, writes the manifest last and has the folder renamed into its place. An
artifact holds neither times nor run counts: equal inputs give equal bytes.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines import formats
from pipelines.described import natural, require_described
from pipelines.durable import checksum, json_bytes, storage_error, sync_path, write_synced
from pipelines.errors import ArtifactCorrupt, ArtifactMismatch, ArtifactMissing

#: Stands for the bucket in the path of a per-repository artifact.
WHOLE = "all"
MANIFEST = "manifest.json"
#: Rows per Parquet row group: bounds the memory of a reader, and one file of a large bucket stays scannable.
_ROW_GROUP_ROWS = 65_536
#: The first bytes of a .npy file of version 1; two bytes with the length of the header's text follow, then the text.
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_TEXT = len(_NPY_MAGIC) + 2
#: What a manifest tells of an array.
_ARRAY = {"dtype": str, "shape": [natural]}


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
        return _Told(self.manifest["counts"], self.ref)

    @property
    def facts(self) -> Mapping[str, Any]:
        """What a reader must know besides counts: encoder, settings, dimensions."""
        return _Told(self.manifest["facts"], self.ref)

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
        import pyarrow.parquet as pq  # not above: a query maps Arrow files and reads no Parquet

        try:
            return pq.read_table(self._file(name), columns=columns, memory_map=True)
        except (pa.ArrowException, OSError) as error:
            raise self._corrupt(name, error) from error

    def mapped_table(self, name: str, schema: pa.Schema | None = None) -> pa.Table:
        """Map an Arrow IPC file; columns are views into the file, and those of a schema where one is given."""
        try:
            with pa.memory_map(str(self._file(name))) as source:
                table = pa.ipc.open_file(source).read_all()
        except (pa.ArrowException, OSError) as error:
            raise self._corrupt(name, error) from error
        if schema is not None and not table.schema.equals(schema):
            raise self._corrupt(name, ValueError("it has other columns than were written"))
        return table

    def array(self, name: str) -> npt.NDArray[Any]:
        """Map a .npy array read-only; an empty one is made anew, since a map of no bytes does not exist.

        Shape and type are those of the manifest, and the header must be the one that a writer makes of them: an index
        of many buckets has hundreds of arrays, and `numpy.load` takes ten times as long to parse a header and to find
        the file's real path.
        """
        path = self._file(name)
        dtype, shape = self.layout(name)
        try:
            with open(path, "rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            begin = _header_bytes(mapped, dtype, shape)
            kind = np.dtype(dtype)
            if begin + math.prod(shape) * kind.itemsize != len(mapped):
                raise ValueError(f"it has {len(mapped)} bytes, which are not those of {dtype} {list(shape)}")
            array: npt.NDArray[Any]
            array = np.zeros(shape, kind) if 0 in shape else np.frombuffer(mapped, kind, offset=begin).reshape(shape)
        except (ValueError, OSError) as error:
            raise self._corrupt(name, error) from error
        return array

    def layout(self, name: str) -> tuple[str, tuple[int, ...]]:
        """Return type and shape of an array as the manifest tells them; nothing is read."""
        self._file(name)
        described = self.manifest["files"][name]
        hint = "run `strata index --full`"  # a plain run takes an artifact whose sizes are right for whole
        require_described(described, _ARRAY, f"what the manifest of artifact {self.ref} tells of {name}", hint)
        return described["dtype"], tuple(described["shape"])

    def _file(self, name: str) -> Path:
        if name not in self.manifest["files"]:
            raise ArtifactMissing(f"artifact {self.ref} has no file {name}", hint="run `strata index --full`")
        return self.folder / name

    def require(self, holds: bool, name: str, what: str) -> None:
        """Raise ArtifactCorrupt, saying what is wrong with a file, unless something holds of what was read of it."""
        if not holds:
            raise self._corrupt(name, ValueError(what))

    def _corrupt(self, name: str, error: Exception) -> ArtifactCorrupt:
        hint = "run `strata index --full`"  # its size may be right, so a plain run may take it for whole
        return ArtifactCorrupt(f"cannot read {name} of artifact {self.ref}: {error}", hint=hint)


class _Told(dict[str, Any]):
    """What a manifest tells of its artifact; what it should tell and does not is damage."""

    def __init__(self, told: Mapping[str, Any], ref: ArtifactRef) -> None:
        super().__init__(told)
        self._ref = ref

    def __missing__(self, key: str) -> Any:
        hint = "run `strata index --full`"
        raise ArtifactCorrupt(f"the manifest of artifact {self._ref} does not tell {key}", hint=hint)


@dataclass(slots=True)
class ArtifactWriter:
    """Collects the files of one artifact in a temporary folder; leaving the `with` block without error publishes it."""

    target: Target
    folder: Path
    root: Path  # of the store, for messages
    place: Callable[[Path, ArtifactRef], None]  # renames the folder to where the artifact belongs
    counts: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    _files: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def ref(self) -> ArtifactRef:
        """Name of the artifact."""
        return self.target.ref

    def table(self, name: str, table: pa.Table, schema: pa.Schema) -> None:
        """Write a Parquet table; ArtifactMismatch if its columns are not those of `schema` or hold unexpected nulls."""
        import pyarrow.parquet as pq

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
            described |= {"bytes": path.stat().st_size, "blake2b": checksum(path)}
            sync_path(path)
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
        write_synced(self.folder / MANIFEST, json_bytes(manifest))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._finish()
                self.place(self.folder, self.ref)
            elif isinstance(error, OSError):
                raise storage_error(error, self.root) from error
        except OSError as failure:
            raise storage_error(failure, self.root) from failure
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


def _header_bytes(data: mmap.mmap, dtype: str, shape: tuple[int, ...]) -> int:
    """Return where the values of a .npy file begin; ValueError unless its header is the one of such an array."""
    begin = _NPY_TEXT + int.from_bytes(data[len(_NPY_MAGIC) : _NPY_TEXT], "little")
    text = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    header = data[_NPY_TEXT:begin]
    if data[: len(_NPY_MAGIC)] != _NPY_MAGIC or header[: len(text)] != text or header[len(text) :].strip(b" \n"):
        raise ValueError(f"it does not begin as an array of {dtype} {list(shape)} does")
    return begin


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
