"""What the listing must know of a content: its size, its first bytes, its blob id. In: an entry. Out: these, or a Skip.

A commit tells id and size. In a working tree git's index vouches for the ids of clean files; all others are read and
hashed, and a file that a link leads to, or that is no regular file, is never opened.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pipelines.discover.file_types import SCRIPT_START_BYTES
from pipelines.discover.listing.blobs import Blobs
from pipelines.discover.listing.disk import read_file
from pipelines.discover.listing.entries import Entry
from pipelines.discover.listing.git import blob_id
from pipelines.records import SkipReason


@dataclass(frozen=True, slots=True)
class Skip:
    """Why a file is left out; `size` only where it is the reason."""

    reason: SkipReason
    detail: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Identified:
    """What is indexed."""

    blob_id: str
    size: int


_NOT_CHECKED_OUT = Skip(SkipReason.MISSING, "not checked out")


class Contents(Protocol):
    """What is asked of a content, from the cheapest question to the dearest."""

    def size(self, entry: Entry) -> int | Skip:
        """Return the size in bytes, or why there is nothing to read."""
        ...

    def start(self, entry: Entry) -> bytes:
        """Return the first bytes."""
        ...

    def identify(self, entry: Entry, size: int) -> Identified:
        """Return the blob id."""
        ...


class CommitContents:
    """Contents of a commit: git has told ids and sizes."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    def size(self, entry: Entry) -> int | Skip:
        """Return the size in bytes, or why there is nothing to read."""
        return entry.size if entry.size >= 0 else Skip(SkipReason.MISSING, "not in this partial clone")

    def start(self, entry: Entry) -> bytes:
        """Return the first bytes."""
        return (self._blobs.get(entry.blob_id) or b"")[:SCRIPT_START_BYTES]

    def identify(self, entry: Entry, size: int) -> Identified:
        """Return the blob id."""
        return Identified(entry.blob_id, size)


class DiskContents:
    """Contents of a working tree: the index vouches for clean files, all others are read and hashed."""

    def __init__(self, root: Path, object_format: str) -> None:
        self._root = root
        self._prefix = os.fsencode(root) + b"/"
        self._object_format = object_format
        self._folders: dict[bytes, Skip | None] = {b"": None}

    def size(self, entry: Entry) -> int | Skip:
        """Return the size in bytes, or why there is nothing to read."""
        unavailable = self._folder(entry.path.rpartition(b"/")[0])
        if not unavailable:
            try:
                status = os.lstat(self._prefix + entry.path)
            except OSError as error:
                unavailable = _unavailable(error)
        if unavailable:
            missing = unavailable.reason is SkipReason.MISSING
            return _NOT_CHECKED_OUT if missing and entry.sparse else unavailable
        if stat.S_ISREG(status.st_mode):
            return status.st_size
        return Skip(SkipReason.SYMLINK if stat.S_ISLNK(status.st_mode) else SkipReason.NOT_A_FILE)

    def start(self, entry: Entry) -> bytes:
        """Return the first bytes."""
        return read_file(self._root, entry.path, SCRIPT_START_BYTES)

    def identify(self, entry: Entry, size: int) -> Identified:
        """Return the blob id."""
        if entry.blob_id:
            return Identified(entry.blob_id, size)
        data = read_file(self._root, entry.path, size)
        return Identified(blob_id(data, self._object_format), len(data))

    def _folder(self, path: bytes) -> Skip | None:
        """Return why nothing below a folder can be read: one look at each folder of the repository."""
        missing: list[bytes] = []
        while path not in self._folders:
            missing.append(path)
            path = path.rpartition(b"/")[0]
        known = self._folders[path]
        for folder in reversed(missing):
            known = self._folders[folder] = known or self._look_at(folder)
        return known

    def _look_at(self, folder: bytes) -> Skip | None:
        try:
            mode = os.lstat(self._prefix + folder).st_mode
        except OSError as error:
            return _unavailable(error)
        if stat.S_ISLNK(mode):
            return Skip(SkipReason.SYMLINK, f"{folder.decode('utf-8', 'backslashreplace')} is a symbolic link")
        return None


def _unavailable(error: OSError) -> Skip:
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return Skip(SkipReason.MISSING)
    return Skip(SkipReason.UNREADABLE, error.strerror or "")
