"""What the imports of a file make visible in it. In: rows of the imports table. Out: local names and open files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pipelines.discover.graph.binding.definitions import Definitions
from pipelines.discover.graph.binding.modules import Modules

ImportRow = tuple[str, str | None, str | None]  # module, name, alias

#: How many files a name is followed through that only pass it on (`__init__.py`, `index.ts`).
_MAX_HOPS = 6
#: Scopes kept: a file's own for its calls, and those of the files it imports from.
_KEPT_SCOPES = 4_096


@dataclass(frozen=True, slots=True)
class Imported:
    """What a local name stands for."""

    module: str  # as written
    files: tuple[int, ...]  # () = outside the repository
    name: str | None  # the name in those files; None for the module itself


@dataclass(frozen=True, slots=True)
class FileScope:
    """What one file imports."""

    names: Mapping[str, Imported] = field(default_factory=dict)
    opened: tuple[int, ...] = ()  # files whose top-level names are visible as they are: includes, star imports
    namespaces: tuple[str, ...] = ()  # the same of namespaces and types, whatever files they are in


class Imports:
    """The imports of all files. Scopes are worked out when they are first asked for."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._units = definitions.files.units
        self._rows: dict[int, list[ImportRow]] = {}
        self._last_seen: tuple[int, set[int]] = (-1, set())
        self.modules: Modules = Modules(definitions)
        self.scope = lru_cache(maxsize=_KEPT_SCOPES)(self._scope)

    def add(self, paths: Iterable[str], rows: Iterable[ImportRow]) -> None:
        """Add the imports of a bucket."""
        for path, row in zip(paths, rows, strict=True):
            self._rows.setdefault(self._definitions.files.number[path], []).append(row)

    def complete(self) -> None:
        """Tell that all buckets were added."""
        go = {row[0] for file, rows in self._rows.items() if self._units[file].family == "go" for row in rows}
        self.modules.learn("go", sorted(go))

    def is_module(self, file: int, name: str) -> bool:
        """Tell whether a name of a file is that of a module of this repository."""
        imported = self.scope(file).names.get(name)
        return imported is not None and bool(imported.files) and imported.name is None

    def sees(self, file: int, other: int) -> bool:
        """Tell whether a file imports anything from the folder of another file."""
        if self._last_seen[0] != file:
            scope, folder = self.scope(file), self._definitions.files.folder
            files = {number for imported in scope.names.values() for number in imported.files} | {*scope.opened, file}
            self._last_seen = file, {int(folder[number]) for number in files}
        return int(self._definitions.files.folder[other]) in self._last_seen[1]

    def lookup(self, files: Sequence[int], qualified: str, hops: int = _MAX_HOPS) -> list[int]:
        """Return the definitions of a name in the first of the files that has it, through re-exports if need be."""
        if len(files) > 1 and self._units[files[0]].rules.folder_is_package and self._units[files[0]].family != "c":
            return [node for file in files for node in self._definitions.visible(file, qualified)]
        for file in files:
            if found := self._definitions.visible(file, qualified):
                return found
        if hops == 0:
            return []
        first, _, rest = qualified.partition(".")
        for file in files:
            scope = self.scope(file)
            passed_on = scope.names.get(first)
            if passed_on is not None and passed_on.files and (rest or passed_on.name is not None):
                inner = ".".join(part for part in (passed_on.name, rest) if part)
                if found := self.lookup(passed_on.files, inner, hops - 1):
                    return found
            star = scope.opened if self._units[file].family != "c" else ()
            if star and (found := self.lookup(star, qualified, hops - 1)):
                return found
        return []

    def _scope(self, file: int) -> FileScope:
        names: dict[str, Imported] = {}
        opened: dict[int, None] = {}
        family = self._units[file].family
        if self._units[file].rules.namespaced:
            return self._namespaced_scope(file)
        if not self.modules.knows(family):
            return FileScope()
        for module, name, alias in self._rows.get(file, ()):
            if family == "c" or name == "*" or alias == ".":
                opened |= dict.fromkeys(self.modules.find(module, file))
            else:
                local, imported = self._binding(file, family, module, name, alias)
                names[local] = imported
        return FileScope(names, tuple(number for number in opened if number != file))

    def _namespaced_scope(self, file: int) -> FileScope:
        """Return what a file imports where names are qualified by their namespace, whatever file they are in."""
        definitions = self._definitions
        names: dict[str, Imported] = {}
        namespaces: dict[str, None] = {}
        for module, name, alias in self._rows.get(file, ()):
            path = module.replace("\\", ".").replace(".Companion", "")
            if name == "*":
                namespaces[path] = None
                continue
            full = path if name is None else f"{path}.{name}"
            nodes = definitions.anywhere(int(definitions.files.family[file]), full)
            files = tuple(dict.fromkeys(int(definitions.file[node]) for node in nodes))
            names[alias or full.rpartition(".")[2]] = Imported(full, files, full)
        return FileScope(names, (), tuple(namespaces))

    def _binding(
        self, file: int, family: str, module: str, name: str | None, alias: str | None
    ) -> tuple[str, Imported]:
        find = self.modules.find
        if name is None and family == "elixir":  # a module is known by its own name
            return alias or module.rpartition(".")[2], Imported(module, find(module, file), module)
        if name is None:
            local = alias or (module if family in _WHOLE_NAMES else _last_part(module, family))
            return local, Imported(module, find(module, file), None)
        joint = _SUBMODULE_JOINT.get(family)
        if joint is not None:
            inner = f"{module}{name}" if module.endswith(joint) else f"{module}{joint}{name}"
            if files := find(inner, file):
                return alias or name, Imported(
                    inner, files, self._class_name(files, name) if family in _NAMED_FOR_CLASS else None
                )
        return alias or name, Imported(module, find(module, file), name)

    def _class_name(self, files: Sequence[int], name: str) -> str:
        """Return the name of a class, or of a static member with its class: the file is named for its class."""
        stem = posixpath.splitext(posixpath.basename(self._units[files[0]].path))[0]
        return name if name == stem else f"{stem}.{name}"


#: Families in which what follows the module may be a module itself: `from . import cart`, `use crate::queue`.
_SUBMODULE_JOINT = {"python": ".", "rust": "::", "java": ".", "kotlin": ".", "scala": ".", "php": "\\"}
#: Families in which a file is named for the class that it defines.
_NAMED_FOR_CLASS = frozenset({"java", "kotlin", "scala", "php"})
#: Families in which an imported module is called by its whole name.
_WHOLE_NAMES = frozenset({"python", "haskell"})

_PART = re.compile(r"[/\\]|::|\.(?=\w)")
#: What the path of a Go package has that its name has not: a version, the name of the language.
_NOT_GO_NAME = re.compile(r"^go-|[.-]go$|\.v\d+$")


def _last_part(module: str, family: str) -> str:
    if family != "go":
        parts = [part for part in _PART.split(module) if part]
        return parts[-1] if parts else module
    parts = [part for part in module.split("/") if part]
    if len(parts) > 1 and parts[-1][:1] == "v" and parts[-1][1:].isdigit():
        parts.pop()
    return _NOT_GO_NAME.sub("", parts[-1]) if parts else module
