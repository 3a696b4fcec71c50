"""Scopes of a monorepo: which package a file belongs to. In: folder patterns. Out: the scope of each path.

A pattern is relative to the indexed root and names whole folders; `*`, `?` and `[...]` stay inside one folder name,
`**` stands for any number of folders: `packages/*` makes every folder in packages a scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase


class Scopes:
    """Finds the scope of a path: the deepest of its folders that a pattern matches, "" without one."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = [tuple(pattern.strip("/").split("/")) for pattern in patterns if pattern.strip("/")]
        self._known: dict[str, str] = {"": ""}

    def of(self, path: str) -> str:
        """Return the scope of a file."""
        if not self._patterns:
            return ""
        folder = path.rpartition("/")[0]
        undecided: list[str] = []
        while folder not in self._known and not self._is_scope(folder):
            undecided.append(folder)
            folder = folder.rpartition("/")[0]
        scope = self._known.setdefault(folder, folder)
        self._known.update(dict.fromkeys(undecided, scope))
        return scope

    def _is_scope(self, folder: str) -> bool:
        parts = tuple(folder.split("/"))
        return any(_matches(parts, pattern) for pattern in self._patterns)


def _matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    reached = {0}  # how many of the parts the pattern so far may stand for
    for name in pattern:
        if name == "**":
            reached = set(range(min(reached, default=len(parts) + 1), len(parts) + 1))
        else:
            reached = {place + 1 for place in reached if place < len(parts) and fnmatchcase(parts[place], name)}
    return len(parts) in reached
