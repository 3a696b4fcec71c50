"""Elixir: every definition is the call of a macro, every documentation an attribute."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.discover.parsing.languages.language import Grammar, ImportedName, Language
from pipelines.records import SymbolKind

_DIRECTIVE = re.compile(
    r"(?P<word>alias|import|require|use)[\s(]+(?P<module>[\w.]+?)(?P<many>\.\{[^}]*\})?(?=[\s,)]|\Z)"
)
_AS = re.compile(r"\bas:\s*(\w+)")
_ONLY = re.compile(r"\bonly:\s*\[([^\[\]]*)\]")
_KEY = re.compile(r"([a-z_]\w*[?!]?):")

_FUNCTIONS = '(#any-of? @_def "def" "defp" "defdelegate" "defn" "defnp")'
_MACROS = '(#any-of? @_def "defmacro" "defmacrop" "defguard" "defguardp")'
_TYPES = '(#any-of? @_type "type" "typep" "opaque")'
_CALLBACKS = '(#any-of? @_callback "callback" "macrocallback")'
#: Attributes that say something about the definition below.
_SAID = (
    '(#any-of? @_said "spec" "impl" "deprecated" "since" "tag" "dialyzer" "derive"'
    ' "describetag" "decorate" "enforce_keys")'
)
#: All attributes that mean something to the language or its tools, and so are no constants.
_KNOWN = (
    "doc|typedoc|shortdoc|moduledoc|spec|impl|deprecated|since|tag|dialyzer|derive|"
    "describetag|moduletag|decorate|enforce_keys|type|typep|opaque|callback|macrocallback|"
    "optional_callbacks|behaviour|behavior|before_compile|after_compile|on_definition|on_load|"
    "compile|external_resource|file|vsn|nifs|fallback_to_any|protocol|for|preferred_cli_env|"
    "recursive|requirements|primary_key|foreign_key_type|timestamps_opts|schema_prefix"
)
_IS_KNOWN = f'(#match? @_known "^({_KNOWN})$")'
_UNKNOWN = f'(#not-match? @name "^({_KNOWN})$")'
#: Calls that are no calls but syntax.
_SYNTAX = (
    '(#not-match? @name "^(def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate|defn|defnp|defmodule|'
    "defprotocol|defimpl|defstruct|defexception|defoverridable|alias|import|require|use|if|"
    'unless|case|cond|with|for|quote|unquote|unquote_splicing|fn|receive|try)$")'
)
_HEAD = "(identifier) @name"
_HEADS = (
    _HEAD,
    "(call target: (identifier) @name (arguments) @arity)",
    f'(binary_operator left: [{_HEAD} (call target: (identifier) @name (arguments) @arity)] operator: "when")',
)
_SIGN = ("(binary_operator operator: _ @name)", "(unary_operator operator: _ @name)")


def _definers(kind: SymbolKind, predicate: str) -> Iterator[tuple[SymbolKind, str]]:
    for head in _HEADS:
        yield kind, f"(call target: (identifier) @_def (arguments . {head}) (do_block)? @body {predicate}) @node"


def _said(head: str) -> tuple[str, str]:
    """Return the patterns of `head :: type` and `head :: type when name: type`."""
    plain = f"(binary_operator left: {head})"
    return plain, f"(binary_operator left: {plain})"


def _expand(text: str) -> Iterator[ImportedName]:
    """Yield the modules of `alias A.{B, C}`, the names of `import A, only: [f: 1]`, all names (`*`) of the others."""
    directive = _DIRECTIVE.match(text)
    if directive is None:
        return
    word, module = directive["word"], directive["module"]
    if directive["many"]:
        for part in directive["many"][2:-1].split(","):
            if part.strip():
                yield f"{module}.{part.strip()}", None, None
        return
    renamed, only = _AS.search(text), _ONLY.search(text)
    if word == "import" and only:
        yield from ((module, name, None) for name in _KEY.findall(only[1]))
    elif word in ("import", "use"):
        yield module, "*", None
    else:
        yield module, None, renamed[1] if renamed else None


def _module(definer: str, inner: str = "") -> str:
    return f"(call target: (identifier) @_def (arguments . (alias) @name) (do_block {inner}) @body {definer}) @node"


ELIXIR = Language(
    name="elixir",
    grammar=Grammar("tree-sitter-elixir", "tree_sitter_elixir"),
    definitions=(
        (
            SymbolKind.STRUCT,
            _module(
                '(#eq? @_def "defmodule") (#any-of? @_struct "defstruct" "defexception" "schema" "embedded_schema")',
                "(call target: (identifier) @_struct)",
            ),
        ),
        (SymbolKind.CLASS, _module('(#eq? @_def "defmodule")')),
        (SymbolKind.INTERFACE, _module('(#eq? @_def "defprotocol")')),
        *_definers(SymbolKind.FUNCTION, _FUNCTIONS),
        *_definers(SymbolKind.MACRO, _MACROS),
        *(
            (
                SymbolKind.FUNCTION,
                f"(call target: (identifier) @_def (arguments . {sign}) (do_block)? @body {_FUNCTIONS}) @node",
            )
            for sign in _SIGN
        ),
        (
            SymbolKind.FUNCTION,
            '(binary_operator left: (identifier) @name operator: "=" right: (anonymous_function'
            " . (stab_clause right: (_) @body)) @value) @node",
        ),
        (
            SymbolKind.FUNCTION,
            "(call target: (identifier) @_test (arguments . (string) @name) (do_block) @body"
            ' (#any-of? @_test "test" "property")) @node',
        ),
        *(
            (
                SymbolKind.TYPE,
                f"(unary_operator operand: (call target: (identifier) @_type (arguments . {said})) {_TYPES}) @node",
            )
            for said in _said("[(identifier) @name (call target: (identifier) @name)]")
        ),
        (
            SymbolKind.CONSTANT,
            '(unary_operator operator: "@" operand: (call target: (identifier) @name (arguments . (_)))'
            f" {_UNKNOWN}) @node",
        ),
    ),
    declarations=(
        *(
            (
                SymbolKind.METHOD,
                "(unary_operator operand: (call target: (identifier) @_callback"
                f" (arguments . {said})) {_CALLBACKS}) @node",
            )
            for said in _said("[(identifier) @name (call target: (identifier) @name (arguments) @arity)]")
        ),
    ),
    types=(
        "(call target: (identifier) @_def"
        " (arguments . (alias) @scope (keywords . (pair key: (_) @_for value: (_) @name)))"
        ' (#eq? @_def "defimpl") (#match? @_for "^for:")) @node',
        '(call target: (identifier) @_def (arguments . (alias) @name) (#eq? @_def "defimpl")) @node',
    ),
    namespaces=(
        '(call target: (identifier) @_group (arguments . (string) @name) (do_block) (#eq? @_group "describe")) @node',
    ),
    attributes=(
        '(unary_operator operator: "@" operand: (call target: (identifier) @_doc (arguments . [(string) (sigil)] @doc))'
        ' (#any-of? @_doc "doc" "typedoc" "shortdoc")) @node',
        '(unary_operator operator: "@" operand: (call target: (identifier) @_doc'
        " (arguments . [(boolean) (keywords) (call) (identifier)]))"
        ' (#any-of? @_doc "doc" "typedoc")) @node',
        f'(unary_operator operator: "@" operand: (call target: (identifier) @_said) {_SAID}) @node',
    ),
    inner_docs=(
        '(unary_operator operator: "@" operand: (call target: (identifier) @_doc (arguments . [(string) (sigil)] @doc))'
        ' (#eq? @_doc "moduledoc")) @node',
    ),
    inert=(f'(unary_operator operator: "@" operand: (call target: (identifier) @_known) {_IS_KNOWN}) @node',),
    calls=(
        "(call target: (dot left: [(alias) (atom)] right: (identifier) @name) @callee)",
        "(call target: (dot right: (identifier) @name) @callee (arguments))",
        "(call target: (dot left: (identifier) @name !right))",
        f"(call target: (identifier) @name {_SYNTAX})",
        '(binary_operator operator: "|>" right: (identifier) @name)',
        '(unary_operator operator: "&" operand: (binary_operator left: (identifier) @name operator: "/"))',
    ),
    imports=('(call target: (identifier) @_word (#any-of? @_word "alias" "import" "require" "use")) @tree',),
    merges=True,
    test_marker=r"(?:^|\n)\s*(?:test|property|describe)[ (]+$",
    expand=_expand,
    max_levels=1_000,
)
