"""Kotlin."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.discover.languages.language import Grammar, ImportedName, Language
from pipelines.records import SymbolKind, TypingRole

_IMPORT = re.compile(r"import\s+([\w.`*]+)(?:\s+as\s+([\w`]+))?")
#: A receiver stands before the name, so that `String.shout` is a method of String.
_RECEIVER = '[(user_type) @scope (nullable_type (user_type) @scope)] . "."'
#: What makes a property one of code.
_CODE = (
    "(getter (function_body)) @body",
    "(setter (function_body)) @body",
    "(property_delegate (call_expression (annotated_lambda) @body))",
)
#: `f<T>(x)` with one argument: the grammar reads two comparisons.
_GENERIC_CALL = '(binary_expression left: (binary_expression left: {} "<") ">" right: {})'
_ARGUMENTS = "[(parenthesized_expression) (lambda_literal)]"


def _expand(text: str) -> Iterator[ImportedName]:
    """Split `a.b.C as D` into the name C of a.b."""
    matched = _IMPORT.match(text)
    if matched is not None:
        module, _, name = matched[1].replace("`", "").rpartition(".")
        alias = matched[2].strip("`") if matched[2] else None
        yield (module, name, alias) if module else (name, None, alias)


KOTLIN = Language(
    name="kotlin",
    grammar=Grammar("tree-sitter-kotlin", "tree_sitter_kotlin"),
    definitions=(
        (SymbolKind.INTERFACE, '(class_declaration "interface" name: (_) @name (class_body) @body) @node'),
        (SymbolKind.INTERFACE, '(class_declaration "interface" name: (_) @name) @node'),
        (SymbolKind.ENUM, "(class_declaration name: (_) @name (enum_class_body) @body) @node"),
        (SymbolKind.CLASS, "(class_declaration name: (_) @name (class_body) @body) @node"),
        (SymbolKind.CLASS, "(class_declaration name: (_) @name) @node"),
        (SymbolKind.CLASS, "(object_declaration name: (_) @name (class_body) @body) @node"),
        (SymbolKind.CLASS, "(object_declaration name: (_) @name) @node"),
        (SymbolKind.TYPE, "(type_alias type: (_) @name) @node"),
        (SymbolKind.FUNCTION, f"(function_declaration {_RECEIVER} . name: (_) @name (function_body) @body) @node"),
        (SymbolKind.FUNCTION, "(function_declaration name: (_) @name (function_body) @body) @node"),
        (SymbolKind.METHOD, '(secondary_constructor "constructor" @name (block) @body) @node'),
        (SymbolKind.METHOD, '(secondary_constructor "constructor" @name) @node'),
        (SymbolKind.METHOD, '(anonymous_initializer "init" @name (block) @body) @node'),
        *(
            (
                SymbolKind.FUNCTION,
                f"(property_declaration {receiver} (variable_declaration . (identifier) @name) {code}) @node",
            )
            for receiver in (f"{_RECEIVER} .", "")
            for code in _CODE
        ),
        (
            SymbolKind.FUNCTION,
            "(property_declaration (variable_declaration . (identifier) @name) (lambda_literal) @body @value) @node",
        ),
        (
            SymbolKind.FUNCTION,
            "(property_declaration (variable_declaration . (identifier) @name)"
            " (anonymous_function (function_body) @body) @value) @node",
        ),
        (
            SymbolKind.CONSTANT,
            '(property_declaration (modifiers (property_modifier "const"))'
            " (variable_declaration . (identifier) @name)) @node",
        ),
        *(
            (
                SymbolKind.CONSTANT,
                f'({parent} (property_declaration "val" (variable_declaration . (identifier) @name)) @node'
                ' (#match? @name "^[A-Z][A-Z0-9_]*$"))',
            )
            for parent in ("source_file", "class_body", "enum_class_body")
        ),
    ),
    declarations=(
        (SymbolKind.FUNCTION, f"(function_declaration {_RECEIVER} . name: (_) @name) @node"),
        (SymbolKind.FUNCTION, "(function_declaration name: (_) @name) @node"),
    ),
    types=(
        "(object_literal (class_body)) @node",
        "(enum_entry . (identifier) @name (class_body)) @node",
        "(enum_entry (modifiers) . (identifier) @name (class_body)) @node",
    ),
    namespaces=("(source_file (package_header (qualified_identifier) @name) @node) @rest",),
    calls=(
        "(call_expression . (identifier) @name)",
        "(call_expression . (navigation_expression (identifier) @name .) @callee)",
        _GENERIC_CALL.format("(identifier) @name", _ARGUMENTS),
        _GENERIC_CALL.format("(navigation_expression (identifier) @name .) @callee", _ARGUMENTS),
        "(infix_expression . (_) @callee . (identifier) @name . (_))",
        "(delegation_specifier (constructor_invocation (user_type) @name))",
        '(constructor_delegation_call ["this" "super"] @name)',
    ),
    imports=("(import) @tree",),
    typings=(
        (TypingRole.BASE, "(delegation_specifier (user_type) @type)"),
        (TypingRole.BASE, "(delegation_specifier (constructor_invocation (user_type) @type))"),
        (TypingRole.BASE, "(delegation_specifier (explicit_delegation . (user_type) @type))"),
        (TypingRole.DECLARED, "(parameter (identifier) @name [(user_type) (nullable_type)] @type)"),
        (TypingRole.DECLARED, "(class_parameter (identifier) @name [(user_type) (nullable_type)] @type)"),
        (TypingRole.DECLARED, "(variable_declaration (identifier) @name [(user_type) (nullable_type)] @type)"),
        (
            TypingRole.VALUE,
            "(property_declaration (variable_declaration . (identifier) @name . )"
            " (call_expression . (identifier) @called))",
        ),
        (TypingRole.RETURNS, "(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @type)"),
    ),
    comments=("(line_comment) @node", "(block_comment) @node"),
    test_marker=r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest)\b",
    expand=_expand,
)
