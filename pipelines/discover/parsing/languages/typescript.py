"""TypeScript and TSX: two grammars, because `<T>value` is a cast in one and an element in the other."""

from __future__ import annotations

from pipelines.discover.parsing.languages import javascript
from pipelines.discover.parsing.languages.language import Grammar, Language
from pipelines.records import SymbolKind, TypingRole

_DEFINITIONS = (
    *javascript.DEFINITIONS,
    (SymbolKind.CLASS, "(abstract_class_declaration name: (_) @name body: (_) @body) @node"),
    (SymbolKind.INTERFACE, "(interface_declaration name: (_) @name body: (_) @body) @node"),
    (SymbolKind.ENUM, "(enum_declaration name: (_) @name body: (_) @body) @node"),
    (SymbolKind.TYPE, "(type_alias_declaration name: (_) @name) @node"),
    (SymbolKind.METHOD, f"(public_field_definition name: (_) @name {javascript.FIELD_VALUE}) @node"),
    *javascript.constants(
        *javascript.OBJECTS,
        "(as_expression . (object) @members)",
        "(satisfies_expression . (object) @members)",
        "(satisfies_expression . (as_expression . (object) @members))",
    ),
    (
        SymbolKind.CONSTANT,
        '((program (lexical_declaration "const" (variable_declarator name: (identifier) @name'
        f" value: [(as_expression) (satisfies_expression)]) @node)) {javascript.CAPITALS})",
    ),
    (
        SymbolKind.CONSTANT,
        f'(public_field_definition "readonly" name: (_) @name value: (_) {javascript.CAPITALS}) @node',
    ),
)
_DECLARATIONS = (
    (SymbolKind.FUNCTION, "(function_signature name: (_) @name) @node"),
    (SymbolKind.METHOD, "(class_body (method_signature name: (_) @name) @node)"),
    (SymbolKind.METHOD, "(interface_body (method_signature name: (_) @name) @node)"),
    (SymbolKind.METHOD, "(interface_body (property_signature name: (_) @name type: (_ (function_type))) @node)"),
    (SymbolKind.METHOD, "(abstract_method_signature name: (_) @name) @node"),
)

_TYPE = "(type_annotation (_) @type)"
_TYPINGS = (
    *javascript.TYPINGS,
    (TypingRole.BASE, "(extends_clause value: [(identifier) (member_expression)] @type)"),
    (TypingRole.BASE, "(implements_clause (_) @type)"),
    (TypingRole.BASE, "(extends_type_clause type: (_) @type)"),
    (TypingRole.DECLARED, f"(required_parameter pattern: (identifier) @name type: {_TYPE})"),
    (TypingRole.DECLARED, f"(optional_parameter pattern: (identifier) @name type: {_TYPE})"),
    (
        TypingRole.DECLARED,
        f"(required_parameter (accessibility_modifier) pattern: (identifier) @field type: {_TYPE})",
    ),
    (TypingRole.DECLARED, f"(variable_declarator name: (identifier) @name type: {_TYPE})"),
    (TypingRole.DECLARED, f"(public_field_definition name: (_) @name type: {_TYPE})"),
    (TypingRole.DECLARED, f"(property_signature name: (_) @name type: {_TYPE})"),
    (TypingRole.VALUE, "(public_field_definition name: (_) @name value: (new_expression constructor: (_) @called))"),
    (TypingRole.RETURNS, f"(function_declaration return_type: {_TYPE})"),
    (TypingRole.RETURNS, f"(function_signature return_type: {_TYPE})"),
    (TypingRole.RETURNS, f"(method_definition return_type: {_TYPE})"),
    (TypingRole.RETURNS, f"(method_signature return_type: {_TYPE})"),
    (TypingRole.RETURNS, f"(abstract_method_signature return_type: {_TYPE})"),
    (TypingRole.RETURNS, f"(variable_declarator value: (arrow_function return_type: {_TYPE}))"),
)


def _language(name: str, function: str, *jsx_calls: str) -> Language:
    return Language(
        name=name,
        grammar=Grammar("tree-sitter-typescript", "tree_sitter_typescript", function),
        definitions=_DEFINITIONS,
        declarations=_DECLARATIONS,
        types=javascript.TYPES,
        namespaces=("(internal_module name: (_) @name) @node", "(module name: (identifier) @name) @node"),
        wrappers=(*javascript.WRAPPERS, "(ambient_declaration) @node"),
        attributes=("(class_body (decorator) @node)",),
        calls=(*javascript.CALLS, *jsx_calls),
        typings=_TYPINGS,
        imports=(
            *javascript.IMPORTS,
            "(import_require_clause (identifier) @alias source: (string (string_fragment) @module))",
        ),
        comments=("(comment) @node", "(html_comment) @node"),
    )


TYPESCRIPT = _language("typescript", "language_typescript")
TSX = _language("tsx", "language_tsx", *javascript.JSX_CALLS)
