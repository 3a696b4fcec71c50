"""Reading files below a folder without ever leaving it: no symbolic link is followed, nothing that can block is opened.

In: a folder and a relative path. Out: the bytes. Every component is opened relative to the one before it, so a link
that is put in place while a run is reading cannot lead outside.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

from pipelines.errors import SourceMoved, Unreadable

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: Without O_NONBLOCK, opening a FIFO waits for its other end.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
#: What the kernel says of a component that is gone, or is a link or no folder any more.
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EISDIR})

_ESCAPES = re.compile(rb"(?:\A|/)(?:\.{0,2}|\.git)(?:/|\Z)", re.IGNORECASE)


def escapes(path: bytes) -> bool:
    """Tell whether a path from a repository is none that git would check out: '..', '.git', an absolute path."""
    return _ESCAPES.search(path) is not None


def read_file(root: Path, path: bytes, limit: int) -> bytes:
    """Return the bytes of a regular file, at most `limit` + 1 of them.

    :raises SourceMoved: if the path is gone, leads over a link or is not a regular file any more.
    :raises Unreadable: if it may not be read.
    """
    shown = path.decode("utf-8", "backslashreplace")
    if escapes(path):
        raise SourceMoved(f"{shown} is not a path inside {root}")
    try:
        return _read(root, path, limit)
    except OSError as error:
        if error.errno in _GONE:
            raise SourceMoved(f"{shown} is no longer a regular file in {root}", hint="run again") from None
        raise Unreadable(f"cannot read {shown}: {error.strerror}") from error


def _read(root: Path, path: bytes, limit: int) -> bytes:
    *folders, name = path.split(b"/")
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER_FLAGS, dir_fd=handle)
            os.close(handle)
            handle = inner
        file = os.open(name, _FILE_FLAGS, dir_fd=handle)
    finally:
        os.close(handle)
    with open(file, "rb", buffering=0) as opened:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.ENXIO, "not a regular file")
        return _read_up_to(opened.fileno(), min(status.st_size, limit) + 1)


def _read_up_to(file: int, count: int) -> bytes:
    """Read until the end or `count` bytes: one call for almost every file."""
    data = os.read(file, count)
    if len(data) in (0, count):
        return data
    parts = [data]
    missing = count - len(data)
    while missing and (data := os.read(file, missing)):
        parts.append(data)
        missing -= len(data)
    return b"".join(parts)
