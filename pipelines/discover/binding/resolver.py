"""Which definition a call means: one step after the other, surest first, until one knows. In: a call. Out: an outcome.

A step returns a Binding, a reason why there is none, or None to let the next step try. A plain call `f()` never binds
to a method of another class, a call `x.f()` never to a free function unless x is a module: that is how `d.get(k)` would
make a hub of a function `get`. By its name alone only a distinctive name binds (see rules.is_distinctive).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipelines.discover.binding.definitions import Definitions, FamilyIndex, SourceUnit, fold_name
from pipelines.discover.binding.imports import FileScope, Imported, Imports
from pipelines.discover.binding.rules import is_distinctive
from pipelines.records import CALL_CONFIDENCE, CallStrategy, UnresolvedCall

#: More definitions than these fit a call: an edge to each would say nothing.
MAX_CANDIDATES = 5
#: The shortest C name that binds by being the only one: macros and function pointers of one letter are everywhere.
_MIN_LINKED_CHARS = 3
#: The shortest variable name that is compared with class names.
_MIN_VARIABLE_CHARS = 3
_PATH = re.compile(r"[\w$]+(?:(?:\.|::|->|[?&]\.)[\w$]+)*\Z")
_JOINT = re.compile(r"::|->|[?&]?\.")
#: `new X(..)`, `X(..)`, `X::new(..)`, `&X{..}`; a chain of calls has no type that could be read off.
_CONSTRUCTED = re.compile(r"(?:await\s+)?(?:new\s+)?&?([A-Za-z_$][\w$.:]*?)(?:::new)?\s*(?:\([^()]*\)|\{[^{}]*\})\Z")


@dataclass(frozen=True, slots=True)
class Call:
    """One call, where it stands, and its receiver as written and in parts."""

    file: int
    caller: int
    name: str
    receiver: str = ""
    parts: tuple[str, ...] = ()  # of a path, or of what is constructed on the spot; () for any other receiver
    constructed: bool = False


@dataclass(frozen=True, slots=True)
class Binding:
    """The definitions that a call is bound to; more than one only where they cannot be told apart."""

    strategy: CallStrategy
    nodes: tuple[int, ...]

    @property
    def confidence(self) -> float:
        """Confidence of each of the edges."""
        shared = len(self.nodes) if self.strategy is CallStrategy.AMBIGUOUS else 1
        return CALL_CONFIDENCE[self.strategy] / shared


Outcome = Binding | UnresolvedCall
Step = Callable[[Call, SourceUnit, FamilyIndex, FileScope], Outcome | None]


class Resolver:
    """Resolves the calls of a repository."""

    def __init__(self, definitions: Definitions, imports: Imports) -> None:
        self._definitions = definitions
        self._imports = imports
        self._plain: tuple[Step, ...] = (
            self._in_scope,
            self._imported_name,
            self._opened,
            self._in_package,
            self._by_name,
        )
        self._received: tuple[Step, ...] = (
            self._own_method,
            self._member_of_import,
            self._member_of_type,
            self._member_of_variable,
            self._by_method_name,
        )

    def resolve(self, file: int, caller: int, name: str, receiver: str | None) -> Outcome:
        """Return what a call means.

        :param file: number of the file, as in Definitions. :param caller: node of the function around the call.
        :param name: the last part of what is called. :param receiver: the text before it, None without one.
        """
        unit = self._definitions.files[file]
        call = _call(file, caller, name, receiver) if receiver else Call(file, caller, name)
        index, scope = self._definitions.families[unit.family], self._imports.scope(file)
        for step in self._received if receiver else self._plain:
            outcome = step(call, unit, index, scope)
            if outcome is not None:
                return outcome
        return UnresolvedCall.UNKNOWN_NAME

    # --- f() ---

    def _in_scope(self, call: Call, unit: SourceUnit, _index: FamilyIndex, _scope: FileScope) -> Outcome | None:
        prefix = self._definitions.qualified[call.caller]
        while prefix:
            nodes = unit.symbols.get(f"{prefix}.{call.name}", ())
            if not unit.rules.implicit_self:
                nodes = [node for node in nodes if not self._definitions.is_member(node)]
            if nodes and (bound := self._bound(CallStrategy.ENCLOSING_SCOPE, nodes)):
                return bound
            prefix = prefix.rpartition(".")[0]
        own = unit.visible(call.name) if unit.rules.free_members else unit.symbols.get(call.name, ())
        return self._bound(CallStrategy.SAME_FILE, own)

    def _imported_name(self, call: Call, _unit: SourceUnit, _index: FamilyIndex, scope: FileScope) -> Outcome | None:
        imported = scope.names.get(call.name)
        if imported is None:
            return None
        if not imported.files:
            return UnresolvedCall.EXTERNAL
        # a default export, or a module that is itself called, mostly has the name that it is imported under
        names = dict.fromkeys((imported.name or call.name, call.name))
        for name in names:
            if bound := self._bound(CallStrategy.IMPORTED, self._imports.lookup(imported.files, name)):
                return bound
        return None

    def _opened(self, call: Call, unit: SourceUnit, _index: FamilyIndex, scope: FileScope) -> Outcome | None:
        hops = 0 if unit.family == "c" else 1
        return self._bound(CallStrategy.IMPORTED, self._imports.lookup(scope.opened, call.name, hops))

    def _in_package(self, call: Call, unit: SourceUnit, index: FamilyIndex, _scope: FileScope) -> Outcome | None:
        if not unit.rules.folder_is_package:
            return None
        return self._bound(CallStrategy.SAME_PACKAGE, index.folders.get(unit.folder, {}).get(call.name, ()))

    def _by_name(self, call: Call, unit: SourceUnit, index: FamilyIndex, _scope: FileScope) -> Outcome | None:
        name = call.name
        if name in unit.rules.builtins:
            return UnresolvedCall.BUILTIN
        if unit.rules.linked and len(name) >= _MIN_LINKED_CHARS and name in index.free:
            return self._bound(CallStrategy.LINKED, index.free[name])
        if unit.rules.global_types and (bound := self._type_anywhere(call, index)):
            return bound
        nodes = index.free.get(name, ())
        if unit.rules.implicit_self and not nodes:  # perhaps inherited
            nodes = index.members.get(name, ())
        if not nodes:
            return UnresolvedCall.UNKNOWN_NAME
        if not is_distinctive(name):
            return UnresolvedCall.COMMON_NAME
        return self._bound(CallStrategy.UNIQUE_NAME, nodes) if len(nodes) == 1 else UnresolvedCall.AMBIGUOUS

    def _type_anywhere(self, call: Call, index: FamilyIndex) -> Outcome | None:
        definitions = self._definitions
        named = (*index.free.get(call.name, ()), *index.members.get(call.name, ()))
        types = [node for node in named if not definitions.is_callable(node)]
        return self._bound(CallStrategy.LINKED, definitions.nearest(types, call.file))

    # --- x.f() ---

    def _own_method(self, call: Call, unit: SourceUnit, index: FamilyIndex, _scope: FileScope) -> Outcome | None:
        definitions = self._definitions
        own = call.receiver in unit.rules.self_words or call.receiver == definitions.own_word.get(call.caller)
        container = definitions.container[call.caller]
        if not own or not container:
            return None
        nodes = definitions.nearest(index.owned.get(f"{container}.{call.name}", ()), call.file)
        if not unit.rules.split_types:  # a class of this name in another file is another class
            nodes = [node for node in nodes if definitions.file[node] == call.file]
        return self._bound(CallStrategy.OWN_CLASS, nodes)

    def _member_of_import(self, call: Call, unit: SourceUnit, _index: FamilyIndex, scope: FileScope) -> Outcome | None:
        for count in range(len(call.parts), 0, -1):
            imported = scope.names.get(".".join(call.parts[:count]))
            if imported is not None:
                return self._member(call, unit, imported, call.parts[count:])
        return self._member_of_rust_module(call, unit) if unit.family == "rust" and call.parts else None

    def _member(self, call: Call, unit: SourceUnit, imported: Imported, rest: tuple[str, ...]) -> Outcome | None:
        if not imported.files:
            return UnresolvedCall.EXTERNAL
        files, name = imported.files, imported.name
        if unit.family == "python" and name is None and rest:  # `import a`, then a.b.f(): b is a module of a
            inner = self._imports.modules.find(".".join((imported.module, *rest)), call.file)
            files, rest = (inner, ()) if inner else (files, rest)
        qualified = ".".join((*(() if name is None else (name,)), *rest, call.name))
        return self._bound(CallStrategy.IMPORTED, self._imports.lookup(files, qualified))

    def _member_of_rust_module(self, call: Call, unit: SourceUnit) -> Outcome | None:
        if call.receiver in unit.rules.self_words and self._definitions.container[call.caller]:
            return None  # an object, not this module
        files = self._imports.modules.find("::".join(call.parts), call.file)
        if files:
            return self._bound(CallStrategy.IMPORTED, self._imports.lookup(files, call.name))
        files = self._imports.modules.find("::".join(call.parts[:-1]), call.file)  # a::b::Type::f
        return self._bound(CallStrategy.IMPORTED, self._imports.lookup(files, f"{call.parts[-1]}.{call.name}"))

    def _member_of_type(self, call: Call, _unit: SourceUnit, index: FamilyIndex, _scope: FileScope) -> Outcome | None:
        if not call.parts:
            return None
        nodes = index.owned.get(f"{call.parts[-1]}.{call.name}", ())
        return self._bound(CallStrategy.NAMED_TYPE, self._definitions.nearest(nodes, call.file))

    def _member_of_variable(
        self, call: Call, _unit: SourceUnit, index: FamilyIndex, _scope: FileScope
    ) -> Outcome | None:
        folded = fold_name(call.parts[-1]) if call.parts and not call.constructed else ""
        if len(folded) < _MIN_VARIABLE_CHARS:
            return None
        nodes = [
            node
            for container in index.containers.get(folded, ())
            for node in index.owned.get(f"{container}.{call.name}", ())
        ]
        return self._bound(CallStrategy.RECEIVER_NAME, self._definitions.nearest(nodes, call.file))

    def _by_method_name(self, call: Call, _unit: SourceUnit, index: FamilyIndex, _scope: FileScope) -> Outcome | None:
        # what a method asks of another object is not itself: super().close(), envelope.set_label()
        nodes = [node for node in index.members.get(call.name, ()) if node != call.caller]
        if not nodes:
            return UnresolvedCall.UNKNOWN_NAME
        if not is_distinctive(call.name):
            return UnresolvedCall.UNKNOWN_RECEIVER
        return self._bound(CallStrategy.UNIQUE_METHOD, nodes)

    def _bound(self, strategy: CallStrategy, nodes: Sequence[int]) -> Outcome | None:
        """Return the outcome for candidates: None for none, an ambiguity for several."""
        if not nodes:
            return None
        if len(nodes) == 1 and self._definitions.is_callable(nodes[0]):
            return Binding(strategy, (nodes[0],))
        if len(nodes) > MAX_CANDIDATES:
            return UnresolvedCall.AMBIGUOUS
        functions = [node for node in nodes if self._definitions.is_callable(node)]
        called = [found for node in functions or nodes if (found := self._definitions.called(node)) is not None]
        if not called:
            return None
        return Binding(strategy if len(called) == 1 else CallStrategy.AMBIGUOUS, tuple(sorted(called)))


def _call(file: int, caller: int, name: str, receiver: str) -> Call:
    if _PATH.match(receiver):
        return Call(file, caller, name, receiver, tuple(_JOINT.split(receiver)))
    constructed = _CONSTRUCTED.match(receiver)
    if constructed is None:
        return Call(file, caller, name, receiver)
    return Call(file, caller, name, receiver, tuple(_JOINT.split(constructed[1])), constructed=True)
