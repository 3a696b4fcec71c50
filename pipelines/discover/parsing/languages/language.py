"""What the walker must know of one language: its grammar, and patterns of its syntax tree sorted by what they show.

A pattern is a tree-sitter query that matches one construct. Its captures have fixed meanings:

    @node        the construct itself: its span
    @name        what it is called; the called or imported name; a scope without one adds no name
    @first       where the name begins if it has several nodes (`operator +`, `~Ledger`)
    @declarator  where the name stands inside nested declarators (C, C++)
    @scope       the type that a definition belongs to although it stands outside of it (Go receivers)
    @body        where the declaration ends and the body begins
    @last        where a construct of several nodes ends
    @rest        the node to whose end a scope reaches, unless another such scope begins (`namespace A;`)
    @value       a function or class that gets its name from what it is assigned to
    @members     the object that a constant stands for: its functions are methods
    @callee      the expression that is called; what stands in it before the name is the receiver
    @arguments   must follow the name without a space, else it is no call (tokens of a Rust macro)
    @module, @alias, @default   of an import; @default binds the module's default export
    @type        a type as it is written; @called the callee of a value, @value a value that is a path (typings)
    @field       the name of a field of the own object, where it is declared without a word for that object
    @tree        the text of an import that only the language's `expand` understands
    @doc         of an attribute: the string in it that documents what it stands before or in
    @arity       of a definition: what has as many children as it has parameters; overloads differ in it
    @declaration where the signature of a definition stands, if that is not the construct itself
    @top         what counts at the top level of the file alone: directly in one of the language's `top` nodes

A capture whose name starts with '_' serves its pattern's predicates alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pipelines.records import SymbolKind, TypingRole

#: (module, imported name or None, alias or None)
ImportedName = tuple[str, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Where a compiled grammar is found: its distribution, its module, the function that gives it."""

    distribution: str
    module: str
    function: str = "language"


@dataclass(frozen=True, slots=True)
class Language:
    """One language. Where two definition patterns match one node, the first in the table wins."""

    name: str
    grammar: Grammar
    definitions: tuple[tuple[SymbolKind, str], ...]
    #: Definitions without a body: they count only where the file has no definition of that name with one.
    declarations: tuple[tuple[SymbolKind, str], ...] = ()
    types: tuple[str, ...] = ()  # what is no symbol, but makes functions inside it methods
    namespaces: tuple[str, ...] = ()  # what is no symbol, but qualifies the names inside it
    wrappers: tuple[str, ...] = ()  # statements around a definition that belong to its span and signature
    decorated: tuple[str, ...] = ()  # the same, but not part of the signature
    attributes: tuple[str, ...] = ()  # what stands before a definition and belongs to its span
    inner_docs: tuple[str, ...] = ()  # attributes that document what they stand in, not what follows
    top: frozenset[str] = frozenset()  # nodes that hold what stands outside of functions and types
    inert: tuple[str, ...] = ()  # what looks like code but does not run: no calls are read inside
    calls: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()  # text that the grammar does not parse, with calls in it: bodies of macros
    imports: tuple[str, ...] = ()
    #: What the source says of types: with @name or @field for what has them, without for bases and results.
    typings: tuple[tuple[TypingRole, str], ...] = ()
    comments: tuple[str, ...] = ("(comment) @node",)
    docstrings: bool = False  # a string that opens a body is its documentation
    inner_comment: str = ""  # a comment with this start documents what it stands in, not what follows
    test_marker: str = ""  # regular expression: an attribute or annotation that makes a definition a test
    test_name: str = ""  # regular expression: a qualified name that makes a definition a test
    reserved: frozenset[str] = frozenset()  # what no definition is called: a name that a syntax error made of a keyword
    merges: bool = False  # definitions of one name that follow one another are one: signature, clauses, equations
    #: The text as its grammar shall see it, byte for byte as long: for what the grammar does not know.
    visible: Callable[[bytes], bytes] | None = None
    #: The same, for a text that the grammar cannot read whole; each is tried, and that which gains most counts.
    repairs: tuple[Callable[[bytes], bytes], ...] = ()
    #: Levels of brackets that are read, 0 for any number. Patterns that wait for a later sibling wait at every level:
    #: of calls in calls, 1,000 take Elixir's one second and 3,000 ten; those of most languages do not wait.
    max_levels: int = 0
    blocks_close_lines: bool = False  # a brace in the first column ends a definition, whatever errors stand before
    expand: Callable[[str], Iterator[ImportedName]] | None = None
