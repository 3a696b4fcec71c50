"""C."""

from __future__ import annotations

from pipelines.discover.parsing.languages.language import Grammar, Language
from pipelines.discover.parsing.recovery.conditionals import choose_branches
from pipelines.discover.parsing.recovery.macros import hide_macros
from pipelines.records import SymbolKind

#: What a construct at the top level of a file stands in, whatever its conditions.
TOP = frozenset(
    {
        *("translation_unit", "preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "ERROR"),
        *("namespace_definition", "linkage_specification", "declaration_list"),
    }
)
_CAPITALS = '(#match? @_macro "^[A-Z][A-Z0-9_]+$")'


def at_top(construct: str, predicate: str = "") -> str:
    """Return the pattern of a construct outside of functions and types."""
    return f"({construct.replace('@node', '@node @top')} {predicate})"


#: Shared by C and C++.
TYPES = (
    # `typedef struct X { } X` is one definition; where the names differ, the tag and the name are two.
    *(
        (
            kind,
            f"(type_definition type: ({tagged} name: (_) @_tag body: (_) @body) @value"
            " declarator: (type_identifier) @name (#eq? @_tag @name)) @node",
        )
        for kind, tagged in (
            (SymbolKind.STRUCT, "struct_specifier"),
            (SymbolKind.STRUCT, "union_specifier"),
            (SymbolKind.ENUM, "enum_specifier"),
        )
    ),
    (SymbolKind.STRUCT, "(type_definition type: (struct_specifier !name body: (_)) declarator: (_) @declarator) @node"),
    (SymbolKind.STRUCT, "(type_definition type: (union_specifier !name body: (_)) declarator: (_) @declarator) @node"),
    (SymbolKind.ENUM, "(type_definition type: (enum_specifier !name body: (_)) declarator: (_) @declarator) @node"),
    (SymbolKind.TYPE, "(type_definition declarator: (_) @declarator) @node"),
    (SymbolKind.STRUCT, "(struct_specifier name: (_) @name body: (_) @body) @node"),
    (SymbolKind.STRUCT, "(union_specifier name: (_) @name body: (_) @body) @node"),
    (SymbolKind.ENUM, "(enum_specifier name: (_) @name body: (_) @body) @node"),
)
#: Functions and data that a macro defines: SYSCALL_DEFINE1(name, ...) { }, which the grammar takes for a call and a
#: block, or for a function without parameters.
MACRO_DEFINITIONS = (
    (
        SymbolKind.FUNCTION,
        at_top(
            "(expression_statement (call_expression function: (identifier) @_macro"
            " arguments: (argument_list . (identifier) @scope . (identifier) @name .))) @node"
            " . (compound_statement) @body @last",
            '(#match? @_macro "TEST")',
        ),
    ),
    (
        SymbolKind.FUNCTION,
        at_top(
            "(expression_statement (call_expression function: (identifier) @_macro"
            " arguments: (argument_list . (identifier) @name))) @node . (compound_statement) @body @last",
            _CAPITALS,
        ),
    ),
    (
        SymbolKind.FUNCTION,
        at_top(
            "(function_definition type: (type_identifier) @_macro declarator: (parenthesized_declarator"
            " . (identifier) @name .) body: (compound_statement) @body) @node",
            _CAPITALS,
        ),
    ),
    (
        SymbolKind.CONSTANT,
        at_top(
            "(expression_statement (call_expression function: (identifier) @_macro"
            " arguments: (argument_list . (identifier) @name))) @node",
            '(#match? @_macro "^[A-Z0-9_]*(DEFINE|EVENT)[A-Z0-9_]*$")',
        ),
    ),
)
#: Data at the top level of a file: what has an initial value in braces, and what is constant.
CONSTANTS = (
    (
        SymbolKind.CONSTANT,
        at_top(
            "(declaration declarator: (init_declarator declarator: (_) @declarator value: (initializer_list))) @node"
        ),
    ),
    (
        SymbolKind.CONSTANT,
        at_top(
            "(declaration (type_qualifier) @_const"
            " declarator: (init_declarator declarator: (_) @declarator value: (_))) @node",
            '(#any-of? @_const "const" "constexpr" "constinit")',
        ),
    ),
)
MACROS = (
    (SymbolKind.MACRO, "(preproc_function_def name: (_) @name value: (_) @body) @node"),
    (SymbolKind.MACRO, "(preproc_function_def name: (_) @name !value) @node"),
)
_DECLARATORS = "[(function_declarator) (pointer_declarator) (attributed_declarator) (array_declarator)]"
CALLS = (
    # for_each_thing(x) { }, which the grammar takes for a function called x
    "(compound_statement (function_definition type: (type_identifier) @name declarator: (parenthesized_declarator)))",
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


def _visible(data: bytes) -> bytes:
    return hide_macros(choose_branches(data, cplusplus=False))


C = Language(
    name="c",
    grammar=Grammar("tree-sitter-c", "tree_sitter_c"),
    definitions=(
        # BPF_PROG(name, int argument) { }
        (
            SymbolKind.FUNCTION,
            "(function_definition declarator: (function_declarator declarator: (identifier) @_macro"
            " parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name !declarator)))"
            f" body: (compound_statement) @body {_CAPITALS}) @node",
        ),
        (
            SymbolKind.FUNCTION,
            f"(function_definition declarator: {_DECLARATORS} @declarator body: (compound_statement) @body) @node",
        ),
        *TYPES,
        *MACRO_DEFINITIONS,
        *CONSTANTS,
        *MACROS,
    ),
    calls=CALLS,
    tokens=TOKENS,
    imports=IMPORTS,
    test_marker=TEST_MARKER,
    reserved=RESERVED,
    visible=_visible,
    top=TOP,
    blocks_close_lines=True,
)
