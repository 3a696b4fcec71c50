"""Zig. Types are values: a struct has the name of the constant that it is assigned to."""

from __future__ import annotations

from pipelines.discover.parsing.languages.language import Grammar, Language
from pipelines.records import SymbolKind, TypingRole

_IMPORT = "(builtin_function (builtin_identifier) @_import (arguments . (string (string_content) @module)))"
_IS_IMPORT = '(#eq? @_import "@import")'
_CALLED = "(call_expression function: (_) @called)"
#: A type with a name, and what points to one, may be without one, or may be an error instead.
_NAMED = "[(identifier) (field_expression)] @type"
_TYPES = (
    _NAMED,
    f"(pointer_type {_NAMED})",
    f"(nullable_type {_NAMED})",
    f"(nullable_type (pointer_type {_NAMED}))",
    f"(error_union_type ok: {_NAMED})",
    f"(error_union_type ok: (pointer_type {_NAMED}))",
)
#: No other name for something that is defined elsewhere.
_PLAIN_VALUE = (
    "[(integer) (float) (string) (character) (boolean) (multiline_string) (binary_expression) (unary_expression)"
    " (struct_initializer) (anonymous_struct_initializer) (call_expression) (if_expression)"
    " (switch_expression) (labeled_type_expression)] ."
)


def _value(kind: SymbolKind, node: str) -> tuple[SymbolKind, str]:
    return kind, f'(variable_declaration . (identifier) @name ({node} "{{" @body) @value) @node'


ZIG = Language(
    name="zig",
    grammar=Grammar("tree-sitter-zig", "tree_sitter_zig"),
    definitions=(
        (SymbolKind.FUNCTION, "(function_declaration name: (_) @name body: (_) @body) @node"),
        _value(SymbolKind.STRUCT, "struct_declaration"),
        _value(SymbolKind.STRUCT, "union_declaration"),
        _value(SymbolKind.STRUCT, "opaque_declaration"),
        _value(SymbolKind.ENUM, "enum_declaration"),
        _value(SymbolKind.ENUM, "error_set_declaration"),
        (
            SymbolKind.FUNCTION,
            "(variable_declaration . (identifier) @name (field_expression object: (struct_declaration) @body)) @node",
        ),
        (SymbolKind.TYPE, "(variable_declaration . (identifier) @name (pointer_type (function_signature)) .) @node"),
        (SymbolKind.FUNCTION, "(test_declaration (string) @name (block) @body) @node"),
        (SymbolKind.FUNCTION, '(test_declaration "test" @first . (identifier) @name (block) @body) @node'),
        *(
            (SymbolKind.CONSTANT, f'({block} (variable_declaration "const" . (identifier) @name {_PLAIN_VALUE}) @node)')
            for block in ("source_file", "struct_declaration", "union_declaration", "enum_declaration")
        ),
    ),
    # What a function that makes a type returns.
    types=("(return_expression (struct_declaration) @node)", "(return_expression (union_declaration) @node)"),
    declarations=((SymbolKind.FUNCTION, "(function_declaration name: (_) @name !body) @node"),),
    calls=(
        "(call_expression function: (identifier) @name)",
        "(call_expression function: (field_expression member: (_) @name) @callee)",
    ),
    imports=(
        f"(variable_declaration . (identifier) @alias {_IMPORT} . {_IS_IMPORT})",
        "(variable_declaration . (identifier) @alias"
        f" (field_expression object: {_IMPORT} member: (_) @name) {_IS_IMPORT})",
        f"(using_namespace_declaration {_IMPORT} {_IS_IMPORT})",
        f"({_IMPORT} {_IS_IMPORT})",
    ),
    typings=(
        *((TypingRole.DECLARED, f"(parameter name: (_) @name type: {type_})") for type_ in _TYPES),
        *((TypingRole.DECLARED, f"(container_field name: (_) @field type: {type_})") for type_ in _TYPES),
        *((TypingRole.DECLARED, f"(variable_declaration . (identifier) @name type: {type_})") for type_ in _TYPES),
        *((TypingRole.RETURNS, f"(function_declaration type: {type_})") for type_ in _TYPES),
        (TypingRole.DECLARED, f"(variable_declaration . (identifier) @name (struct_initializer . {_NAMED}))"),
        (TypingRole.VALUE, f"(variable_declaration . (identifier) @name {_CALLED})"),
        (TypingRole.VALUE, f"(variable_declaration . (identifier) @name (try_expression {_CALLED}))"),
    ),
    inner_comment="//!",
    test_marker=r"\btest\s+$",
)
