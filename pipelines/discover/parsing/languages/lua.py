"""Lua, with the blocks of busted."""

from __future__ import annotations

from pipelines.discover.parsing.languages.language import Grammar, Language
from pipelines.records import SymbolKind

_FUNCTION = "(function_definition body: (_)? @body) @value"
_REQUIRE = "(function_call name: (identifier) @_require arguments: (arguments . (string content: (_) @module)))"
_IS_REQUIRE = '(#eq? @_require "require")'
_BLOCK = "arguments: (arguments . (string) @name . (function_definition body: (_)? @body))"
_PLAIN_VALUE = (
    "(expression_list . value: [(number) (string) (true) (false) (table_constructor) (binary_expression)"
    " (unary_expression) (identifier)] .)"
)

LUA = Language(
    name="lua",
    grammar=Grammar("tree-sitter-lua", "tree_sitter_lua"),
    definitions=(
        (SymbolKind.FUNCTION, "(function_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.FUNCTION, "(function_declaration name: (_) @name !body) @node"),
        (
            SymbolKind.METHOD,
            "(assignment_statement (variable_list . name: (bracket_index_expression table: (_) @scope"
            f" field: (string) @name) .) (expression_list . value: {_FUNCTION} .)) @node",
        ),
        (
            SymbolKind.FUNCTION,
            "(assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name .)"
            f" (expression_list . value: {_FUNCTION} .)) @node",
        ),
        (SymbolKind.FUNCTION, f"(field name: [(identifier) (string)] @name value: {_FUNCTION}) @node"),
        (
            SymbolKind.FUNCTION,
            f'(function_call name: (identifier) @_test {_BLOCK} (#any-of? @_test "it" "test" "spec" "pending")) @node',
        ),
        (
            SymbolKind.CONSTANT,
            "(assignment_statement (variable_list . name: (_) @name . attribute: (attribute (identifier) @_const) .)"
            ' (#eq? @_const "const")) @node',
        ),
        (
            SymbolKind.CONSTANT,
            "(chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @name .)"
            f" {_PLAIN_VALUE}) @node)"
            ' (#match? @name "^[A-Z][A-Z0-9_]+$"))',
        ),
        (
            SymbolKind.CONSTANT,
            "(chunk (assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name .)"
            f" {_PLAIN_VALUE}) @node"
            ' (#match? @name "^([A-Za-z_.]+[.])?[A-Z][A-Z0-9_]+$"))',
        ),
    ),
    types=(
        "(assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name .)"
        " (expression_list . value: (table_constructor) .)) @node",
        "(field name: [(identifier) (string)] @name value: (table_constructor)) @node",
    ),
    namespaces=(
        f'(function_call name: (identifier) @_group {_BLOCK} (#any-of? @_group "describe" "context" "insulate"'
        ' "expose")) @node',
    ),
    wrappers=("(variable_declaration) @node",),
    calls=(
        "(function_call name: (identifier) @name)",
        "(function_call name: (dot_index_expression field: (_) @name) @callee)",
        "(function_call name: (method_index_expression method: (_) @name) @callee)",
    ),
    imports=(
        "(assignment_statement (variable_list . name: (identifier) @alias .)"
        f" (expression_list . value: {_REQUIRE} .) {_IS_REQUIRE})",
        "(assignment_statement (variable_list . name: (identifier) @alias .)"
        f" (expression_list . value: (dot_index_expression table: {_REQUIRE} field: (_) @name) .) {_IS_REQUIRE})",
        f"({_REQUIRE} {_IS_REQUIRE})",
        "(assignment_statement (variable_list . name: (identifier) . name: (identifier) @alias .) (expression_list ."
        " value: (function_call name: (identifier) @_pcall arguments: (arguments . (identifier) @_require"
        f' . (string content: (_) @module))) .) {_IS_REQUIRE} (#eq? @_pcall "pcall"))',
    ),
    comments=("(comment) @node", "(hash_bang_line) @node"),
    test_marker=r"(?:^|\n)\s*(?:it|test|spec|pending|describe|context|insulate|expose)[ (]+$",
)
