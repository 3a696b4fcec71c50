"""Which class a receiver has. In: what the source says of types (typings). Out: classes, bases, members.

A type is the nodes of the classes that a value may have: mostly one. UnresolvedCall.EXTERNAL stands for a class of
another repository, BUILTIN for one of the language, None for a type that nothing is said of.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from pipelines.discover.graph.binding.definitions import Definitions, around
from pipelines.discover.graph.binding.expressions import Link, class_paths, links
from pipelines.discover.graph.binding.imports import Imports
from pipelines.discover.graph.binding.statements import BASE, DECLARED, NO_OWNER, RETURNS, Row, Said, Typings
from pipelines.records import UnresolvedCall

Type = tuple[int, ...] | UnresolvedCall | None

#: Names that are followed from one statement to the next before the search is given up.
_MAX_DEPTH = 6
#: Classes of a hierarchy that are looked through for a member.
_MAX_CLASSES = 32
#: Definitions of one qualified name that are told apart: a file can have ten thousand of them.
_MAX_NAMESAKES = 32
#: A type whose values are classes.
_CLASS_TYPE = re.compile(r"\W*(?:[Tt]ype\[|typeof\s|new\s*\(|InstanceType<)")


class Types:
    """Finds classes. Everything that was found once is kept."""

    def __init__(self, definitions: Definitions, imports: Imports, typings: Typings) -> None:
        self._definitions = definitions
        self._imports = imports
        self._typings = typings
        self._said: dict[int, Said] = {}
        self._bases: dict[int, tuple[tuple[int, ...], bool]] = {}
        self._chains: dict[tuple[int, int, tuple[Link, ...]], Type] = {}
        self._depth = 0
        self._package_variables: dict[int, dict[str, tuple[int, list[Row]]]] = {}

    # --- classes by name ---

    def own_class(self, file: int, node: int) -> tuple[int, ...]:
        """Return the class around a node, () if it stands in none."""
        definitions = self._definitions
        if node < 0 or not definitions.container[node]:
            return ()
        path = definitions.words.texts[definitions.container_path[node]]
        if found := self._classes(definitions.at(file, path)):
            return found
        if definitions.files.units[file].rules.split_types:
            return self._split_class(file, path.rpartition(".")[2])
        return ()

    def _split_class(self, file: int, name: str) -> tuple[int, ...]:
        definitions = self._definitions
        found = definitions.in_package(file, name) or definitions.free_named(int(definitions.files.family[file]), name)
        return self._classes(definitions.nearest(list(found), file))[:1]

    def _classes(self, nodes: Sequence[int]) -> tuple[int, ...]:
        is_callable = self._definitions.callable
        return tuple(node for node in nodes[:_MAX_NAMESAKES] if not is_callable[node])

    def path(
        self, file: int, owner: int, parts: tuple[str, ...]
    ) -> tuple[tuple[int, ...], bool] | UnresolvedCall | None:
        """Return the definitions that a path of names means in a file, and whether an import says so."""
        definitions = self._definitions
        unit = definitions.files.units[file]
        written = ".".join(parts)
        known = definitions.in_file(file)
        inside = definitions.qualified_name(owner) if owner >= 0 else ""
        for prefix in (inside, *around(inside)) if inside else ():
            if inner := known.get(f"{prefix}.{written}") or self._anywhere(file, f"{prefix}.{written}"):
                return tuple(inner[:_MAX_NAMESAKES]), False
        if nodes := known.get(written):
            return tuple(nodes[:_MAX_NAMESAKES]), False
        imported = self._imported(file, parts)
        if imported is not None:
            return imported
        scope = self._imports.scope(file)
        for namespace in (*(f"{opened}." for opened in scope.namespaces), ""):
            if nodes := self._anywhere(file, f"{namespace}{written}"):
                return tuple(nodes), True
        if scope.opened and (nodes := self._imports.lookup(scope.opened, written, 0 if unit.family == "c" else 1)):
            return tuple(nodes), True
        if unit.rules.folder_is_package and (mine := self._in_package(file, parts)):
            return tuple(mine), False
        if unit.rules.global_types and (named := self._open(file, parts)):
            return tuple(named), False
        return None

    def _imported(self, file: int, parts: tuple[str, ...]) -> tuple[tuple[int, ...], bool] | UnresolvedCall | None:
        scope = self._imports.scope(file)
        for count in range(len(parts), 0, -1):
            imported = scope.names.get(".".join(parts[:count]))
            if imported is None:
                continue
            if named := self._anywhere(file, ".".join((imported.module, *parts[count:]))):
                return tuple(named), True
            if not imported.files:
                return UnresolvedCall.EXTERNAL
            files, rest = imported.files, parts[count:]
            if imported.name is None and len(rest) > 1 and self._definitions.files.units[file].family == "python":
                inner = self._imports.modules.find(".".join((imported.module, *rest[:-1])), file)
                files, rest = (inner, rest[-1:]) if inner else (files, rest)
            qualified = ".".join((*(() if imported.name is None else (imported.name,)), *rest))
            if nodes := self._imports.lookup(files, qualified) if qualified else ():
                return tuple(nodes), True
            if imported.name == "default" and (nodes := self._imports.lookup(files, ".".join(parts))):
                return tuple(nodes), True
            return None
        return None

    def _anywhere(self, file: int, qualified: str) -> list[int]:
        definitions = self._definitions
        if not definitions.files.units[file].rules.namespaced:
            return []
        return definitions.anywhere(int(definitions.files.family[file]), qualified)

    def _in_package(self, file: int, parts: tuple[str, ...]) -> Sequence[int]:
        found = self._definitions.in_package(file, parts[0])
        if len(parts) == 1:
            return found
        inner = ".".join(parts[1:])
        at = self._definitions.at
        return [
            node
            for head in found
            for node in at(int(self._definitions.file[head]), f"{self._definitions.qualified_name(head)}.{inner}")
        ]

    def _open(self, file: int, parts: tuple[str, ...]) -> Sequence[int]:
        definitions = self._definitions
        family = int(definitions.files.family[file])
        if len(parts) > 1:
            nodes = definitions.owned(family, parts[-2], parts[-1])
        else:
            nodes = definitions.free_named(family, parts[0])
        return self._classes(definitions.nearest(list(nodes), file))

    def named(self, file: int, owner: int, text: str) -> Type:
        """Return the type that is written in a file, inside a definition."""
        known: dict[int, None] = {}
        outside: UnresolvedCall | None = None
        unit = self._definitions.files.units[file]
        for parts in class_paths(text):
            if parts[0] in unit.rules.self_words:
                known |= dict.fromkeys(self.own_class(file, owner))
                continue
            found = self.path(file, owner, parts)
            if isinstance(found, UnresolvedCall):
                outside = found
            elif found is not None:
                known |= dict.fromkeys(self._classes(found[0]))
            elif len(parts) == 1 and parts[0] in unit.rules.builtins:
                outside = UnresolvedCall.BUILTIN
        return tuple(known) or outside

    # --- members ---

    def bases(self, node: int) -> tuple[tuple[int, ...], bool]:
        """Return the classes that a class extends, and whether it also extends one that is not found."""
        known = self._bases.get(node)
        if known is None:
            self._bases[node] = ((), False)  # a class that extends itself
            known = self._bases[node] = self._find_bases(node)
        return known

    def _find_bases(self, node: int) -> tuple[tuple[int, ...], bool]:
        file = int(self._definitions.file[node])
        found: dict[int, None] = {}
        missing = False
        for text in self._in(file).bases.get(node, ()):
            base = self.named(file, node, text)
            if isinstance(base, tuple):
                found |= dict.fromkeys(item for item in base if item != node)
            else:
                missing = True
        return tuple(found), missing

    def member(self, classes: Sequence[int], name: str) -> tuple[list[int], bool, bool]:
        """Return a member of some classes, whether a base class has it, and whether a base class is not known.

        The nearest class that has it decides, each of the given classes for itself.
        """
        found: dict[int, None] = {}
        inherited = missing = False
        for start in classes:
            pending, seen = deque([start]), {start}
            while pending and len(seen) <= _MAX_CLASSES:
                node = pending.popleft()
                if own := self._own_member(node, name):
                    found |= dict.fromkeys(own[:_MAX_NAMESAKES])
                    inherited |= node != start
                    break
                above, unknown = self.bases(node)
                missing |= unknown
                pending.extend(base for base in above if base not in seen)
                seen.update(above)
        return list(found), inherited, missing

    def _own_member(self, node: int, name: str) -> Sequence[int]:
        definitions = self._definitions
        file = int(definitions.file[node])
        unit = definitions.files.units[file]
        if found := definitions.at(file, f"{definitions.qualified_name(node)}.{name}"):
            return found
        if found := self._anywhere(file, f"{definitions.qualified_name(node)}.{name}"):
            return found
        if not unit.rules.split_types:
            return ()
        container = definitions.words.texts[definitions.name[node]]
        nodes = definitions.owned(int(definitions.files.family[file]), container, name)
        if unit.rules.folder_is_package and unit.family != "c":
            return [item for item in nodes if definitions.unit(item).folder == unit.folder]
        return definitions.nearest(list(nodes), file)

    # --- expressions ---

    def chain(self, file: int, owner: int, chain: tuple[Link, ...]) -> Type:
        """Return the type of a chain of names and calls, as written in a definition."""
        key = (file, owner, chain)
        if key in self._chains:
            return self._chains[key]
        if not chain or self._depth >= _MAX_DEPTH:
            return None
        self._chains[key] = None  # a name that is defined by itself
        self._depth += 1
        result = self._find_chain(file, owner, chain)
        self._depth -= 1
        self._chains[key] = result
        return result

    def _find_chain(self, file: int, owner: int, chain: tuple[Link, ...]) -> Type:
        current, taken = self._start(file, owner, chain)
        for link in chain[taken:]:
            if not isinstance(current, tuple):
                return current
            current = self._follow(current, link)
        return current

    def _start(self, file: int, owner: int, chain: tuple[Link, ...]) -> tuple[Type, int]:
        """Return the type of the first links of a chain, and how many they are."""
        rules = self._definitions.files.units[file].rules
        first = chain[0]
        if first.name in rules.self_words and owner >= 0:
            return self.own_class(file, owner) or None, 1
        if first.name in rules.super_words:
            return self._super(file, owner), 1
        if not first.called:
            said, declared = self.variable(file, owner, first.name)
            if said:
                return declared, 1
        named = self._named_start(file, owner, chain) or self._imported_variable(file, chain)
        if named is not None:
            return named
        if rules.implicit_self and owner >= 0 and (own := self.own_class(file, owner)):
            return self._follow(own, first), 1
        is_builtin = first.called and first.name in rules.builtins
        return (UnresolvedCall.BUILTIN if is_builtin else None), len(chain)

    def _named_start(self, file: int, owner: int, chain: tuple[Link, ...]) -> tuple[Type, int] | None:
        """Return the type of what the longest path at the start of a chain means."""
        for count in range(len(chain), 0, -1):
            if any(link.called for link in chain[: count - 1]):
                continue
            found = self.path(file, owner, tuple(link.name for link in chain[:count]))
            if isinstance(found, UnresolvedCall):
                return found, count
            if found is not None:
                return self._type_of(found[0], called=chain[count - 1].called), count
        return None

    def _super(self, file: int, owner: int) -> Type:
        found: dict[int, None] = {}
        outside = False
        for node in self.own_class(file, owner):
            above, missing = self.bases(node)
            found |= dict.fromkeys(above)
            outside |= missing or not above
        return tuple(found) or (UnresolvedCall.EXTERNAL if outside else None)

    def _imported_variable(self, file: int, chain: tuple[Link, ...]) -> tuple[Type, int] | None:
        """Return the type of a variable at the top level of an imported module."""
        scope = self._imports.scope(file)
        for count in range(1, len(chain) + 1):
            imported = scope.names.get(".".join(link.name for link in chain[:count]))
            if imported is None or not imported.files:
                continue
            if imported.name is not None:
                return self.variable(imported.files[0], NO_OWNER, imported.name)[1], count
            if count < len(chain):
                return self.variable(imported.files[0], NO_OWNER, chain[count].name)[1], count + 1
        return None

    def _type_of(self, nodes: Sequence[int], *, called: bool) -> Type:
        if classes := self._classes(nodes):
            return classes
        if called:
            return self._merge(self.result(node) for node in nodes)
        rules = self._definitions.unit(nodes[0]).rules
        return self._merge(self.result(node) for node in nodes) if rules.properties else None

    def result(self, node: int) -> Type:
        """Return what a function returns, as far as it says so."""
        file = int(self._definitions.file[node])
        text = self._in(file).returns.get(node)
        return self.named(file, node, text) if text is not None else None

    def _follow(self, classes: tuple[int, ...], link: Link) -> Type:
        types = []
        for node in classes:
            kind = self.field(node, link.name)
            if kind is None:
                members, _, missing = self.member((node,), link.name)
                kind = self._type_of(members, called=link.called) if members else None
                if not members and missing:
                    kind = UnresolvedCall.EXTERNAL
            types.append(kind)
        return self._merge(iter(types))

    def field(self, node: int, name: str) -> Type:
        """Return the type of a field of a class or of its bases."""
        pending, seen = deque([node]), {node}
        while pending and len(seen) <= _MAX_CLASSES:
            current = pending.popleft()
            file = int(self._definitions.file[current])
            said = self._in(file).fields.get((self._definitions.qualified_name(current), name))
            if said:
                return self._said_type(file, said)
            above, _ = self.bases(current)
            pending.extend(base for base in above if base not in seen)
            seen.update(above)
        return None

    def held_class(self, classes: Sequence[int], name: str) -> tuple[int, ...]:
        """Return the classes that a field holds themselves, not objects of theirs: calling it makes an object."""
        found: dict[int, None] = {}
        for node in classes:
            for holder in (node, *self.bases(node)[0]):
                file = int(self._definitions.file[holder])
                for row in self._in(file).fields.get((self._definitions.qualified_name(holder), name), ()):
                    is_class = _CLASS_TYPE.match(row.text) if row.role == DECLARED else not row.text.endswith(")")
                    kind = self.named(file, row.owner, row.text) if is_class else None
                    found |= dict.fromkeys(kind if isinstance(kind, tuple) else ())
        return tuple(found)

    def variable(self, file: int, owner: int, name: str) -> tuple[bool, Type]:
        """Return whether a file says something of a variable, looking outwards from a definition, and its type."""
        said = self._in(file)
        scopes = said.scopes.get(owner)
        if scopes is None:
            scopes = said.scopes[owner] = tuple(scope for scope in self._scopes(file, owner) if scope in said.owners)
        for scope in scopes:
            if rows := said.variables.get((scope, name)):
                return True, self._said_type(file, rows)
        if self._definitions.files.units[file].rules.folder_is_package:
            return self._package_variable(file, name)
        return False, None

    def _package_variable(self, file: int, name: str) -> tuple[bool, Type]:
        """Return the same of a variable at the top level of another file of the package."""
        package = int(self._definitions.files.folder[file])
        known = self._package_variables.get(package)
        if known is None:
            known = self._package_variables[package] = {}
            family = self._definitions.files.family
            for other in np.flatnonzero(self._definitions.files.folder == package).tolist():
                if family[other] == family[file]:
                    tops = self._in(other).variables.items()
                    known |= {key[1]: (other, rows) for key, rows in tops if key[0] == NO_OWNER}
        if name not in known:
            return False, None
        other, rows = known[name]
        return True, self._said_type(other, rows)

    def _scopes(self, file: int, owner: int) -> Iterator[int]:
        if owner >= 0:
            yield owner
            for prefix in around(self._definitions.qualified_name(owner)):
                nodes = self._definitions.at(file, prefix)[:_MAX_NAMESAKES]
                yield from (node for node in nodes if self._definitions.callable[node])
        yield NO_OWNER

    def _said_type(self, file: int, rows: Sequence[Row]) -> Type:
        """Return the type that some statements give together; what a statement declares hides the value beside it."""
        declared = {row.start for row in rows if row.role == DECLARED and class_paths(row.text)}
        return self._merge(
            self.named(file, row.owner, row.text)
            if row.role == DECLARED
            else self.chain(file, row.owner, links(row.text))
            for row in rows
            if row.role == DECLARED or row.start not in declared
        )

    def _merge(self, types: Iterator[Type]) -> Type:
        known: dict[int, None] = {}
        outside: UnresolvedCall | None = None
        for kind in types:
            if isinstance(kind, tuple):
                known |= dict.fromkeys(kind)
            elif kind is not None:
                outside = kind
        return tuple(known) or outside

    def _in(self, file: int) -> Said:
        said = self._said.get(file)
        if said is None:
            said = self._said[file] = Said()
            for row in self._typings.of(file):
                self._record(said, file, row)
        return said

    def _record(self, said: Said, file: int, row: Row) -> None:
        definitions, owner = self._definitions, row.owner
        if row.role == BASE:
            said.bases.setdefault(owner, []).append(row.text)
        elif row.role == RETURNS:
            said.returns.setdefault(owner, row.text)
        elif owner >= 0 and not definitions.callable[owner]:
            said.fields.setdefault((definitions.qualified_name(owner), row.name), []).append(row)
        else:
            head, joint, rest = row.name.partition("->") if "->" in row.name else row.name.partition(".")
            if not joint:
                said.owners.add(owner)
                said.variables.setdefault((owner, row.name), []).append(row)
            elif owner >= 0 and (not head or head in definitions.files.units[file].rules.self_words):
                holder = definitions.words.texts[definitions.container_path[owner]]
                said.fields.setdefault((holder, rest), []).append(row)
