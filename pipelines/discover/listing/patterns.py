"""Which paths a list of gitignore patterns matches: git itself is asked, so the rules are git's to the letter.

In: patterns and paths. Out: for each path that matches, the pattern that decided. An empty repository in a temporary
folder is asked, so neither the user's own excludes nor the repository's files take part, and the paths need not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pipelines.discover.listing.git import Git, scratch_repository

_NOTHING_MATCHES = 1  # exit code of `git check-ignore`
#: Seconds that git may take over the patterns; the deny list and a million paths take 27.
TIMEOUT_S = 120.0
_LATE = "shorten the patterns with several '*' in index.include, index.exclude or a .strataignore"


def match_patterns(patterns: Sequence[str], paths: Iterable[bytes], *, ignore_case: bool = False) -> dict[bytes, str]:
    """Return the paths that gitignore patterns match, each with the deciding pattern.

    A later pattern wins over an earlier one, `!` takes back, a pattern with a slash is relative to the root, and what
    matches a folder matches everything in it.
    """
    if not patterns:
        return {}
    with scratch_repository() as git:
        git = git.with_config(("core.ignoreCase", str(ignore_case).lower()))
        # what only takes back cannot match a path that nothing else matches, which is nearly all of them
        taking = [pattern for pattern in patterns if not pattern.startswith("!")]
        found = _match(git, taking, paths)
        return found if len(taking) == len(patterns) or not found else _match(git, patterns, found)


def _match(git: Git, patterns: Sequence[str], paths: Iterable[bytes]) -> dict[bytes, str]:
    file = git.folder.parent / "patterns"
    file.write_bytes("".join(f"{pattern}\n" for pattern in patterns).encode("utf-8", "surrogateescape"))
    answers = _check_ignore(git.with_config(("core.excludesFile", str(file))), paths)
    return {path: pattern for path, (_, pattern) in answers.items()}


def match_ignore_files(files: Mapping[bytes, bytes], paths: Iterable[bytes]) -> dict[bytes, str]:
    """Return the paths that ignore files match, each with the file and its deciding pattern.

    :param files: contents by path; each file speaks for its own folder and those below, nearer files win.
    :param paths: the paths to decide on.
    """
    if not files:
        return {}
    with scratch_repository() as git:
        for path, content in files.items():
            # git reads this name in every folder, whatever the file is called where it comes from
            place = _folder(git.folder, path) / ".gitignore"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        git = git.with_config(("core.excludesFile", ""), ("core.ignoreCase", "false"))
        names = {_parent(path): path.decode("utf-8", "backslashreplace") for path in files}
        found = _check_ignore(git, paths)
        return {path: f"{names[_parent(source)]}: {pattern}" for path, (source, pattern) in found.items()}


def _check_ignore(git: Git, paths: Iterable[bytes]) -> dict[bytes, tuple[bytes, str]]:
    """Return source and pattern for each ignored path."""
    # "./" before each path, since one that starts with ":" would be taken for pathspec magic
    data = b"".join(b"./" + path + b"\0" for path in paths)
    answer = git.ask("check-ignore", "--no-index", "--stdin", "-z", "-v", data=data, timeout=TIMEOUT_S, late=_LATE)
    if answer.code not in (0, _NOTHING_MATCHES):
        raise git.failure(answer)
    fields = answer.output.split(b"\0")[:-1]
    return {
        path[2:]: (source, pattern.decode("utf-8", "backslashreplace"))
        for source, pattern, path in zip(fields[0::4], fields[2::4], fields[3::4], strict=True)
        if not pattern.startswith(b"!")
    }


def _folder(root: Path, path: bytes) -> Path:
    return root / _parent(path).decode("utf-8", "surrogateescape")


def _parent(path: bytes) -> bytes:
    return path.rpartition(b"/")[0]
