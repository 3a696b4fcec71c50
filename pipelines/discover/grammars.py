"""Grammars and compiled patterns. In: a language's table. Out: a parser and its query; the versions of all grammars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from importlib import import_module
from importlib.metadata import version

from tree_sitter import Language as TreeSitterLanguage
from tree_sitter import Node, Parser, Query, QueryCursor, QueryError

from pipelines.discover.languages import LANGUAGES, Language
from pipelines.records import SymbolKind, TypingRole


class Role(Enum):
    """What a pattern of a table shows."""

    DEFINITION = auto()
    SCOPE = auto()
    WRAPPER = auto()
    ATTRIBUTE = auto()
    COMMENT = auto()
    CALL = auto()
    TOKENS = auto()
    IMPORT = auto()
    TYPING = auto()
    ERROR = auto()


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
        #: For each rule, the capture that gives its place; None for imports and typings, whose captures differ.
        self.anchors = tuple(_ANCHORS.get(rule.role, "node") for rule in self.rules)
        self._parser = Parser(grammar)
        self._query = query

    def matches(self, data: bytes) -> list[tuple[int, Captures]]:
        """Parse a file and return every construct of the table: the place of its rule in `rules`, and its captures."""
        return QueryCursor(self._query).matches(self._parser.parse(data).root_node)


_ANCHORS = {Role.CALL: "name", Role.IMPORT: None, Role.TYPING: None}


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
    yield from (Rule(Role.COMMENT, pattern) for pattern in language.comments)
    yield from (Rule(Role.CALL, pattern) for pattern in language.calls)
    yield from (Rule(Role.TOKENS, pattern) for pattern in language.tokens)
    yield from (Rule(Role.IMPORT, pattern) for pattern in language.imports)
    yield from (Rule(Role.TYPING, pattern, typing=role) for role, pattern in language.typings)
    yield from (Rule(Role.ERROR, pattern) for pattern in ("(ERROR) @node", "(MISSING) @node"))


def grammar_versions() -> str:
    """Return the versions of tree-sitter and all grammars as one stable string, without loading a grammar."""
    distributions = {"tree-sitter", *(language.grammar.distribution for language in LANGUAGES.values())}
    return " ".join(f"{name}={version(name)}" for name in sorted(distributions))
