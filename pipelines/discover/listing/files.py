"""Which files of a repository are indexed, and why each other one is not. In: a folder or revision. Out: a Listing.

Every path that git names stands in the listing exactly once, in the order of path hashes. All decisions that need no
content are made here, in this order: what the path is for git, the deny list, exclude, .strataignore, include, the
name, the `content` setting, then what is on disk. A path inside a `.strata` folder, the store's own, is never listed.

Ignored means what `git status` means by it: .gitignore files, .git/info/exclude and the user's own excludes hold back
untracked files, never tracked ones. Exclude, .strataignore and the deny list hold back tracked files too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipelines.discover.file_types import SCRIPT, FileType, Unwanted, file_type, script_type
from pipelines.discover.listing.blobs import Blobs
from pipelines.discover.listing.contents import CommitContents, Contents, DiskContents, Identified, Skip
from pipelines.discover.listing.disk import escapes
from pipelines.discover.listing.entries import NESTED_MODE, SUBMODULE_MODE, SYMLINK_MODE, Entry, name_files
from pipelines.discover.listing.git import find_repository
from pipelines.discover.listing.ignores import pattern_warnings, read_ignore_files, usable_patterns
from pipelines.discover.listing.patterns import match_ignore_files, match_patterns
from pipelines.discover.listing.scopes import Scopes
from pipelines.discover.listing.shown import masked, shown_paths
from pipelines.errors import InputError, SourceMoved, Unreadable
from pipelines.identity import path_hash
from pipelines.records import Content, ListedFile, Listing, SkipReason
from pipelines.settings import IndexSettings

_CONTENTS = {
    "all": frozenset(Content),
    "code": frozenset({Content.CODE, Content.TEXT}),
    "docs": frozenset({Content.DOCS}),
}
_BY_MODE = {
    SUBMODULE_MODE: Skip(SkipReason.SUBMODULE, "index it as a repository of its own"),
    NESTED_MODE: Skip(SkipReason.NESTED_REPOSITORY, "index it as a repository of its own"),
    SYMLINK_MODE: Skip(SkipReason.SYMLINK),
}


def list_files(root: Path, repo: str, settings: IndexSettings, *, rev: str = "", deny: Sequence[str] = ()) -> Listing:
    """List the files of a working tree, a sub-folder of one, a bare repository, a plain folder, or a revision.

    :param root: the folder; of a sub-folder, only what is below it is listed, relative to it.
    :param repo: the repository key.
    :param settings: which files are wanted.
    :param rev: a commit, branch or tag whose tree is listed instead of the working tree; a bare repository has HEAD.
    :param deny: gitignore patterns, in any case, of paths that may hold secrets: the lines of data/deny.txt.
    :raises InputError: if the folder or the revision cannot be used; the message says why.
    """
    root = require_folder(root)
    named = name_files(root, find_repository(root), rev)
    shown, unnamed = shown_paths([entry.path for entry in named.entries])
    skips = {entry.path: skip for entry in named.entries if (skip := _by_git(entry, unnamed))}
    rest = [entry for entry in named.entries if entry.path not in skips]
    ignores = read_ignore_files(root, named, rest)
    skips |= _pattern_skips([entry.path for entry in rest], ignores.own, settings, deny)
    wanted = _CONTENTS[settings.content]
    scopes = Scopes(settings.scopes)
    listed: list[tuple[bytes, ListedFile]] = []
    with Blobs(named.repository) as blobs:
        contents = CommitContents(blobs) if named.from_commit else DiskContents(root, named.object_format)
        for entry in named.entries:
            path = shown[entry.path]
            kind, known = _decide(entry, path, skips.get(entry.path), contents, settings, wanted)
            scope = scopes.of(path)
            if isinstance(known, Skip):
                reason, detail = known.reason, masked(known.detail)
                file = ListedFile(path, "", known.size, kind.language, scope, kind.content, reason, detail)
            else:
                file = ListedFile(path, known.blob_id, known.size, kind.language, scope, kind.content)
            listed.append((path_hash(path), file))
    listed.sort(key=lambda item: item[0])
    warnings = (
        *pattern_warnings("index.include", settings.include),
        *pattern_warnings("index.exclude", settings.exclude),
        *ignores.warnings,
    )
    return Listing(repo, named.commit, named.dirty, tuple(file for _, file in listed), tuple(map(masked, warnings)))


def require_folder(root: Path) -> Path:
    """Return the folder that a path names, without symbolic links; InputError if it is none."""
    try:
        folder = root.resolve(strict=True)
        if not folder.is_dir():
            raise InputError(f"{root} is not a folder", hint="give the folder of a repository")
        os.scandir(folder).close()
    except FileNotFoundError:
        raise InputError(f"{root} does not exist", hint="give the folder of a repository") from None
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
        raise InputError(f"{root} cannot be opened: {error}") from error
    return folder


def _pattern_skips(
    paths: Sequence[bytes], ignore_files: Mapping[bytes, bytes], settings: IndexSettings, deny: Sequence[str]
) -> dict[bytes, Skip]:
    """Return the paths that are left out by a pattern, and by which."""
    found: dict[bytes, Skip] = {}
    if settings.include:
        included = match_patterns(usable_patterns(settings.include), paths)
        outside = Skip(SkipReason.EXCLUDED, "matches no include pattern")
        found |= dict.fromkeys((path for path in paths if path not in included), outside)
    # the strongest rule last: it overwrites the reason that a weaker one gave
    ignored = match_ignore_files(ignore_files, paths)
    found |= {path: Skip(SkipReason.STRATAIGNORE, detail) for path, detail in ignored.items()}
    excluded = match_patterns(usable_patterns(settings.exclude), paths)
    found |= {path: Skip(SkipReason.EXCLUDED, f"exclude: {pattern}") for path, pattern in excluded.items()}
    denied = match_patterns(deny, paths, ignore_case=True)
    return found | {path: Skip(SkipReason.DENIED, pattern) for path, pattern in denied.items()}


def _by_git(entry: Entry, unnamed: Mapping[bytes, Skip]) -> Skip | None:
    """Decide by what the path is for git, and by whether it can be told."""
    if entry.mode in _BY_MODE:
        return _BY_MODE[entry.mode]
    if entry.path in unnamed:
        return unnamed[entry.path]
    if entry.unreadable:
        return Skip(SkipReason.UNREADABLE, f"folder: {entry.unreadable}")
    if escapes(entry.path):
        return Skip(SkipReason.NOT_A_FILE, "not a path that git would check out")
    return None


def _decide(
    entry: Entry,
    path: str,
    skip: Skip | None,
    contents: Contents,
    settings: IndexSettings,
    wanted: frozenset[Content],
) -> tuple[FileType, Identified | Skip]:
    """Return what a file is, and its content or why it is left out."""
    kind = file_type(path)
    if isinstance(kind, Unwanted):
        return SCRIPT, skip or Skip(kind.reason, kind.detail)
    if skip:
        return kind, skip
    if kind.content not in wanted:
        return kind, Skip(SkipReason.CONTENT, kind.content.value)
    size = contents.size(entry)
    if isinstance(size, Skip):
        return kind, size
    try:
        return _decide_by_content(entry, kind, size, contents, settings)
    except SourceMoved:
        return kind, Skip(SkipReason.MISSING, "gone while it was listed")
    except Unreadable as error:
        return kind, Skip(SkipReason.UNREADABLE, error.message)


def _decide_by_content(
    entry: Entry, kind: FileType, size: int, contents: Contents, settings: IndexSettings
) -> tuple[FileType, Identified | Skip]:
    limit = kind.max_bytes or (settings.max_file_bytes if kind.parsed else settings.max_text_bytes)
    if size == 0:
        return kind, Skip(SkipReason.EMPTY)
    if size > limit:
        return kind, Skip(SkipReason.TOO_LARGE, f"{size} bytes, limit {limit}", size)
    if kind is SCRIPT:
        script = script_type(contents.start(entry))
        if isinstance(script, Unwanted):
            return kind, Skip(script.reason, script.detail)
        kind = script
    return kind, contents.identify(entry, size)
