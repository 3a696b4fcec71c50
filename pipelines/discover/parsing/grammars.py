"""Grammars and compiled patterns. In: a language's table, the text of a file. Out: its constructs, by role.

A text that a grammar cannot read whole is parsed again: repaired as the table says, then the blocks that an error
swallowed, each alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from importlib import import_module
from operator import itemgetter

from tree_sitter import Language as TreeSitterLanguage
from tree_sitter import Node, Parser, Point, Query, QueryCursor, QueryError, Range

from pipelines.discover.parsing.languages import Language
from pipelines.discover.parsing.recovery.blocks import is_definition_of, lost_blocks
from pipelines.discover.parsing.recovery.depth import MAX_SIGNS, NestedTooDeeply, is_tangle
from pipelines.discover.parsing.source import longer_first
from pipelines.offsets import Span
from pipelines.records import SymbolKind, TypingRole


class Role(Enum):
    """What a pattern of a table shows."""

    DEFINITION = auto()
    SCOPE = auto()
    WRAPPER = auto()
    ATTRIBUTE = auto()
    INNER_DOC = auto()
    INERT = auto()
    COMMENT = auto()
    CALL = auto()
    TOKENS = auto()
    IMPORT = auto()
    TYPING = auto()


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern of a table with what its section says of it."""

    role: Role
    pattern: str
    kind: SymbolKind | None = None
    typing: TypingRole | None = None
    has_body: bool = True
    holds_methods: bool = False
    in_signature: bool = False


#: What one match captured, by the names that languages/language.py explains.
Captures = dict[str, list[Node]]
#: Matches in the order in which the query cursor ends them: the place of the rule in the table, and the captures.
_Matches = list[tuple[int, Captures]]

_MOST = 0xFFFFFFFF
_EVERYTHING = Range(Point(0, 0), Point(_MOST, _MOST), 0, _MOST)


def span_of(captures: Captures, capture: str) -> Span | None:
    """Return the span of a capture, None if the match has none of that name."""
    node = captures[capture][0] if capture in captures else None
    return (node.start_byte, node.end_byte) if node is not None else None


class GrammarError(Exception):
    """A grammar is not installed, or a table names a node that its grammar does not have."""


class CompiledLanguage:
    """A language whose grammar is loaded and whose patterns are compiled into one query."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.rules = tuple(_rules(language))
        try:
            module = import_module(language.grammar.module)
            grammar = TreeSitterLanguage(getattr(module, language.grammar.function)())
            query = Query(grammar, "\n".join(rule.pattern for rule in self.rules))
        except (ImportError, AttributeError, ValueError, QueryError) as error:
            raise GrammarError(f"the {language.name} grammar cannot be used: {error}") from error
        if query.pattern_count != len(self.rules):
            raise GrammarError(f"a pattern of the {language.name} table holds more than one pattern")
        self._parser = Parser(grammar)
        self._query = query
        # the place of a construct is cheaper to ask for than to have in its pattern, which then waits at every node
        self._at_top = frozenset(order for order, rule in enumerate(self.rules) if "@top" in rule.pattern)

    def find(self, data: bytes, ranges: Sequence[Range] = ()) -> Constructs:
        """Parse a file and return every construct of the table.

        :param ranges: the parts of the file that are in this language; none for all of it.
        :raises NestedTooDeeply: if that would take too long.
        """
        found, errors = self._parse_repaired(data, list(ranges) or [_EVERYTHING])
        recovered = 0
        if errors and self.language.blocks_close_lines:
            found, errors, recovered = self._with_lost_blocks(data, found, errors)
        return Constructs(self.rules, found, len(errors), recovered)

    def _parse_repaired(self, data: bytes, ranges: list[Range]) -> tuple[_Matches, list[int]]:
        """Return what the text, or the repair of it that gains most, gives: definitions less syntax errors."""
        best = self._parse(data, ranges)
        for repair in self.language.repairs if best[1] else ():
            repaired = repair(data)
            if repaired != data and (other := self._parse(repaired, ranges)) and self._gain(*other) > self._gain(*best):
                best = other
        return best

    def _gain(self, found: _Matches, errors: list[int]) -> int:
        return len(set(self._defined(found))) - len(errors)

    def _parse(self, data: bytes, ranges: list[Range]) -> tuple[_Matches, list[int]]:
        """Return the matches in parts of a file, and where its syntax errors begin."""
        self._parser.included_ranges = ranges
        root = self._parser.parse(data).root_node
        errors = _errors(root) if root.has_error else []
        found = QueryCursor(self._query).matches(root)
        if any(order in self._at_top for order, _ in found):
            top = _children(root, self.language.top)
            found = [match for match in found if match[0] not in self._at_top or match[1]["top"][0].id in top]
        return found, errors

    def _with_lost_blocks(self, data: bytes, found: _Matches, errors: list[int]) -> tuple[_Matches, list[int], int]:
        """Add what is in the blocks that a syntax error swallowed, in place of what was made of them; count them."""
        replaced: list[Span] = []
        pieces: _Matches = []
        more_errors: list[int] = []
        row = position = 0
        for block in lost_blocks(data, self._defined(found)):
            row += data.count(b"\n", position, block.start)
            position = block.start
            last = row + data.count(b"\n", block.start, block.end)
            span = Range(Point(row, 0), Point(last, block.end - block.closing), block.start, block.end)
            piece, its_errors = self._parse(data, [span])
            if any(is_definition_of(block, span) for span in self._defined(piece)):
                replaced.append((block.start, block.end))
                pieces += piece
                more_errors += its_errors
        if not replaced:
            return found, errors, 0
        starts = [start for start, _ in replaced]

        def is_outside(start: int) -> bool:
            before = bisect_right(starts, start) - 1
            return before < 0 or replaced[before][1] <= start

        kept = [match for match in found if is_outside(min(nodes[0].start_byte for nodes in match[1].values()))]
        return kept + pieces, [start for start in errors if is_outside(start)] + more_errors, len(replaced)

    def _defined(self, matches: _Matches) -> Iterator[Span]:
        for order, captures in matches:
            if self.rules[order].role is Role.DEFINITION:
                node = captures["node"][0]
                yield node.start_byte, node.end_byte


def _children(root: Node, types: frozenset[str]) -> set[int]:
    """Return the ids of all nodes that stand in the root or, through nodes of some types alone, below it."""
    found: set[int] = set()
    waiting = [root]
    while waiting:
        for child in waiting.pop().children:
            found.add(child.id)
            if child.type in types:
                waiting.append(child)
    return found


def _errors(root: Node) -> list[int]:
    """Return where the syntax errors of a tree begin: what the grammar skipped, and what it missed.

    :raises NestedTooDeeply: if one of them is a tangle that the query takes too long for.
    """
    found: list[int] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            found.append(node.start_byte)
            if node.child_count > MAX_SIGNS and is_tangle(node.children):
                raise NestedTooDeeply
        # an error that holds no other one does not say so of itself
        waiting += [child for child in node.children if child.has_error or child.is_error or child.is_missing]
    return found


#: A match at its place: its start, its end with the sign changed, the place of its rule in the table, its captures.
Match = tuple[int, int, int, Captures]


class Constructs:
    """What the patterns of a table found in one file, by role, and how many syntax errors it has."""

    def __init__(self, rules: tuple[Rule, ...], found: _Matches, errors: int, recovered: int = 0) -> None:
        self.errors = errors
        self.recovered = recovered  # definitions that an error swallowed and that were parsed alone
        self._found: dict[Role, _Matches] = {role: [] for role in Role}
        of_rule = [self._found[rule.role] for rule in rules]
        for match in found:
            of_rule[match[0]].append(match)

    def spans(self, role: Role) -> list[Span]:
        """Return the spans of the constructs of a role by start, the longer before the shorter."""
        nodes = [captures["node"][0] for _, captures in self._found[role]]
        return sorted([(node.start_byte, node.end_byte) for node in nodes], key=longer_first)

    def in_order(self, *roles: Role) -> list[Match]:
        """Return the matches of roles by start, the longer before the shorter, then in the order of the table."""
        matches: list[Match] = []
        for role in roles:
            first, *others = _ANCHORS.get(role, ("node",))
            for order, captures in self._found[role]:
                anchor = first if first in captures else next(other for other in others if other in captures)
                node = captures[anchor][0]
                last = captures["last"][0] if "last" in captures else node
                matches.append((node.start_byte, -last.end_byte, order, captures))
        matches.sort(key=itemgetter(0, 1, 2))
        return matches


#: The captures that give the place of a match, the first that it has, where it is not @node.
_ANCHORS: Mapping[Role, tuple[str, ...]] = {
    Role.CALL: ("name",),
    Role.IMPORT: ("name", "default", "module", "tree"),
    Role.TYPING: ("name", "field", "type", "called", "value"),
}


def _rules(language: Language) -> Iterator[Rule]:
    for kind, pattern in language.definitions:
        yield Rule(Role.DEFINITION, pattern, kind)
    for kind, pattern in language.declarations:
        yield Rule(Role.DEFINITION, pattern, kind, has_body=False)
    yield from (Rule(Role.SCOPE, pattern, holds_methods=True) for pattern in language.types)
    yield from (Rule(Role.SCOPE, pattern) for pattern in language.namespaces)
    yield from (Rule(Role.WRAPPER, pattern, in_signature=True) for pattern in language.wrappers)
    yield from (Rule(Role.WRAPPER, pattern) for pattern in language.decorated)
    yield from (Rule(Role.ATTRIBUTE, pattern) for pattern in language.attributes)
    yield from (Rule(Role.INNER_DOC, pattern) for pattern in language.inner_docs)
    yield from (Rule(Role.INERT, pattern) for pattern in language.inert)
    yield from (Rule(Role.COMMENT, pattern) for pattern in language.comments)
    yield from (Rule(Role.CALL, pattern) for pattern in language.calls)
    yield from (Rule(Role.TOKENS, pattern) for pattern in language.tokens)
    yield from (Rule(Role.IMPORT, pattern) for pattern in language.imports)
    yield from (Rule(Role.TYPING, pattern, typing=role) for role, pattern in language.typings)
