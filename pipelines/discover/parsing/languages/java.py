"""Java."""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.discover.parsing.languages.language import Grammar, ImportedName, Language
from pipelines.records import SymbolKind, TypingRole


def _expand(text: str) -> Iterator[ImportedName]:
    """Split `static a.b.C.m` into the name m of a.b.C."""
    module, _, name = "".join(text.removesuffix(";").split()[-1:]).rpartition(".")
    yield (module, name, None) if module else (name, None, None)


JAVA = Language(
    name="java",
    grammar=Grammar("tree-sitter-java", "tree_sitter_java"),
    definitions=(
        (SymbolKind.CLASS, "(class_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.CLASS, "(record_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.INTERFACE, "(interface_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.INTERFACE, "(annotation_type_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.ENUM, "(enum_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.METHOD, "(method_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.METHOD, "(constructor_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.METHOD, "(compact_constructor_declaration name: (_) @name body: (_) @body) @node"),
        (
            SymbolKind.METHOD,
            "(field_declaration declarator: (variable_declarator name: (_) @name"
            " value: (lambda_expression body: (_) @body) @value)) @node",
        ),
        (
            SymbolKind.FUNCTION,
            "(local_variable_declaration declarator: (variable_declarator name: (_) @name"
            " value: (lambda_expression body: (_) @body) @value)) @node",
        ),
        (
            SymbolKind.CONSTANT,
            '(field_declaration (modifiers "static" "final") declarator: (variable_declarator name: (_) @name'
            " value: (_))) @node",
        ),
        (
            SymbolKind.CONSTANT,
            '(field_declaration (modifiers "final" "static") declarator: (variable_declarator name: (_) @name'
            " value: (_))) @node",
        ),
        # A field of an interface is static and final.
        (SymbolKind.CONSTANT, "(constant_declaration declarator: (variable_declarator name: (_) @name)) @node"),
    ),
    declarations=(
        (SymbolKind.METHOD, "(method_declaration name: (_) @name !body) @node"),
        (SymbolKind.METHOD, "(annotation_type_element_declaration name: (_) @name) @node"),
    ),
    types=("(enum_constant name: (_) @name body: (_)) @node",),
    calls=(
        "(method_invocation name: (_) @name) @callee",
        "(object_creation_expression type: (_) @name)",
        "(explicit_constructor_invocation constructor: (_) @name)",
    ),
    imports=("(import_declaration) @tree",),
    typings=(
        (TypingRole.BASE, "(superclass (_) @type)"),
        (TypingRole.BASE, "(super_interfaces (type_list (_) @type))"),
        (TypingRole.BASE, "(extends_interfaces (type_list (_) @type))"),
        (TypingRole.DECLARED, "(formal_parameter type: (_) @type name: (_) @name)"),
        (TypingRole.DECLARED, "(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @name))"),
        (
            TypingRole.DECLARED,
            "(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (_) @name))",
        ),
        (TypingRole.DECLARED, "(enhanced_for_statement type: (_) @type name: (_) @name)"),
        (TypingRole.DECLARED, "(resource type: (_) @type name: (_) @name)"),
        (TypingRole.DECLARED, "(catch_formal_parameter (catch_type (_) @type) name: (_) @name)"),
        (TypingRole.DECLARED, "(instanceof_expression right: (_) @type name: (_) @name)"),
        (
            TypingRole.VALUE,
            "(variable_declarator name: (_) @name value: (object_creation_expression type: (_) @called))",
        ),
        (TypingRole.RETURNS, "(method_declaration type: (_) @type)"),
    ),
    comments=("(line_comment) @node", "(block_comment) @node"),
    test_marker=r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest)\b",
    expand=_expand,
)
