"""Where things of a store may lie: below its root, and nowhere that a link leads to.

A store can come with a clone, so its content is untrusted: a link in it would let Strata write, or remove, whatever the
link names. Strata itself never makes one, so every path is checked before it is used. Only the root may be a link,
where the user named it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pipelines.errors import StorageError

_NO_NAMES = ("", os.curdir, os.pardir)


def inside(root: Path, *parts: str) -> Path:
    """Return the path of something in a store, there or not.

    :raises StorageError: if the path passes through a link, or a part is no plain name.
    """
    path = str(root)
    for part in parts:
        path = os.path.join(path, part)
        if part in _NO_NAMES or os.sep in part or "\0" in part or os.path.islink(path):
            raise _leads_out(root, path)
    return Path(path)


def require_no_links(root: Path, *parts: str) -> Path:
    """Return the path of a folder in a store whose files others than Strata open, after checking all that is in it."""
    folder = inside(root, *parts)
    for entry in _entries(folder):
        if entry.is_symlink():
            raise _leads_out(root, entry.path)
    return folder


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            for entry in found:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    yield from _entries(Path(entry.path))
    except FileNotFoundError:
        return


def _leads_out(root: Path, path: str) -> StorageError:
    return StorageError(
        f"{path} is a link or no plain name, so it may lead out of {root}",
        hint="if it came with a clone or an archive, remove it; STRATA_HOME names a store elsewhere",
    )
