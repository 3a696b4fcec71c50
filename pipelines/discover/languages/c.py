"""C."""

from __future__ import annotations

from pipelines.discover.languages.language import Grammar, Language
from pipelines.records import SymbolKind

#: Shared by C and C++.
DEFINITIONS = (
    (SymbolKind.FUNCTION, "(function_definition declarator: (_) @declarator body: (compound_statement) @body) @node"),
    (SymbolKind.STRUCT, "(type_definition type: (struct_specifier !name body: (_)) declarator: (_) @declarator) @node"),
    (SymbolKind.STRUCT, "(type_definition type: (union_specifier !name body: (_)) declarator: (_) @declarator) @node"),
    (SymbolKind.ENUM, "(type_definition type: (enum_specifier !name body: (_)) declarator: (_) @declarator) @node"),
    (SymbolKind.TYPE, "(type_definition declarator: (_) @declarator) @node"),
    (SymbolKind.STRUCT, "(struct_specifier name: (_) @name body: (_) @body) @node"),
    (SymbolKind.STRUCT, "(union_specifier name: (_) @name body: (_) @body) @node"),
    (SymbolKind.ENUM, "(enum_specifier name: (_) @name body: (_) @body) @node"),
    # A function that a macro defines: SYSCALL_DEFINE1(name, ...) { }, which the grammar takes for a call and a block.
    (
        SymbolKind.FUNCTION,
        "(translation_unit (expression_statement (call_expression function: (identifier) @_macro"
        " arguments: (argument_list . (identifier) @scope . (identifier) @name .))) @node"
        ' . (compound_statement) @body @last (#match? @_macro "TEST"))',
    ),
    (
        SymbolKind.FUNCTION,
        "(translation_unit (expression_statement (call_expression function: (identifier) @_macro"
        " arguments: (argument_list . (identifier) @name))) @node"
        ' . (compound_statement) @body @last (#match? @_macro "^[A-Z][A-Z0-9_]+$"))',
    ),
    (SymbolKind.MACRO, "(preproc_function_def name: (_) @name value: (_) @body) @node"),
    (SymbolKind.MACRO, "(preproc_function_def name: (_) @name !value) @node"),
)
CALLS = (
    "(call_expression function: (identifier) @name)",
    "(call_expression function: (field_expression field: (field_identifier) @name) @callee)",
)
TEST_MARKER = r"^\s*\w*TEST\w*\s*\("
TOKENS = ("(preproc_function_def value: (preproc_arg) @node)",)
RESERVED = frozenset(
    {
        *("if", "else", "while", "for", "do", "switch", "case", "return", "goto", "break", "continue"),
        *("sizeof", "defined", "typeof", "__typeof__", "alignof", "_Alignof", "__attribute__", "asm", "__asm__"),
    }
)
IMPORTS = ("(preproc_include path: (_) @module)",)

C = Language(
    name="c",
    grammar=Grammar("tree-sitter-c", "tree_sitter_c"),
    definitions=DEFINITIONS,
    calls=CALLS,
    tokens=TOKENS,
    imports=IMPORTS,
    test_marker=TEST_MARKER,
    reserved=RESERVED,
    macros_derail=True,
)
