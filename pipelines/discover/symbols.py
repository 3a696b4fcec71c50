"""The one walker over a syntax tree, for every language. In: source and table. Out: definitions, calls, imports.

The patterns of the table find the constructs; the walker takes them in document order and keeps the definitions that
are open at that place. So nothing recurses into the tree, however deep it is nested, and a construct inside a region
that does not parse is found like any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import itemgetter

from tree_sitter import Node

from pipelines.discover.calls import CallSite, read_call, read_tokens
from pipelines.discover.grammars import Captures, CompiledLanguage, Role, Rule
from pipelines.discover.imports import ImportRow, import_position, read_import
from pipelines.discover.macros import hide_macros
from pipelines.discover.naming import DEFAULT_NAME, name_parts
from pipelines.discover.source import Source, Span
from pipelines.discover.surroundings import Place, Surroundings
from pipelines.discover.typings import TypingRow, read_typing
from pipelines.records import CALLABLE_KINDS, SymbolKind
from pipelines.roles import is_test_path

#: Definitions inside which a function is a method.
_HOLDS_METHODS = frozenset(
    {SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.STRUCT, SymbolKind.TRAIT, SymbolKind.ENUM}
)
#: Nodes of C and C++ around a declarator that do not name it as a field.
_DECLARATOR_SHELLS = frozenset({"parenthesized_declarator", "reference_declarator", "attributed_declarator"})


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition; spans are byte offsets, lines are 1-based and inclusive."""

    kind: SymbolKind
    name: str
    qualified_name: str
    start: int
    end: int
    start_line: int
    end_line: int
    declaration: Span  # without the body
    doc: tuple[Span, ...]  # the comments directly above, then the docstring
    is_test: bool
    has_body: bool


@dataclass(slots=True)
class Outline:
    """What a file defines, calls and imports, in document order."""

    definitions: list[Definition] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    imports: list[ImportRow] = field(default_factory=list)
    typings: list[TypingRow] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)
    error_nodes: int = 0


@dataclass(frozen=True, slots=True)
class _Frame:
    """A definition or scope that is open at the walker's place."""

    end: int
    parts: tuple[str, ...]
    holds_methods: bool
    caller: int | None
    is_test: bool
    owner: int | None = None  # the innermost definition that can own a typing
    replaceable: bool = False  # ends where another one of its kind begins


def outline(source: Source, compiled: CompiledLanguage, path: str) -> Outline:
    """Return what a file defines, calls and imports."""
    return _Walker(source, compiled, path).walk()


class _Walker:
    def __init__(self, source: Source, compiled: CompiledLanguage, path: str) -> None:
        self._source = source
        self._compiled = compiled
        self._language = compiled.language
        self._marker = re.compile(self._language.test_marker) if self._language.test_marker else None
        self._test_name = re.compile(self._language.test_name) if self._language.test_name else None
        self._outline = Outline()
        self._frames = [_Frame(len(source.data) + 1, (), False, None, is_test_path(path))]
        self._around = Surroundings(source, compiled.language)
        self._claimed: dict[Span, int] = {}  # span of a definition or scope -> the rule that took it
        self._named: set[int] = set()  # where the names stand that have a definition
        self._imported: set[int] = set()  # where the modules stand that have an import

    def walk(self) -> Outline:
        handlers = {
            Role.DEFINITION: self._define,
            Role.SCOPE: self._enter,
            Role.WRAPPER: self._wrap,
            Role.ATTRIBUTE: self._precede,
            Role.COMMENT: self._comment,
            Role.CALL: self._call,
            Role.TOKENS: self._tokens,
            Role.IMPORT: self._import,
            Role.TYPING: self._type,
            Role.ERROR: self._count_error,
        }
        rules = self._compiled.rules
        frames = self._frames
        for start, negative_end, order, captures in self._events():
            while frames[-1].end <= start and len(frames) > 1:
                frames.pop()
            handlers[rules[order].role](order, captures, start, -negative_end)
        return self._outline

    def _events(self) -> list[tuple[int, int, int, Captures]]:
        """Return all matches by start, the longer before the shorter, then in the order of the table."""
        anchors = self._compiled.anchors
        visible = hide_macros(self._source.data) if self._language.macros_derail else self._source.data
        events = []
        for order, captures in self._compiled.matches(visible):
            anchor = anchors[order]
            if anchor is None:
                start, end = import_position(captures)
            else:
                node = captures[anchor][0]
                start, end = node.start_byte, (captures["last"][0] if "last" in captures else node).end_byte
            events.append((start, -end, order, captures))
        events.sort(key=itemgetter(0, 1, 2))
        return events

    # --- one handler for each role ---

    def _count_error(self, order: int, captures: Captures, start: int, end: int) -> None:
        self._outline.error_nodes += 1

    def _wrap(self, order: int, captures: Captures, start: int, end: int) -> None:
        self._around.wrap(start, end, self._compiled.rules[order].in_signature)

    def _precede(self, order: int, captures: Captures, start: int, end: int) -> None:
        self._around.precede(start, end, is_comment=False)

    def _comment(self, order: int, captures: Captures, start: int, end: int) -> None:
        self._around.precede(start, end, is_comment=True)
        self._outline.comments.append((start, end))

    def _call(self, order: int, captures: Captures, start: int, end: int) -> None:
        calls = self._outline.calls
        if start not in self._named and (not calls or calls[-1].start != start):
            call = read_call(captures, self._source, self._frames[-1].caller)
            if call is not None:
                calls.append(call)

    def _tokens(self, order: int, captures: Captures, start: int, end: int) -> None:
        line = captures["node"][0].start_point.row + 1
        caller, reserved = self._frames[-1].caller, self._language.reserved
        self._outline.calls.extend(read_tokens(self._source, start, end, line, caller, reserved))

    def _import(self, order: int, captures: Captures, start: int, end: int) -> None:
        if "module" in captures:
            module = captures["module"][0].start_byte
            alone = captures.keys().isdisjoint({"name", "alias", "default"})
            if alone and module in self._imported:
                return
            self._imported.add(module)
        self._outline.imports.extend(read_import(captures, self._source, self._language))

    def _type(self, order: int, captures: Captures, start: int, end: int) -> None:
        role = self._compiled.rules[order].typing
        assert role is not None
        # a definition that gets its name from this statement is not its owner
        frame = self._frames[-2 if start in self._named and len(self._frames) > 1 else -1]
        row = read_typing(captures, self._source, role, frame.owner)
        if row is not None:
            self._outline.typings.append(row)

    def _enter(self, order: int, captures: Captures, start: int, end: int) -> None:
        if self._claimed.setdefault((start, end), order) != order:
            return
        while "rest" in captures and self._frames[-1].replaceable:
            self._frames.pop()
        frame = self._frames[-1]
        node = captures["name" if "name" in captures else "node"][0]
        parts = self._parts(captures, node)
        place = self._around.place(start, end)
        self._frames.append(
            _Frame(
                captures["rest"][0].end_byte if "rest" in captures else end,
                frame.parts if parts == (DEFAULT_NAME,) else frame.parts + parts,
                self._compiled.rules[order].holds_methods,
                frame.caller,
                frame.is_test or self._has_marker(place.start, node.start_byte),
                frame.owner,
                "rest" in captures,
            )
        )

    def _define(self, order: int, captures: Captures, start: int, end: int) -> None:
        named = self._name_node(captures)
        if self._claimed.setdefault((start, end), order) != order or named.start_byte in self._named:
            return
        self._named.add(named.start_byte)
        if "last" in captures:
            self._named.add(start)  # the macro that defines it, which looks like a call
        if "value" in captures:
            value = captures["value"][0]
            self._claimed[value.start_byte, value.end_byte] = order
        rule, frame = self._compiled.rules[order], self._frames[-1]
        parts = self._parts(captures, named)
        if parts[-1] in self._language.reserved:
            return
        place = self._around.place(start, end)
        definition = self._definition(rule, captures, frame, parts, place, named.start_byte)
        index = len(self._outline.definitions)
        self._outline.definitions.append(definition)
        if definition.kind is not SymbolKind.TYPE:
            self._frames.append(
                _Frame(
                    end,
                    frame.parts + parts,
                    definition.kind in _HOLDS_METHODS,
                    index if definition.kind in CALLABLE_KINDS else frame.caller,
                    definition.is_test,
                    frame.owner if definition.kind is SymbolKind.CONSTANT else index,
                )
            )

    # --- the parts of a definition ---

    def _name_node(self, captures: Captures) -> Node:
        if "declarator" in captures:
            return _innermost_declarator(captures["declarator"][0])
        return captures["name" if "name" in captures else "value"][0]

    def _parts(self, captures: Captures, named: Node) -> tuple[str, ...]:
        if "name" not in captures and "declarator" not in captures:
            return (DEFAULT_NAME,)
        first = captures["first"][0] if "first" in captures else named
        parts = name_parts(self._source.text(first.start_byte, named.end_byte))
        if "scope" in captures:
            scope = captures["scope"][0]
            parts = name_parts(self._source.text(scope.start_byte, scope.end_byte)) + parts
        return parts

    def _definition(
        self, rule: Rule, captures: Captures, frame: _Frame, parts: tuple[str, ...], place: Place, name_start: int
    ) -> Definition:
        assert rule.kind is not None
        kind = rule.kind
        if kind is SymbolKind.FUNCTION and (frame.holds_methods or len(parts) > 1):
            kind = SymbolKind.METHOD
        body = captures["body"][0] if "body" in captures else None
        docstring = _docstring(body) if self._language.docstrings and body is not None else None
        qualified_name = ".".join(frame.parts + parts)
        start_line = self._line_of(captures, place)
        end = self._source.trimmed_end(place.start, place.end)
        return Definition(
            kind,
            parts[-1],
            qualified_name,
            place.start,
            end,
            start_line,
            start_line + self._source.line_breaks(place.start, end),
            (place.declaration, body.start_byte if body is not None else end),
            (*place.doc, *([(docstring.start_byte, docstring.end_byte)] if docstring is not None else [])),
            frame.is_test or self._has_test_name(qualified_name) or self._has_marker(place.start, name_start),
            rule.has_body,
        )

    def _line_of(self, captures: Captures, place: Place) -> int:
        node = captures["node"][0]
        return node.start_point.row + 1 - self._source.line_breaks(place.start, node.start_byte)

    def _has_test_name(self, qualified_name: str) -> bool:
        return self._test_name is not None and self._test_name.search(qualified_name) is not None

    def _has_marker(self, start: int, end: int) -> bool:
        return self._marker is not None and self._marker.search(self._source.text(start, end)) is not None


def _innermost_declarator(node: Node) -> Node:
    while True:
        inner = node.child_by_field_name("declarator")
        if node.type == "operator_cast":
            return node
        if inner is None and node.type in _DECLARATOR_SHELLS:
            inner = next((child for child in node.named_children if "declarator" in child.type), None)
            inner = inner or (node.named_children[-1] if node.named_children else None)
        if inner is None:
            return node
        node = inner


def _docstring(body: Node) -> Node | None:
    for child in body.named_children[:4]:
        if child.type == "expression_statement":
            first = child.named_child(0)
            return first if first is not None and first.type == "string" else None
        if child.type != "comment":
            return None
    return None
