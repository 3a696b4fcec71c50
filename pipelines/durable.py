"""How bytes become durable: synced, replaced by one rename, described by a checksum. In: paths and content.

What goes wrong with the disk is told in the user's terms here, and what is read back is checked before it is believed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipelines.errors import ArtifactCorrupt, StorageError


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
    sync_path(path.parent)


def storage_error(error: OSError, root: Path) -> StorageError:
    """Say what went wrong with the store in the user's terms: the folder, and what it needs."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageError(f"no space left for the store {root}", hint="free some space, or run `strata gc`")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StorageError(f"the store {root} cannot be written: {error.strerror}", hint="check its permissions")
    return StorageError(f"the store {root} cannot be written: {error}")


def checksum(path: Path) -> str:
    """Return blake2b-128 of a file, as hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def read_document(path: Path, hint: str = "run `strata index`") -> Mapping[str, Any]:
    """Read a JSON document that tells its format; only the caller knows which formats it may have."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise
    except (ValueError, OSError, RecursionError) as error:
        raise ArtifactCorrupt(f"{path} is not readable: {error}", hint=hint) from error
    if not isinstance(document, dict) or type(document.get("format")) is not int:
        raise ArtifactCorrupt(f"{path} does not tell its format", hint=hint)
    return document


def json_bytes(document: Mapping[str, Any]) -> bytes:
    """Return a document as JSON text, equal for equal documents."""
    return json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False).encode() + b"\n"


def write_synced(path: Path, content: bytes) -> None:
    """Write a new file and flush it to disk."""
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_path(path: Path) -> None:
    """Flush a file or folder to disk; some network file systems refuse this for folders, which costs no correctness."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
