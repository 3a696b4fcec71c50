"""The one walker over a syntax tree, for every language. In: source and table. Out: its outline.

The patterns of the table find the constructs; the walker takes them in document order and keeps the definitions that
are open at that place. So nothing recurses into the tree, however deep it is nested, and a construct inside a region
that does not parse is found like any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tree_sitter import Node, Range

from pipelines.discover.parsing.calls import Call, read_calls
from pipelines.discover.parsing.grammars import Captures, CompiledLanguage, Constructs, Role, Rule, span_of
from pipelines.discover.parsing.imports import ImportRow, read_imports
from pipelines.discover.parsing.naming import DEFAULT_NAME, bounded, name_parts
from pipelines.discover.parsing.nesting import Frame, Nesting
from pipelines.discover.parsing.source import Source
from pipelines.discover.parsing.surroundings import Place, Surroundings
from pipelines.discover.parsing.typings import TypingRow, read_typings
from pipelines.offsets import Span
from pipelines.records import CALLABLE_KINDS, SymbolKind
from pipelines.roles import is_test_path

#: Definitions inside which a function is a method.
_HOLDS_METHODS = frozenset(
    {SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.STRUCT, SymbolKind.TRAIT, SymbolKind.ENUM}
)
#: Nodes of C and C++ around a declarator that do not name it as a field.
_DECLARATOR_SHELLS = frozenset({"parenthesized_declarator", "reference_declarator", "attributed_declarator"})


class Definition(NamedTuple):
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
    """What a file defines, calls, imports and says of types, in document order."""

    definitions: list[Definition] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    imports: list[ImportRow] = field(default_factory=list)
    typings: list[TypingRow] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)
    error_nodes: int = 0
    recovered: int = 0  # definitions that a syntax error swallowed and that were parsed alone


def outline(
    source: Source, compiled: CompiledLanguage, path: str, ranges: Sequence[Range] = (), known: Outline | None = None
) -> Outline:
    """Return what a file defines, calls, imports and says of types.

    :param ranges: the parts of the file that are in this language; none for all of it.
    :param known: what its earlier parts gave, which this one is added to.
    """
    language, rules, found = compiled.language, compiled.rules, known or Outline()
    visible = language.visible(source.data) if language.visible is not None else source.data
    constructs = compiled.find(visible, ranges)
    comments = constructs.spans(Role.COMMENT)
    attributes = {
        (start, -negative_end): span_of(captures, "doc")
        for start, negative_end, _, captures in constructs.in_order(Role.ATTRIBUTE)
    }
    around = Surroundings(source, language, comments, attributes)
    walker = _Walker(source, compiled, around, found.definitions, is_test_path(path))
    walker.walk(constructs)
    nesting, named = walker.nesting.finished(), walker.named
    found.calls += read_calls(constructs, rules, source, nesting, named | walker.opened, language.reserved)
    found.imports += read_imports(constructs, source, language)
    found.typings += read_typings(constructs, rules, source, nesting, named)
    found.comments += comments
    found.error_nodes += constructs.errors
    found.recovered += constructs.recovered
    return found


class _Walker:
    """Takes the constructs that definitions are made of in document order."""

    def __init__(
        self,
        source: Source,
        compiled: CompiledLanguage,
        around: Surroundings,
        definitions: list[Definition],
        in_test: bool,
    ) -> None:
        self.definitions = definitions
        self.nesting = Nesting(Frame(None, len(source.data) + 1, (), False, None, in_test))
        self.named: set[int] = set()  # where the names stand that have a definition
        self.opened: set[int] = set()  # where definitions and scopes begin: a macro that defines looks like a call
        self._source = source
        self._rules = compiled.rules
        self._language = compiled.language
        self._marker = re.compile(self._language.test_marker) if self._language.test_marker else None
        self._test_name = re.compile(self._language.test_name) if self._language.test_name else None
        self._around = around
        self._claimed: dict[Span, int] = {}  # span of a definition or scope -> the rule that took it

    def walk(self, constructs: Constructs) -> None:
        """Add to the definitions, and fill `nesting` and `named`."""
        handlers = {
            Role.DEFINITION: self._define,
            Role.SCOPE: self._enter,
            Role.WRAPPER: self._wrap,
            Role.INNER_DOC: self._document,
        }
        for start, negative_end, order, captures in constructs.in_order(*handlers):
            self.nesting.close_until(start)
            handlers[self._rules[order].role](order, captures, start, -negative_end)

    # --- one handler for each role ---

    def _wrap(self, order: int, captures: Captures, start: int, end: int) -> None:
        self._around.wrap(start, end, self._rules[order].in_signature)

    def _document(self, order: int, captures: Captures, start: int, end: int) -> None:
        owner, doc = self.nesting.top.owner, span_of(captures, "doc")
        if owner is not None and doc is not None:
            definition = self.definitions[owner]
            self.definitions[owner] = definition._replace(doc=(*definition.doc, doc))

    def _enter(self, order: int, captures: Captures, start: int, end: int) -> None:
        if self._claimed.setdefault((start, end), order) != order:
            return
        self.opened.add(start)
        while "rest" in captures and self.nesting.top.replaceable:
            self.nesting.close(start)
        frame = self.nesting.top
        node = captures["name" if "name" in captures else "node"][0]
        parts = self._parts(captures, node)
        place = self._around.place(start, end)
        self.nesting.open(
            start,
            Frame(
                frame,
                captures["rest"][0].end_byte if "rest" in captures else end,
                frame.parts if parts == (DEFAULT_NAME,) else bounded(frame.parts + parts),
                self._rules[order].holds_methods,
                frame.caller,
                frame.is_test or self._has_marker(place.start, node.start_byte),
                frame.owner,
                "rest" in captures,
            ),
        )

    def _define(self, order: int, captures: Captures, start: int, end: int) -> None:
        named = self._name_node(captures)
        is_another = (start, end) in self._claimed  # of several that one statement declares
        if self._claimed.setdefault((start, end), order) != order or named.start_byte in self.named:
            return
        self.named.add(named.start_byte)
        self.opened.add(start)
        if "value" in captures:
            value = captures["value"][0]
            self._claimed[value.start_byte, value.end_byte] = order
        rule = self._rules[order]
        if is_another and rule.kind is not SymbolKind.TYPE and self.nesting.top.end == end:
            self.nesting.close(start)  # it stands beside the one before, not in it
        frame = self.nesting.top
        parts = self._parts(captures, named)
        if parts[-1] in self._language.reserved:
            return
        place = self._place(captures, start, end)
        path = bounded(frame.parts + parts)
        definition = self._definition(rule, captures, frame, parts, path, place, named.start_byte)
        index = self._add(definition, frame, captures["arity"][0].named_child_count if "arity" in captures else None)
        if definition.kind is not SymbolKind.TYPE:
            self.nesting.open(
                start,
                Frame(
                    frame,
                    end,
                    path,
                    definition.kind in _HOLDS_METHODS or "members" in captures,
                    index if definition.kind in CALLABLE_KINDS else frame.caller,
                    definition.is_test,
                    frame.owner if definition.kind is SymbolKind.CONSTANT else index,
                ),
            )

    def _place(self, captures: Captures, start: int, end: int) -> Place:
        around = span_of(captures, "declaration")
        if around is None:
            return self._around.place(start, end)
        return replace(self._around.place(*around), start=start, end=end, declaration=around[0])

    def _add(self, definition: Definition, frame: Frame, arity: int | None) -> int:
        """Add a definition and return its place: that of the one before, where both are clauses of one definition."""
        definitions = self.definitions
        if self._language.merges and frame.clause is not None:
            index, known_arity = frame.clause
            first = definitions[index]
            same = (first.kind, first.qualified_name, known_arity) == (
                definition.kind,
                definition.qualified_name,
                arity,
            )
            if same:
                definitions[index] = first._replace(
                    end=definition.end,
                    end_line=definition.end_line,
                    doc=first.doc or definition.doc,
                    has_body=first.has_body or definition.has_body,
                )
                return index
        definitions.append(definition)
        frame.clause = (len(definitions) - 1, arity)
        return len(definitions) - 1

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
        self,
        rule: Rule,
        captures: Captures,
        frame: Frame,
        parts: tuple[str, ...],
        path: tuple[str, ...],
        place: Place,
        name_start: int,
    ) -> Definition:
        assert rule.kind is not None
        kind = rule.kind
        if kind is SymbolKind.FUNCTION and (frame.holds_methods or len(parts) > 1):
            kind = SymbolKind.METHOD
        body = captures["body"][0] if "body" in captures else None
        docstring = _docstring(body) if self._language.docstrings and body is not None else None
        qualified_name = ".".join(path)
        start_line = self._line_of(captures, place)
        end = self._around.end_of(place.start, place.end)
        return Definition(
            kind,
            parts[-1],
            qualified_name,
            place.start,
            end,
            start_line,
            start_line + self._source.line_breaks(place.start, end),
            span_of(captures, "declaration") or (place.declaration, body.start_byte if body is not None else end),
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
