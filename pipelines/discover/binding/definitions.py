"""What is defined, by every name that a call may know it under. In: files and symbols of all buckets. Out: lookups.

A symbol is nested in a function (only its own file's code can name it), a member (its container must be named), or
free. Lookups hold node numbers: rows of graph_snapshot, that is places in the order of symbol_id.
"""

from __future__ import annotations

import posixpath
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.discover.binding.rules import CallRules, family_of, rules_of
from pipelines.records import CALLABLE_KINDS, SymbolKind

_CALLABLE = frozenset(str(kind) for kind in CALLABLE_KINDS)
#: What a C declaration says when its name ends at the end of the file; in a header it is everyone's.
_STATIC = re.compile(r"\bstatic\b")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl")
_GO_RECEIVER = re.compile(r"func\s*\(\s*(\w+)\s")


@dataclass(slots=True)
class SourceUnit:
    """One file: where it is and what it defines, by qualified name."""

    path: str
    family: str
    rules: CallRules
    folder: str
    symbols: dict[str, list[int]] = field(default_factory=dict)
    #: What its modules hold, by name, where importers see it (rules.exports_members).
    exports: dict[str, list[int]] = field(default_factory=dict)

    def visible(self, qualified: str) -> Sequence[int]:
        """Return what other files find under a name."""
        return self.symbols.get(qualified) or self.exports.get(qualified) or ()


@dataclass(slots=True)
class FamilyIndex:
    """The definitions of one language family that other files can name. Lists of nodes are ascending."""

    free: dict[str, list[int]] = field(default_factory=dict)  # name -> functions, macros, classes
    members: dict[str, list[int]] = field(default_factory=dict)  # name -> methods
    owned: dict[str, list[int]] = field(default_factory=dict)  # "Container.name" -> whatever is in such a container
    folders: dict[str, dict[str, list[int]]] = field(default_factory=dict)  # folder -> name -> free symbols
    containers: dict[str, list[str]] = field(default_factory=dict)  # folded name -> the names that fold to it


def fold_name(name: str) -> str:
    """Return what a variable and the class it is named after have in common: user_service, UserService."""
    return name.replace("_", "").lower()


class Definitions:
    """All definitions of a repository. Fill with `add_files` and `add_symbols`, bucket by bucket, then look up."""

    def __init__(self) -> None:
        self.files: list[SourceUnit] = []
        self.file_of_path: dict[str, int] = {}
        self.families: dict[str, FamilyIndex] = {}
        self.names: list[str] = []
        self.qualified: list[str] = []
        self.container: list[str] = []  # innermost class or namespace; "" for none
        self.own_word: dict[int, str] = {}  # Go: the method's name for its own object
        self.file = array("i")
        self._kinds: list[str] = []

    def add_files(self, paths: Iterable[str], languages: Iterable[str]) -> None:
        """Add the files of a bucket."""
        for path, language in zip(paths, languages, strict=True):
            self.file_of_path[path] = len(self.files)
            family = family_of(language)
            self.files.append(SourceUnit(path, family, rules_of(language), posixpath.dirname(path)))
            self.families.setdefault(family, FamilyIndex())

    def add_symbols(self, columns: dict[str, Sequence[Any]]) -> None:
        """Add the symbols of a bucket, in order of symbol_id, to files that were added.

        :param columns: path, kind, name, qualified_name, start_byte, signature.
        """
        first = len(self.names)
        files = [self.file_of_path[path] for path in columns["path"]]
        self.file.extend(files)
        self.names.extend(columns["name"])
        self.qualified.extend(columns["qualified_name"])
        self._kinds.extend(columns["kind"])
        starts = columns["start_byte"]
        for node, file in enumerate(files, start=first):
            unit = self.files[file]
            same = unit.symbols.setdefault(self.qualified[node], [])
            if not (same and unit.rules.last_wins):
                same.append(node)
            elif starts[same[0] - first] < starts[node - first]:
                same[0] = node
        for node, signature in enumerate(columns["signature"], start=first):
            self._index(node, signature)

    def is_member(self, node: int) -> bool:
        """Tell whether a symbol can only be named through its container or from inside it."""
        return self._kinds[node] == SymbolKind.METHOD or (bool(self.container[node]) and self._in_class(node))

    def is_callable(self, node: int) -> bool:
        """Tell whether a symbol is a function, method or macro."""
        return self._kinds[node] in _CALLABLE

    def unit(self, node: int) -> SourceUnit:
        """Return the file of a node."""
        return self.files[self.file[node]]

    def called(self, node: int) -> int | None:
        """Return what runs when a symbol is called: for a class, its one constructor if it has one in its file.

        None where the language does not call such a symbol (the tag of a C struct).
        """
        unit = self.unit(node)
        if self.is_callable(node):
            return node
        if unit.rules.constructor is None:
            return None
        name = unit.rules.constructor or self.names[node]
        found = unit.symbols.get(f"{self.qualified[node]}.{name}", ())
        return found[0] if len(found) == 1 else node

    def nearest(self, nodes: Sequence[int], file: int) -> Sequence[int]:
        """Return those of the nodes that stand in the file, else those in its folder, else all."""
        same_file = [node for node in nodes if self.file[node] == file]
        if same_file or len(nodes) < 2:
            return same_file or nodes
        folder = self.files[file].folder
        return [node for node in nodes if self.unit(node).folder == folder] or nodes

    def _in_class(self, node: int) -> bool:
        parent = self.qualified[node].rpartition(".")[0]
        return any(not self.is_callable(other) for other in self.unit(node).symbols.get(parent, ()))

    def _index(self, node: int, signature: str) -> None:
        unit, qualified = self.unit(node), self.qualified[node]
        parent, nested = self._enclosing(unit, qualified)
        container = parent.rpartition(".")[2]
        self.container.append(container)
        if unit.family == "go" and (match := _GO_RECEIVER.match(signature)):
            self.own_word[node] = match[1]
        if nested or node not in unit.symbols[qualified]:
            return
        index, name = self.families[unit.family], self.names[node]
        if parent and unit.rules.exports_members and ("." not in parent or parent in unit.symbols):
            unit.exports.setdefault(name, []).append(node)
        if container:
            index.owned.setdefault(f"{container}.{name}", []).append(node)
            _add_once(index.containers, container)
        if self.is_member(node):
            index.members.setdefault(name, []).append(node)
            return
        if unit.rules.linked and _STATIC.search(signature) and not unit.path.endswith(_HEADERS):
            return
        index.free.setdefault(name, []).append(node)
        index.folders.setdefault(unit.folder, {}).setdefault(name, []).append(node)

    def _enclosing(self, unit: SourceUnit, qualified: str) -> tuple[str, bool]:
        """Return the innermost container that is not a function, and whether a function lies between."""
        parent, nested = qualified.rpartition(".")[0], False
        while parent and any(self.is_callable(node) for node in unit.symbols.get(parent, ())):
            parent, nested = parent.rpartition(".")[0], True
        return parent, nested


def _add_once(containers: dict[str, list[str]], name: str) -> None:
    known = containers.setdefault(fold_name(name), [])
    if name not in known:
        known.append(name)
