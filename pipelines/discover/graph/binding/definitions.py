"""What is defined, by every name that a call may know it under. In: files and symbols of all buckets. Out: lookups.

A symbol is nested in a function (only its own file's code can name it), a member (its container must be named), or
free. Nodes are numbers: rows of graph_snapshot, that is places in the order of symbol_id. Names are codes of Words.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.discover.graph.binding.rules import CallRules, family_of, rules_of
from pipelines.discover.graph.binding.words import Groups, Ints, Words, joined
from pipelines.records import CALLABLE_KINDS, SymbolKind

#: Kinds that no call and no type can mean.
_SILENT = frozenset({SymbolKind.CONSTANT})
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl")
Flags = npt.NDArray[np.bool_]


def fold_name(name: str) -> str:
    """Return what a variable and the class it is named after have in common: user_service, UserService."""
    return name.replace("_", "").lower()


@lru_cache(maxsize=1_024)  # the calls of a function are bound one after the other
def around(qualified_name: str) -> tuple[str, ...]:
    """Return the qualified names of what stands around a definition, innermost first."""
    found = []
    while qualified_name := qualified_name.rpartition(".")[0]:
        found.append(qualified_name)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class SourceUnit:
    """One file: where it is and how its language binds names."""

    path: str
    family: str
    rules: CallRules
    folder: str


class Files:
    """The files of a repository, by number."""

    def __init__(self, paths: Sequence[str], languages: Sequence[str]) -> None:
        self.units = [
            SourceUnit(path, family_of(language), rules_of(language), posixpath.dirname(path))
            for path, language in zip(paths, languages, strict=True)
        ]
        self.number = {path: number for number, path in enumerate(paths)}
        self.families = sorted({unit.family for unit in self.units})
        self.folders = sorted({unit.folder for unit in self.units})
        family = {name: number for number, name in enumerate(self.families)}
        folder = {name: number for number, name in enumerate(self.folders)}
        self.family = np.array([family[unit.family] for unit in self.units], np.int32)
        self.folder = np.array([folder[unit.folder] for unit in self.units], np.int32)
        self.is_header = np.array([unit.path.endswith(_HEADERS) for unit in self.units], bool)

    def flag(self, name: str) -> Flags:
        """Return for each file whether a rule of its language is set."""
        return np.array([bool(getattr(unit.rules, name)) for unit in self.units], bool)

    def package(self, files: npt.NDArray[np.int32]) -> Ints:
        """Return a number for folder and family of each file."""
        return self.folder[files].astype(np.int64) * len(self.families) + self.family[files]


class Definitions:
    """All definitions of a repository."""

    def __init__(self, files: Files, words: Words, symbols: pa.Table) -> None:
        """Index the symbols of all buckets, in order of symbol_id.

        :param symbols: file (number), kind, name, qualified_name, start_byte, static (bool).
        """
        self.files = files
        self.words = words
        self.file: npt.NDArray[np.int32] = symbols["file"].to_numpy().astype(np.int32)
        self.name = words.codes(symbols["name"])
        self.qualified = words.codes(symbols["qualified_name"])
        self.callable: Flags = _of_kind(symbols["kind"], CALLABLE_KINDS)
        self._silent = _of_kind(symbols["kind"], _SILENT)
        self._is_method = _of_kind(symbols["kind"], {SymbolKind.METHOD})
        self.is_macro = _of_kind(symbols["kind"], {SymbolKind.MACRO})
        self._split_names()
        self.silent: Flags = np.ones(len(self.file), bool)  # functions that call nothing
        self.here = self._by_place(symbols["start_byte"].to_numpy())
        self._enclose()
        self._index(symbols["static"].to_numpy(zero_copy_only=False))

    # --- one node ---

    def unit(self, node: int) -> SourceUnit:
        """Return the file of a node."""
        return self.files.units[int(self.file[node])]

    def qualified_name(self, node: int) -> str:
        """Return the name of a node with its containers inside the file."""
        return self.words.texts[int(self.qualified[node])]

    def called(self, node: int) -> int | None:
        """Return what runs when a symbol is called: for a class, its one constructor if it has one in its file.

        None where the language does not call such a symbol (the tag of a C struct).
        """
        if self.callable[node]:
            return node
        rules = self.unit(node).rules
        if rules.constructor is None:
            return None
        name = rules.constructor or self.words.texts[self.name[node]]
        found = self.at(int(self.file[node]), f"{self.qualified_name(node)}.{name}")
        return found[0] if len(found) == 1 else node

    # --- lookups ---

    def at(self, file: int, qualified: str) -> list[int]:
        """Return what a file defines under a qualified name."""
        return self.in_file(file).get(qualified, _NONE)

    def in_file(self, file: int) -> dict[str, list[int]]:
        """Return everything that a file defines, by qualified name."""
        known = self._tables.get(file)
        if known is None:
            known = self._tables[file] = {}
            first, last = np.searchsorted(self.here.keys, [file << 32, (file + 1) << 32])
            for group in range(first, last):
                known[self.words.texts[int(self.here.keys[group]) & 0x7FFFFFFF]] = self.here.group(group)
        return known

    def visible(self, file: int, qualified: str) -> list[int]:
        """Return what other files find under a name."""
        found = self.at(file, qualified)
        if found or not self.files.units[file].rules.exports_members:
            return found
        known = self._exports.get(file)
        if known is None:
            known = self._exports[file] = {}
            mine = self.in_file(file)
            for path, nodes in mine.items():
                parent, _, name = path.rpartition(".")
                if parent and ("." not in parent or parent in mine):
                    known.setdefault(name, []).extend(nodes)
        return known.get(qualified, _NONE)

    def owned(self, family: int, container: str, name: str) -> list[int]:
        """Return the symbols of a name whose innermost class or namespace has the other name."""
        key = (family, container, name)
        known = self._owned_memo.get(key)
        if known is None:
            pair = self._container_number.get((family, self.words.known(container)), -1)
            known = self._owned_memo[key] = self._owned.get(pair, self.words.known(name))
        return known

    def anywhere(self, family: int, qualified: str) -> list[int]:
        """Return what all files together define under a qualified name, in languages where that holds the namespace."""
        return self._namespaced.get(family, self.words.known(qualified))

    def free_named(self, family: int, name: str) -> list[int]:
        """Return the functions, macros and classes of a name that other files can see."""
        return self.free.get(family, self.words.known(name))

    def members_named(self, family: int, name: str) -> list[int]:
        """Return the methods of a name."""
        return self.members.get(family, self.words.known(name))

    def in_package(self, file: int, name: str) -> list[int]:
        """Return the free symbols of a name in the folder of a file."""
        return self.packages.get(int(self.files.package(np.array([file], np.int32))[0]), self.words.known(name))

    def containers_like(self, family: int, folded: str) -> list[str]:
        """Return the classes and namespaces whose folded name is this."""
        return self._folded.get((family, folded), [])

    def nearest(self, nodes: list[int], file: int) -> list[int]:
        """Return those of the nodes that stand in the file, else those in its folder, else all."""
        if len(nodes) < 2:
            return nodes
        numbers = self.file[nodes]
        for mine in (numbers == file, self.files.folder[numbers] == self.files.folder[file]):
            if mine.any():
                return [node for node, kept in zip(nodes, mine.tolist(), strict=True) if kept]
        return nodes

    # --- how they are made ---

    def _split_names(self) -> None:
        """Fill `parent` and `last` (codes by code): what stands before and after the last dot of a qualified name."""
        words = self.words
        parents: dict[int, tuple[int, int]] = {}
        pending = [code for code in np.unique(self.qualified).tolist() if "." in words.texts[code]]
        while pending:
            above = []
            for code in pending:
                parent, _, last = words.texts[code].rpartition(".")
                split = words.code(parent), words.code(last)
                parents[code] = split
                if "." in parent and split[0] not in parents:
                    above.append(split[0])
            pending = above
        self.parent = np.zeros(len(words.texts), np.int32)
        self.last = np.arange(len(words.texts), dtype=np.int32)
        if parents:
            codes = np.fromiter(parents, np.int64, len(parents))
            pairs = np.array(list(parents.values()), np.int32)
            self.parent[codes], self.last[codes] = pairs[:, 0], pairs[:, 1]
        inner = np.flatnonzero(self.parent)
        self.children = Groups(joined(self.parent[inner], self.last[inner]), inner)

    def _by_place(self, starts: Ints) -> Groups:
        """Return the nodes by file and qualified name; where the last definition wins, only that one."""
        keys = joined(self.file, self.qualified)
        last_wins = self.files.flag("last_wins")[self.file]
        order = np.lexsort((starts, keys))
        ends = np.append(keys[order][1:] != keys[order][:-1], True) if len(order) else np.empty(0, bool)
        kept = order[(ends | ~last_wins[order]) & ~self._silent[order]]
        kept.sort()
        self._kept = np.zeros(len(keys), bool)
        self._kept[kept] = True
        return Groups(keys[kept], kept)

    def _enclose(self) -> None:
        """Fill `container`, `nested` and `is_member`: what stands around each node."""
        function = np.zeros(len(self.here.keys), bool)
        other = np.zeros(len(self.here.keys), bool)
        group = np.repeat(np.arange(len(self.here.keys)), np.diff(self.here.starts))
        np.logical_or.at(function, group, self.callable[self.here.rows])
        np.logical_or.at(other, group, ~self.callable[self.here.rows])
        around = self.parent[self.qualified]
        direct = self.here.find(joined(self.file, around))
        self.in_class: Flags = (
            (around > 0) & (direct >= 0) & other[direct] if len(other) else np.zeros(len(around), bool)
        )
        self.nested = np.zeros(len(around), bool)
        pending, above = np.flatnonzero(around), around.copy()
        direct_to = np.ones(len(around), bool)  # nothing but functions lies between
        while len(pending):
            found = self.here.find(joined(self.file[pending], above[pending]))
            in_function = (found >= 0) & function[found] if len(function) else np.zeros(len(pending), bool)
            self.nested[pending] |= in_function
            above[pending] = self.parent[above[pending]]
            direct_to[pending] &= in_function
            around[pending[direct_to[pending]]] = above[pending[direct_to[pending]]]
            pending = pending[above[pending] > 0]
        self.container_path = around  # qualified name of the innermost class or namespace
        self.container = self.last[around]
        self.is_member: Flags = self._is_method | ((self.container > 0) & self.in_class)

    def _index(self, static: Flags) -> None:
        files = self.files
        family = files.family[self.file]
        shown = ~self.nested & self._kept
        hidden = files.flag("linked")[self.file] & (static | self.is_macro) & ~files.is_header[self.file]
        free = np.flatnonzero(shown & ~self.is_member & ~hidden)
        members = np.flatnonzero(shown & self.is_member)
        held = np.flatnonzero(shown & (self.container > 0))
        self.free = Groups(joined(family[free], self.name[free]), free)
        self.members = Groups(joined(family[members], self.name[members]), members)
        self.packages = Groups(joined(files.package(self.file[free]), self.name[free]), free)
        namespaced = np.flatnonzero(shown & files.flag("namespaced")[self.file])
        self._namespaced = Groups(joined(family[namespaced], self.qualified[namespaced]), namespaced)
        pairs = joined(family[held], self.container[held])
        distinct, number = np.unique(pairs, return_inverse=True)
        self._owned = Groups(joined(number, self.name[held]), held)
        self._container_number = {
            (pair >> 32, pair & 0x7FFFFFFF): place for place, pair in enumerate(distinct.tolist())
        }
        self._tables: dict[int, dict[str, list[int]]] = {}
        self._exports: dict[int, dict[str, list[int]]] = {}
        self._owned_memo: dict[tuple[int, str, str], list[int]] = {}

    @cached_property
    def _folded(self) -> dict[tuple[int, str], list[str]]:
        folded: dict[tuple[int, str], list[str]] = {}
        for family, container in self._container_number:
            name = self.words.texts[container]
            folded.setdefault((family, fold_name(name)), []).append(name)
        return folded


_NONE: list[int] = []


def _of_kind(kinds: pa.ChunkedArray, wanted: frozenset[SymbolKind] | set[SymbolKind]) -> Flags:
    value_set = pa.array(sorted(str(kind) for kind in wanted), pa.string())
    return np.asarray(pc.is_in(kinds, value_set).to_numpy(zero_copy_only=False), bool)
