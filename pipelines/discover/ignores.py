"""The ignore files that speak in a folder, and what is wrong with their lines. In: entries. Out: contents, warnings.

A line that can match nothing costs itself alone: git goes on with the next one. But whoever wrote it meant to leave
something out, so it is told with its file and number. What can match nothing is what git's own matcher gives up on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.discover.disk import read_file
from pipelines.discover.entries import Entry, Named
from pipelines.errors import SourceMoved, Unreadable

_OWN, _GITS = b".strataignore", b".gitignore"
#: An ignore file above this is no list that someone wrote; git would read it whole.
_MAX_BYTES = 1_048_576
#: So many lines of one file are told one by one: of a file that is no list at all, every line is wrong.
_MAX_TOLD = 3
_TOO_LARGE = f"not used, since it is larger than {_MAX_BYTES} bytes"
_IS_LINK = "not used, since it is a symbolic link"
_MARK = b"\xef\xbb\xbf"
_CLASSES = frozenset(
    ("alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit")
)
_NAMED_CLASS = re.compile(r"\[:([^\]]*):\]")


@dataclass(frozen=True, slots=True)
class IgnoreFiles:
    """Strata's own ignore files by path, and what is to be told of all ignore files."""

    own: Mapping[bytes, bytes]
    warnings: tuple[str, ...]


def read_ignore_files(root: Path, named: Named, entries: Sequence[Entry]) -> IgnoreFiles:
    """Read the .strataignore files, and look through those that git applies.

    :param root: the folder. :param named: what git names in it. :param entries: those that are files of it.
    """
    found = _from_commit(named, entries) if named.from_commit else _own_on_disk(root, entries)
    own = {path: content for path, content in found.items() if isinstance(content, bytes)}
    looked_at = found if named.from_commit else {**found, **_gits_on_disk(root, named)}
    return IgnoreFiles(own, tuple(text for path in sorted(looked_at) for text in _told(path, looked_at[path])))


def pattern_warnings(key: str, patterns: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the patterns of a setting."""
    for pattern in patterns:
        if fault := pattern_fault(pattern):
            yield f"{key}, {pattern!r}: {fault}"


def pattern_fault(pattern: str) -> str:
    """Say why a gitignore pattern can match nothing, "" if it can."""
    place, end = int(pattern.startswith("!")), len(pattern)
    while place < end:
        if pattern[place] == "\\":
            if place + 1 == end:
                return "it ends with a backslash, so the pattern matches nothing"
            place += 2
        elif pattern[place] == "[":
            after = _after_set(pattern, place)
            if isinstance(after, str):
                return f"{after}, so the pattern matches nothing"
            place = after
        else:
            place += 1
    return ""


def _after_set(pattern: str, start: int) -> int | str:
    """Return where a set of characters, "[a-z]", ends, or why it never does."""
    place = start + 1 + (pattern[start + 1 : start + 2] in ("!", "^"))
    first = True
    while place < len(pattern) and (first or pattern[place] != "]"):
        first = False
        named = _NAMED_CLASS.match(pattern, place)
        if named:
            if named[1] not in _CLASSES:
                return f"there is no class [:{named[1]}:]"
            place = named.end()
        else:
            place += 2 if pattern[place] == "\\" else 1
    return place + 1 if place < len(pattern) else "'[' is never closed"


def _from_commit(named: Named, entries: Sequence[Entry]) -> dict[bytes, bytes | str]:
    if named.repository is None:
        return {}
    git = named.repository.git
    own = [entry for entry in entries if entry.path.rpartition(b"/")[2] == _OWN and entry.size >= 0]
    return {
        entry.path: _TOO_LARGE if entry.size > _MAX_BYTES else git.run("cat-file", "blob", entry.blob_id)
        for entry in own
    }


def _own_on_disk(root: Path, entries: Iterable[Entry]) -> dict[bytes, bytes | str]:
    """Read the files that the listing names; the one at the root counts even if git ignores it."""
    named = {entry.path for entry in entries if entry.path.rpartition(b"/")[2] == _OWN}
    read = {path: _read(root, path) for path in {_OWN, *named}}
    return {path: content for path, content in read.items() if content is not None}


def _gits_on_disk(root: Path, named: Named) -> dict[bytes, bytes | str]:
    """Read the .gitignore files of all listed folders, also those that ignore themselves, and .git/info/exclude."""
    prefix = os.fsencode(root) + b"/"
    paths = [folder + _GITS for folder in _folders(named.entries)]
    found = {path: _read(root, path) for path in paths if os.path.lexists(prefix + path)}
    if named.repository is not None:
        place = named.repository.git.run("rev-parse", "--git-path", "info/exclude").removesuffix(b"\n")
        exclude = root / os.fsdecode(place)
        found[b".git/info/exclude"] = _read(exclude.parent, os.fsencode(exclude.name))
    # what is too large for us, or is no file, git reads or tells itself
    return {path: content for path, content in found.items() if isinstance(content, bytes) or content == _IS_LINK}


def _folders(entries: Iterable[Entry]) -> set[bytes]:
    """Return every folder above an entry, with a '/' at its end, and the root as ""."""
    folders = {b""}
    for entry in entries:
        folder = entry.path.rpartition(b"/")[0]
        while folder and folder + b"/" not in folders:
            folders.add(folder + b"/")
            folder = folder.rpartition(b"/")[0]
    return folders


def _read(root: Path, path: bytes) -> bytes | str | None:
    """Return a file's content, why it is not used, or None if there is none."""
    try:
        content = read_file(root, path, _MAX_BYTES)
    except SourceMoved:
        return _IS_LINK if os.path.islink(os.fsencode(root) + b"/" + path) else None
    except Unreadable as error:
        return error.message
    return _TOO_LARGE if len(content) > _MAX_BYTES else content


def _told(path: bytes, content: bytes | str) -> Iterator[str]:
    """Yield what is to be told of an ignore file: of its lines the first ones, with their numbers."""
    name = path.decode("utf-8", "backslashreplace")
    if isinstance(content, str):
        yield f"{name}: {content}"
        return
    lines = enumerate(content.removeprefix(_MARK).split(b"\n"), 1)
    faults = [f"{name}, line {number}: {fault}" for number, line in lines if (fault := _line_fault(line))]
    yield from faults[:_MAX_TOLD]
    if len(faults) > _MAX_TOLD:
        yield f"{name}: {len(faults) - _MAX_TOLD} more lines of this kind"


def _line_fault(line: bytes) -> str:
    line = line.removesuffix(b"\r")
    if line.startswith(b"#"):
        return ""
    faults = ["a NUL byte, git reads the pattern up to it"] if b"\0" in line else []
    try:
        pattern = line.decode("utf-8")
    except UnicodeDecodeError:
        return "; ".join([*faults, "not UTF-8, it can match no path that is"])
    fault = pattern_fault(_without_trailing_spaces(pattern.partition("\0")[0]))
    return "; ".join([*faults, *([fault] if fault else [])])


def _without_trailing_spaces(pattern: str) -> str:
    """Cut the spaces at the end, but not one behind a backslash: it belongs to the name."""
    stripped = pattern.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if backslashes % 2 and stripped != pattern else stripped
