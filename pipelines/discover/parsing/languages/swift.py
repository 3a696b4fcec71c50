"""Swift."""

from __future__ import annotations

from pipelines.discover.parsing.languages.language import Grammar, Language
from pipelines.records import SymbolKind, TypingRole

_PROPERTY = "property_declaration name: (pattern bound_identifier: (_) @name)"
#: What follows the name of a call; a subscript reads alike but for its bracket.
_ARGUMENTS = '(call_suffix [(value_arguments "(") (lambda_literal)])'
_WORD = "(identifier . (simple_identifier) @module"

SWIFT = Language(
    name="swift",
    grammar=Grammar("tree-sitter-swift", "tree_sitter_swift"),
    definitions=(
        *(
            (kind, f'(class_declaration declaration_kind: "{word}" name: (_) @name body: (_) @body) @node')
            for word, kind in (
                ("class", SymbolKind.CLASS),
                ("actor", SymbolKind.CLASS),
                ("struct", SymbolKind.STRUCT),
                ("enum", SymbolKind.ENUM),
            )
        ),
        (SymbolKind.INTERFACE, "(protocol_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.TYPE, '(typealias_declaration "typealias" . name: (_) @name) @node'),
        (SymbolKind.MACRO, '(macro_declaration "macro" . (simple_identifier) @name) @node'),
        (SymbolKind.FUNCTION, '(function_declaration "func" . name: _ @name body: (_) @body) @node'),
        (SymbolKind.METHOD, '(init_declaration "init" @name body: (_) @body) @node'),
        (SymbolKind.METHOD, '(deinit_declaration "deinit" @name body: (_) @body) @node'),
        (SymbolKind.METHOD, '(subscript_declaration "subscript" @name (computed_property) @body) @node'),
        # What a protocol asks for; an extension of it may have a method of that name with a body.
        (SymbolKind.METHOD, '(protocol_function_declaration "func" . name: _ @name) @node'),
        (SymbolKind.METHOD, '(init_declaration "init" @name !body) @node'),
        (SymbolKind.FUNCTION, f"({_PROPERTY} computed_value: (_) @body) @node"),
        (SymbolKind.FUNCTION, f"({_PROPERTY} (willset_didset_block) @body) @node"),
        (SymbolKind.FUNCTION, f"({_PROPERTY} value: (lambda_literal) @body @value) @node"),
        (SymbolKind.FUNCTION, f"({_PROPERTY} value: (call_expression . (lambda_literal) @body)) @node"),
        (
            SymbolKind.CONSTANT,
            '(property_declaration (modifiers (property_modifier "static"))'
            ' (value_binding_pattern mutability: "let") name: (pattern bound_identifier: (_) @name)) @node',
        ),
        (
            SymbolKind.CONSTANT,
            '(source_file (property_declaration (value_binding_pattern mutability: "let")'
            " name: (pattern bound_identifier: (_) @name)) @node)",
        ),
    ),
    types=('(class_declaration declaration_kind: "extension" name: (_) @name body: (_)) @node',),
    calls=(
        f"(call_expression . (simple_identifier) @name {_ARGUMENTS})",
        "(call_expression . (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @name))"
        f" @callee {_ARGUMENTS})",
        "(constructor_expression constructed_type: (user_type) @name)",
        "(macro_invocation (simple_identifier) @name)",
    ),
    imports=(
        f"(import_declaration {_WORD} .))",
        f"(import_declaration {_WORD} (simple_identifier) @name .))",
    ),
    typings=(
        (TypingRole.BASE, "(inheritance_specifier inherits_from: (_) @type)"),
        (TypingRole.DECLARED, "(parameter name: (simple_identifier) @name . (_) @type)"),
        (
            TypingRole.DECLARED,
            "(property_declaration name: (pattern bound_identifier: (_) @name) (type_annotation (_) @type))",
        ),
        (
            TypingRole.VALUE,
            "(property_declaration name: (pattern bound_identifier: (_) @name)"
            " value: (call_expression . (simple_identifier) @called))",
        ),
        (TypingRole.RETURNS, '(function_declaration "->" . (_) @type)'),
    ),
    comments=("(comment) @node", "(multiline_comment) @node"),
    test_marker=r"@(?:Test|Suite)\b",
    test_name=r"Test(?:s|Case|Cases)?\.test(?![a-z])\w*$",
)
