"""The ignore files that speak in a folder, and what is wrong with their lines. In: entries. Out: contents, warnings.

A line that can match nothing costs itself alone: git goes on with the next one. But whoever wrote it meant to leave
something out, so it is told with its file and number. What can match nothing is what git's own matcher gives up on, and
what would keep it busy for longer than anyone waits: the time it takes grows with the length of the name to the power
of the number of `*`. Of our own rules, such a line is not handed to git.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.discover.listing.disk import read_file
from pipelines.discover.listing.entries import Entry, Named
from pipelines.errors import SourceMoved, Unreadable

_OWN, _GITS = b".strataignore", b".gitignore"
#: An ignore file above this is no list that someone wrote; git would read it whole.
_MAX_BYTES = 1_048_576
#: So many lines of one file are told one by one: of a file that is no list at all, every line is wrong.
_MAX_TOLD = 3
_TOO_LARGE = f"not used, since it is larger than {_MAX_BYTES} bytes"
_IS_LINK = "not used, since it is a symbolic link"
#: Places with `*` that one part of a pattern between slashes, and a whole pattern, may have. With git 2.39 and a name
#: of 60 characters made for it, four take 2 ms for each path, five 30 ms, thirteen for ever. None of the 43 ignore
#: files of real repositories that were looked at has a line with four.
_MAX_STARS, _MAX_STARS_IN_ALL = 4, 6
_STARS = re.compile(r"\*+")
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
    own = {path: _usable(content) for path, content in found.items() if isinstance(content, bytes)}
    looked_at = found if named.from_commit else {**found, **_gits_on_disk(root, named)}
    return IgnoreFiles(own, tuple(text for path in sorted(looked_at) for text in _told(path, looked_at[path])))


def pattern_warnings(key: str, patterns: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the patterns of a setting."""
    for pattern in patterns:
        if fault := pattern_fault(pattern):
            yield f"{key}, {pattern!r}: {fault}"


def usable_patterns(patterns: Sequence[str]) -> list[str]:
    """Return the patterns of a setting that git is asked about."""
    return [pattern for pattern in patterns if not pattern_fault(pattern)]


def pattern_fault(pattern: str) -> str:
    """Say why a gitignore pattern can match nothing, or is not matched, "" if it is."""
    place, end = int(pattern.startswith("!")), len(pattern)
    plain = ""  # the pattern, with an "x" for what is neither "*" nor "/"
    while place < end:
        plain += pattern[place] if pattern[place] in "*/" else "x"
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
    return _too_many_stars(plain)


def _too_many_stars(plain: str) -> str:
    """Say that a pattern would take too long; a part that is "*" alone has one way to match."""
    stars = [len(_STARS.findall(part)) for part in plain.split("/") if part != "*"]
    if max(stars, default=0) > _MAX_STARS:
        return f"more than {_MAX_STARS} '*' in one part of the path would take too long, so the pattern is not used"
    if sum(stars) > _MAX_STARS_IN_ALL:
        return f"more than {_MAX_STARS_IN_ALL} '*' would take too long, so the pattern is not used"
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


def _usable(content: bytes) -> bytes:
    """Return an ignore file with an empty line for each one that cannot match or is not matched."""
    mark = _MARK if content.startswith(_MARK) else b""
    lines = content.removeprefix(mark).split(b"\n")
    return mark + b"\n".join(b"" if _line_faults(line)[1] else line for line in lines)


def _line_fault(line: bytes) -> str:
    return "; ".join(filter(None, _line_faults(line)))


def _line_faults(line: bytes) -> tuple[str, str]:
    """Return what is to be told of a line, and why it is not used."""
    line = line.removesuffix(b"\r")
    if line.startswith(b"#"):
        return "", ""
    read, nul, _ = line.partition(b"\0")
    told = "a NUL byte, git reads the pattern up to it" if nul else ""
    try:
        return told, pattern_fault(_without_trailing_spaces(read.decode("utf-8")))
    except UnicodeDecodeError:
        return told, "not UTF-8, it can match no path that is"


def _without_trailing_spaces(pattern: str) -> str:
    """Cut the spaces at the end, but not one behind a backslash: it belongs to the name."""
    stripped = pattern.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if backslashes % 2 and stripped != pattern else stripped
