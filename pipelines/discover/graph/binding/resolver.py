"""Which definition a call means: one step after the other, surest first, until one knows. In: a call. Out: an outcome.

A step returns a Binding, a reason why there is none, or None to let the next step try. A plain call `f()` never binds
to a method of another class, a call `x.f()` never to a free function unless x is a module: that is how `d.get(k)` would
make a hub of a function `get`. By its name alone only a distinctive name binds (see rules.is_distinctive).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipelines.discover.graph.binding.definitions import Definitions, SourceUnit, around, fold_name
from pipelines.discover.graph.binding.expressions import Link, is_literal, links
from pipelines.discover.graph.binding.imports import Imports
from pipelines.discover.graph.binding.rules import is_distinctive
from pipelines.discover.graph.binding.types import Types
from pipelines.records import CALL_CONFIDENCE, CallStrategy, UnresolvedCall

#: More definitions than these fit a call: an edge to each would say nothing.
MAX_CANDIDATES = 5
#: The shortest variable name that is compared with class names.
_MIN_VARIABLE_CHARS = 3


@dataclass(frozen=True, slots=True)
class Call:
    """One call, where it stands, and its receiver as written and in links."""

    file: int
    caller: int
    name: str
    receiver: str = ""
    chain: tuple[Link, ...] = ()  # () for a receiver that is no chain of names and calls


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
Step = Callable[[Call, SourceUnit], Outcome | None]


class Resolver:
    """Resolves the calls of a repository one by one."""

    def __init__(self, definitions: Definitions, imports: Imports, types: Types) -> None:
        self._definitions = definitions
        self._imports = imports
        self._types = types
        self._plain: tuple[Step, ...] = (
            self._shown_member,
            self._variable,
            self._inherited_name,
            self._imported_name,
            self._in_namespace,
            self._opened,
            self._in_package,
            self._by_name,
        )
        self._received: tuple[Step, ...] = (
            self._own_method,
            self._typed,
            self._by_path,
            self._member_of_rust_module,
            self._member_of_named,
            self._by_method_name,
        )

    def plain(self, file: int, caller: int, name: str) -> Outcome:
        """Return what a call `f()` means that nothing in its own file answers.

        :param file: number of the file. :param caller: node of the function around the call.
        """
        return self._first(self._plain, Call(file, caller, name))

    def inherited(self, file: int, caller: int, name: str) -> Outcome | None:
        """Return the method of a base class that a plain call means, None where there is none."""
        return self._inherited_name(Call(file, caller, name), self._definitions.files.units[file])

    def received(self, file: int, caller: int, name: str, receiver: str) -> Outcome:
        """Return what a call `x.f()` means.

        :param name: the last part of what is called. :param receiver: the text before it.
        """
        if is_literal(receiver):
            return UnresolvedCall.BUILTIN
        return self._first(self._received, Call(file, caller, name, receiver, links(receiver)))

    def _first(self, steps: Sequence[Step], call: Call) -> Outcome:
        unit = self._definitions.files.units[call.file]
        for step in steps:
            outcome = step(call, unit)
            if outcome is not None:
                return outcome
        return UnresolvedCall.UNKNOWN_NAME

    # --- f() ---

    def _variable(self, call: Call, unit: SourceUnit) -> Outcome | None:
        """Make an object of the caller's class; leave alone what a parameter or variable of the caller hides."""
        if call.name in unit.rules.self_words and (own := self._types.own_class(call.file, call.caller)):
            return self.bound(CallStrategy.OWN_CLASS, own)
        if unit.family == "c" or unit.rules.implicit_self:
            return None
        said, _ = self._types.variable(call.file, call.caller, call.name)
        return UnresolvedCall.UNKNOWN_RECEIVER if said else None

    def _shown_member(self, call: Call, unit: SourceUnit) -> Outcome | None:
        if not unit.rules.free_members:
            return None
        return self.bound(CallStrategy.SAME_FILE, self._definitions.visible(call.file, call.name))

    def _inherited_name(self, call: Call, unit: SourceUnit) -> Outcome | None:
        own = self._types.own_class(call.file, call.caller)
        if call.name in unit.rules.super_words and unit.rules.constructor != "__init__":
            return self._super_constructor(call, unit, own)
        if not unit.rules.implicit_self or not own:
            return None
        nodes, inherited, _ = self._types.member(own, call.name)
        return self.bound(CallStrategy.INHERITED if inherited else CallStrategy.OWN_CLASS, nodes)

    def _super_constructor(self, call: Call, unit: SourceUnit, own: tuple[int, ...]) -> Outcome | None:
        nodes: list[int] = []
        outside = False
        for node in own:
            above, missing = self._types.bases(node)
            outside |= missing
            for base in above:
                found = self._definitions.called(base)
                nodes += [found] if found is not None and found != base else []
        if nodes:
            return self.bound(CallStrategy.INHERITED, nodes)
        return UnresolvedCall.EXTERNAL if outside else UnresolvedCall.BUILTIN

    def _imported_name(self, call: Call, unit: SourceUnit) -> Outcome | None:
        imported = self._imports.scope(call.file).names.get(call.name)
        if imported is None:
            return None
        if not imported.files:
            return UnresolvedCall.EXTERNAL
        # a default export, or a module that is itself called, mostly has the name that it is imported under
        names = dict.fromkeys((imported.name or call.name, call.name))
        for name in names:
            if bound := self.bound(CallStrategy.IMPORTED, self._imports.lookup(imported.files, name)):
                return bound
        return None if unit.rules.folder_is_package else UnresolvedCall.UNKNOWN_NAME

    def _in_namespace(self, call: Call, unit: SourceUnit) -> Outcome | None:
        """Find a name of the namespaces and types around the caller, in whatever file, then of those it imports."""
        if not unit.rules.namespaced:
            return None
        definitions = self._definitions
        family = int(definitions.files.family[call.file])
        for prefix in (*around(definitions.qualified_name(call.caller)), ""):
            nodes = definitions.anywhere(family, f"{prefix}.{call.name}" if prefix else call.name)
            if not unit.rules.implicit_self:
                nodes = [node for node in nodes if not definitions.is_member[node]]
            if bound := self.bound(CallStrategy.SAME_PACKAGE, nodes):
                return bound
        opened = self._imports.scope(call.file).namespaces
        nodes = [node for namespace in opened for node in definitions.anywhere(family, f"{namespace}.{call.name}")]
        return self.bound(CallStrategy.IMPORTED, nodes)

    def _opened(self, call: Call, unit: SourceUnit) -> Outcome | None:
        opened = self._imports.scope(call.file).opened
        return self.bound(CallStrategy.IMPORTED, self._imports.lookup(opened, call.name, 1)) if opened else None

    def _in_package(self, call: Call, unit: SourceUnit) -> Outcome | None:
        if not unit.rules.folder_is_package:
            return None
        return self.bound(CallStrategy.SAME_PACKAGE, self._definitions.in_package(call.file, call.name))

    def _by_name(self, call: Call, unit: SourceUnit) -> Outcome | None:
        definitions, name = self._definitions, call.name
        if name in unit.rules.builtins:
            return UnresolvedCall.BUILTIN
        family = int(definitions.files.family[call.file])
        nodes = definitions.free_named(family, name)
        if unit.rules.global_types:
            named = [*nodes, *definitions.members_named(family, name)]
            classes = [node for node in named if not definitions.callable[node]]
            if bound := self.bound(CallStrategy.NAMED_TYPE, definitions.nearest(classes, call.file)):
                return bound
        if unit.rules.implicit_self and not nodes:  # perhaps inherited
            nodes = definitions.members_named(family, name)
        if not nodes:
            return UnresolvedCall.UNKNOWN_NAME
        if not is_distinctive(name):
            return UnresolvedCall.COMMON_NAME
        return self.bound(CallStrategy.UNIQUE_NAME, nodes) if len(nodes) == 1 else UnresolvedCall.AMBIGUOUS

    # --- x.f() ---

    def _own_method(self, call: Call, unit: SourceUnit) -> Outcome | None:
        """Find a method of the caller's own object: self.f(), super.f()."""
        if len(call.chain) != 1 and call.receiver not in unit.rules.self_words:
            return None
        word = call.receiver if len(call.chain) != 1 else call.chain[0].name
        is_super = word in unit.rules.super_words
        if word not in unit.rules.self_words and not is_super:
            return None
        own = self._types.own_class(call.file, call.caller)
        if not own:
            return None
        if is_super:
            return self._super_method(call, own)
        nodes, inherited, missing = self._types.member(own, call.name)
        if (inherited or not nodes) and (held := self._types.held_class(own, call.name)):
            return self.bound(CallStrategy.TYPED, held)
        if nodes:
            return self.bound(CallStrategy.INHERITED if inherited else CallStrategy.OWN_CLASS, nodes)
        if any(self._types.field(node, call.name) is not None for node in own):
            return UnresolvedCall.UNKNOWN_RECEIVER
        return UnresolvedCall.EXTERNAL if missing else None

    def _super_method(self, call: Call, own: tuple[int, ...]) -> Outcome:
        outside = False
        for node in own:
            above, missing = self._types.bases(node)
            nodes, _, unknown = self._types.member(above, call.name)
            outside |= missing or unknown
            if nodes and (bound := self.bound(CallStrategy.INHERITED, nodes)):
                return bound
        return UnresolvedCall.EXTERNAL if outside else UnresolvedCall.BUILTIN

    def _typed(self, call: Call, unit: SourceUnit) -> Outcome | None:
        """Find a method of a receiver whose class the source tells: annotated, constructed, returned, a field."""
        if not call.chain or self._is_path(call, unit):
            return None
        kind = self._types.chain(call.file, call.caller, call.chain)
        if kind is None or isinstance(kind, UnresolvedCall):
            return kind
        nodes, inherited, missing = self._types.member(kind, call.name)
        if nodes:
            own = not unit.rules.self_words and kind == self._types.own_class(call.file, call.caller)
            return self.bound(CallStrategy.OWN_CLASS if own and not inherited else CallStrategy.TYPED, nodes)
        if held := self._types.held_class(kind, call.name):
            return self.bound(CallStrategy.TYPED, held)
        return UnresolvedCall.EXTERNAL if missing else UnresolvedCall.UNKNOWN_NAME

    def _is_path(self, call: Call, unit: SourceUnit) -> bool:
        """Tell whether a receiver is a path of names that no statement gives a type: a module, a class."""
        if any(link.called for link in call.chain) or call.chain[0].name in unit.rules.self_words:
            return False
        said, _ = self._types.variable(call.file, call.caller, call.chain[0].name)
        return not said

    def _by_path(self, call: Call, unit: SourceUnit) -> Outcome | None:
        """Find a function of a module, a method of a class that is named: m.f(), a.b.C.f()."""
        if not call.chain or not self._is_path(call, unit):
            return None
        parts = tuple(link.name for link in call.chain)
        found = self._types.path(call.file, call.caller, (*parts, call.name))
        if isinstance(found, UnresolvedCall):
            return found
        if found is not None:
            strategy = CallStrategy.IMPORTED if found[1] else CallStrategy.NAMED_TYPE
            return self.bound(strategy, found[0])
        kind = self._types.chain(call.file, call.caller, call.chain)
        if kind is None or isinstance(kind, UnresolvedCall):
            return kind
        nodes, _, missing = self._types.member(kind, call.name)
        if nodes:
            return self.bound(CallStrategy.NAMED_TYPE, nodes)
        return UnresolvedCall.EXTERNAL if missing else None

    def _member_of_rust_module(self, call: Call, unit: SourceUnit) -> Outcome | None:
        if unit.family != "rust" or not call.chain or any(link.called for link in call.chain):
            return None
        parts = tuple(link.name for link in call.chain)
        if parts[0] in unit.rules.self_words and self._definitions.container[call.caller]:
            return None  # an object, not this module
        find = self._imports.modules.find
        files = find("::".join(parts), call.file)
        if files:
            return self.bound(CallStrategy.IMPORTED, self._imports.lookup(files, call.name))
        files = find("::".join(parts[:-1]), call.file)  # a::b::Type::f
        return self.bound(CallStrategy.IMPORTED, self._imports.lookup(files, f"{parts[-1]}.{call.name}"))

    def _member_of_named(self, call: Call, unit: SourceUnit) -> Outcome | None:
        """Find the class, wherever it stands, that the receiver is, or is named like: Zone.f(), zone.f()."""
        if not call.chain or call.chain[-1].called:
            return None
        definitions, word = self._definitions, call.chain[-1].name
        if call.chain[0].name in unit.rules.builtins:
            return UnresolvedCall.BUILTIN
        family = int(definitions.files.family[call.file])
        if not unit.rules.imports_types:
            nodes = definitions.nearest(list(definitions.owned(family, word, call.name)), call.file)
            if nodes:
                return self.bound(CallStrategy.NAMED_TYPE, nodes)
        elif self._imports.is_module(call.file, call.chain[0].name):
            return UnresolvedCall.UNKNOWN_NAME
        folded = fold_name(word)
        if len(folded) < _MIN_VARIABLE_CHARS:
            return None
        nodes = [
            node
            for container in definitions.containers_like(family, folded)
            for node in definitions.owned(family, container, call.name)
            if definitions.in_class[node] or unit.rules.split_types
        ]
        return self.bound(CallStrategy.RECEIVER_NAME, definitions.nearest(nodes, call.file))

    def _by_method_name(self, call: Call, unit: SourceUnit) -> Outcome | None:
        # what a method asks of another object is not itself: super().close(), envelope.set_label()
        definitions = self._definitions
        family = int(definitions.files.family[call.file])
        nodes = [node for node in definitions.members_named(family, call.name) if node != call.caller]
        if not nodes:
            return UnresolvedCall.UNKNOWN_NAME
        if not is_distinctive(call.name):
            return UnresolvedCall.UNKNOWN_RECEIVER
        if unit.rules.imports_types and not any(
            self._imports.sees(call.file, int(definitions.file[node])) for node in nodes[: MAX_CANDIDATES + 1]
        ):
            return UnresolvedCall.UNKNOWN_RECEIVER  # a file that imports nothing from there hardly means it
        return self.bound(CallStrategy.UNIQUE_METHOD, nodes)

    def _are_one_type(self, nodes: Sequence[int]) -> bool:
        """Tell whether types are parts of one: partial classes, a class and its companion."""
        definitions = self._definitions
        same = all(definitions.qualified[node] == definitions.qualified[nodes[0]] for node in nodes)
        return same and definitions.unit(nodes[0]).rules.namespaced

    def bound(self, strategy: CallStrategy, nodes: Sequence[int]) -> Outcome | None:
        """Return the outcome for candidates: None for none, an ambiguity for several."""
        if not nodes:
            return None
        is_callable = self._definitions.callable
        if len(nodes) == 1 and is_callable[nodes[0]]:
            return Binding(strategy, (nodes[0],))
        if len(nodes) > MAX_CANDIDATES:
            return UnresolvedCall.AMBIGUOUS
        functions = [node for node in nodes if is_callable[node]]
        called = {found for node in functions or nodes if (found := self._definitions.called(node)) is not None}
        if not called:
            return None
        if not functions and self._are_one_type(nodes):
            called = {node for node in called if is_callable[node]} or {min(called)}
        return Binding(strategy if len(called) == 1 else CallStrategy.AMBIGUOUS, tuple(sorted(called)))
