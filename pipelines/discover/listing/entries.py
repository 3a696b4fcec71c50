"""Every path that git names: in a working tree, in a commit, or in a folder that is no repository.

In: a folder. Out: entries with the mode and, where git vouches for it, the blob id; no file is read here, apart from
those that git itself compares because their time stamps changed. Paths are bytes, relative to the folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipelines.discover.listing.git import Repository, scratch_repository
from pipelines.errors import InputError

SUBMODULE_MODE = 0o160000
SYMLINK_MODE = 0o120000
NESTED_MODE = 0o040000
#: Mode of a path that only the disk describes: untracked.
UNKNOWN_MODE = 0
#: Folders that are Strata's own.
_STORE = b".strata"
_UNREADABLE_FOLDER = re.compile(r"^warning: could not open directory '(.*)/': (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One path. `blob_id` is "" where only reading the file tells it; `size` is -1 where only the disk tells it."""

    path: bytes
    mode: int
    blob_id: str = ""
    size: int = -1
    sparse: bool = False  # git was told not to check it out
    unreadable: str = ""  # why git could not look into this folder


@dataclass(frozen=True, slots=True)
class Named:
    """What git names in one folder. Contents come from the working tree, or from the commit if `from_commit`."""

    entries: list[Entry]
    commit: str
    dirty: bool
    repository: Repository | None
    from_commit: bool
    object_format: str = "sha1"


def name_files(root: Path, repository: Repository | None, rev: str) -> Named:
    """Return what git names below a folder.

    :param root: the folder. :param repository: what it belongs to, None for a plain folder.
    :param rev: a revision whose tree is meant, "" for the working tree, in a bare repository for HEAD.
    :raises InputError: for a revision that does not exist, or one of a folder without history.
    """
    if repository is None:
        if rev:
            raise InputError(
                f"{root} is not in a git repository, so it has no revision {rev!r}", hint="leave out --rev"
            )
        return _plain_folder(root)
    if rev or repository.bare:
        return _commit(root, repository, rev or "HEAD")
    return _working_tree(root, repository)


def _commit(root: Path, repository: Repository, rev: str) -> Named:
    commit = repository.commit(rev)
    if not commit:
        if rev == "HEAD":
            raise InputError(f"{root} has no commit yet", hint="commit first, or index a working tree")
        raise InputError(f"{root} has no revision {rev!r}", hint="name a commit, branch or tag that `git log` knows")
    tree = commit.encode() + b":" + repository.prefix.removesuffix(b"/")
    answer = repository.git.ask("ls-tree", "-r", "-z", "-l", "--full-tree", tree)
    if answer.code:
        if repository.prefix:
            raise InputError(f"revision {rev!r} has no folder {root.name}: {answer.message}")
        raise repository.git.failure(answer)
    entries = [_tree_entry(row) for row in answer.output.split(b"\0")[:-1]]
    return Named(_without_stores(entries), commit, False, repository, True, repository.object_format)


def _tree_entry(row: bytes) -> Entry:
    facts, _, path = row.partition(b"\t")
    mode, _, object_id, size = facts.split()
    # a partial clone lists blobs that it does not hold: their size is no number
    return Entry(path, int(mode, 8), object_id.decode("ascii"), int(size) if size.isdigit() else -1)


def _working_tree(root: Path, repository: Repository) -> Named:
    answer = repository.git.ask("ls-files", "-z", "-v", "-s", "-m", "-o", "--exclude-standard")
    if answer.code:
        raise repository.git.failure(answer)
    rows = answer.output.split(b"\0")[:-1]
    if not rows and repository.prefix and repository.git.ask("check-ignore", "-q", ".").code == 0:
        # an ignored folder of a larger repository, such as an installed package: given by name, so it is meant
        return _plain_folder(root)
    entries, changed = _index_entries(rows)
    entries = _without_stores([*_blind_to_filters(entries, repository), *_closed_folders(answer.message)])
    commit = repository.commit("HEAD")
    untracked = any(entry.mode == UNKNOWN_MODE for entry in entries)
    dirty = not commit or changed or untracked or _staged(repository)
    return Named(entries, commit, dirty, repository, False, repository.object_format)


def _index_entries(rows: list[bytes]) -> tuple[list[Entry], bool]:
    """Return one entry per path, and whether any tracked one differs from the index."""
    found: dict[bytes, Entry] = {}
    changed = False
    for row in rows:
        tag = row[:1]
        if tag == b"?":
            path = row[2:]
            nested = path.endswith(b"/")
            found[path.removesuffix(b"/")] = Entry(path.removesuffix(b"/"), NESTED_MODE if nested else UNKNOWN_MODE)
            continue
        facts, _, path = row[2:].partition(b"\t")
        mode, object_id, stage = facts.split()
        # H alone says that disk and index agree: C is changed, M unmerged, S not checked out, a small letter unwatched
        trusted = tag == b"H" and stage == b"0"
        if tag in b"CM":
            changed = True
        if tag == b"C" and int(mode, 8) in (SUBMODULE_MODE, SYMLINK_MODE):
            continue
        blob = object_id.decode("ascii") if trusted else ""
        found[path] = Entry(path, int(mode, 8), blob, sparse=tag in b"Ss")
    return list(found.values()), changed


def _blind_to_filters(entries: list[Entry], repository: Repository) -> Iterator[Entry]:
    """Take the blob id from files whose content a filter driver would convert: what is indexed is what is on disk."""
    if not repository.filters:
        yield from entries
        return
    paths = b"".join(entry.path + b"\0" for entry in entries if entry.blob_id)
    parts = repository.git.run("check-attr", "-z", "--stdin", "filter", data=paths).split(b"\0")[:-1]
    drivers = {name.encode("utf-8", "surrogateescape") for name in repository.filters}
    filtered = {path for path, driver in zip(parts[0::3], parts[2::3], strict=True) if driver in drivers}
    for entry in entries:
        yield Entry(entry.path, entry.mode) if entry.path in filtered else entry


def _staged(repository: Repository) -> bool:
    """Tell whether the index differs from HEAD below the folder."""
    answer = repository.git.ask("diff-index", "--cached", "--quiet", "--no-ext-diff", "HEAD", "--", ".")
    return answer.code != 0


def _plain_folder(root: Path) -> Named:
    with scratch_repository(root) as git:
        answer = git.ask("ls-files", "-z", "-o", "--exclude-standard")
        if answer.code:
            raise git.failure(answer)
    rows = [b"? " + path for path in answer.output.split(b"\0")[:-1]]
    entries = [*_index_entries(rows)[0], *_closed_folders(answer.message)]
    return Named(_without_stores(entries), "", False, None, False)


def _closed_folders(warnings: str) -> list[Entry]:
    """Return an entry for each folder that git was not allowed to look into; it says so in a warning alone."""
    return [
        Entry(path.encode("utf-8"), UNKNOWN_MODE, unreadable=reason)
        for path, reason in _UNREADABLE_FOLDER.findall(warnings)
    ]


def _without_stores(entries: list[Entry]) -> list[Entry]:
    return [entry for entry in entries if _STORE not in entry.path.split(b"/")]
