"""JavaScript, with JSX."""

from __future__ import annotations

from pipelines.discover.parsing.languages.language import Grammar, Language
from pipelines.records import SymbolKind, TypingRole

#: A function wrapped in one of these still is the function that its name stands for.
_HIGHER_ORDER = r"^(React\\.)?(useCallback|memo|forwardRef|debounce|throttle)$"
_FUNCTION = (
    "[(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]"
)
_TARGET = "[(identifier) (member_expression)]"
_REQUIRE = "function: (identifier) @_require arguments: (arguments . (string (string_fragment) @module))"
_IS_REQUIRE = '(#eq? @_require "require")'

#: Shared by JavaScript, TypeScript and TSX.
DEFINITIONS = (
    (SymbolKind.FUNCTION, "(function_declaration name: (_) @name body: (_) @body) @node"),
    (SymbolKind.FUNCTION, "(generator_function_declaration name: (_) @name body: (_) @body) @node"),
    (SymbolKind.METHOD, "(method_definition name: (_) @name body: (_) @body) @node"),
    (SymbolKind.CLASS, "(class_declaration name: (_) @name body: (_) @body) @node"),
    (SymbolKind.FUNCTION, f"(variable_declarator name: (identifier) @name value: {_FUNCTION} @value) @node"),
    (SymbolKind.CLASS, "(variable_declarator name: (identifier) @name value: (class body: (_) @body) @value) @node"),
    (
        SymbolKind.FUNCTION,
        "(variable_declarator name: (identifier) @name value: (call_expression function: (_) @_wrapper"
        f' arguments: (arguments . {_FUNCTION} @value)) (#match? @_wrapper "{_HIGHER_ORDER}")) @node',
    ),
    (SymbolKind.FUNCTION, f"(assignment_expression left: {_TARGET} @name right: {_FUNCTION} @value) @node"),
    (SymbolKind.CLASS, f"(assignment_expression left: {_TARGET} @name right: (class body: (_) @body) @value) @node"),
    (SymbolKind.FUNCTION, f"(pair key: (_) @name value: {_FUNCTION} @value) @node"),
    (SymbolKind.FUNCTION, f'(export_statement "default" value: {_FUNCTION} @value) @node'),
    (SymbolKind.CLASS, '(export_statement "default" value: (class !name body: (_) @body) @value) @node'),
    (SymbolKind.FUNCTION, "(function_expression name: (_) @name body: (_) @body) @node"),
    (SymbolKind.FUNCTION, "(generator_function name: (_) @name body: (_) @body) @node"),
    (SymbolKind.CLASS, "(class name: (_) @name body: (_) @body) @node"),
)
_EXPORTED = '(program (export_statement declaration: (lexical_declaration "const" {})))'
_TOP = '(program (lexical_declaration "const" {}))'
CAPITALS = '(#match? @name "^_*[A-Z][A-Z0-9_]+$")'
_OBJECT = "(object) @members"


def constants(*objects: str) -> tuple[tuple[SymbolKind, str], ...]:
    """Return the patterns of constants: what a module exports, and names in capitals.

    :param objects: patterns of values that are an object, whose functions are methods; each captures it as @members.
    """
    holding = [f"(variable_declarator name: (identifier) @name value: {value}) @node" for value in objects]
    value = "(variable_declarator name: (identifier) @name value: (_)) @node"
    # What is required in capitals is a module.
    called = 'value: (call_expression function: (_) @_called) (#not-eq? @_called "require")'
    plain = "value: [(string) (number) (array) (template_string) (regex) (identifier) (member_expression)"
    plain += " (binary_expression) (unary_expression) (new_expression) (true) (false) (null) (ternary_expression)]"
    declarator = "(variable_declarator name: (identifier) @name {}) @node"
    patterns = [
        *(_EXPORTED.format(pattern) for pattern in (*holding, value)),
        *(f"({_TOP.format(pattern)} {CAPITALS})" for pattern in holding),
        f"({_TOP.format(declarator.format(plain))} {CAPITALS})",
        f"({_TOP.format(declarator.format(called))} {CAPITALS})",
    ]
    return tuple((SymbolKind.CONSTANT, pattern) for pattern in patterns)


_FROZEN = (
    "(call_expression function: (member_expression) @_frozen arguments: (arguments . (object) @members .)"
    ' (#eq? @_frozen "Object.freeze"))'
)
#: What an object that a constant stands for is written as.
OBJECTS = (_OBJECT, _FROZEN)
#: A function that is the value of a class field; the grammars differ in the field's name.
FIELD_VALUE = f"value: {_FUNCTION} @value"
TYPES = (
    "(variable_declarator name: (identifier) @name value: (object)) @node",
    f"(assignment_expression left: {_TARGET} @name right: (object)) @node",
    "(pair key: (_) @name value: (object)) @node",
)
WRAPPERS = ("(export_statement) @node", "(lexical_declaration) @node", "(variable_declaration) @node")
CALLS = (
    "(call_expression function: [(identifier) (super)] @name)",
    "(call_expression function: (member_expression property: (_) @name) @callee)",
    "(new_expression constructor: (identifier) @name)",
    "(new_expression constructor: (member_expression property: (_) @name) @callee)",
)
#: A component that is shown is called; a lower-case tag is no component but HTML.
JSX_CALLS = (
    '(jsx_opening_element name: (identifier) @name (#match? @name "^[A-Z]"))',
    '(jsx_self_closing_element name: (identifier) @name (#match? @name "^[A-Z]"))',
    "(jsx_opening_element name: (member_expression property: (_) @name) @callee)",
    "(jsx_self_closing_element name: (member_expression property: (_) @name) @callee)",
)
IMPORTS = (
    "(import_statement (import_clause (identifier) @default) source: (string (string_fragment) @module))",
    "(import_statement (import_clause (namespace_import (identifier) @alias))"
    " source: (string (string_fragment) @module))",
    "(import_statement (import_clause (named_imports (import_specifier name: (_) @name !alias)))"
    " source: (string (string_fragment) @module))",
    "(import_statement (import_clause (named_imports (import_specifier name: (_) @name alias: (_) @alias)))"
    " source: (string (string_fragment) @module))",
    "(export_statement (export_clause (export_specifier name: (_) @name !alias))"
    " source: (string (string_fragment) @module))",
    "(export_statement (export_clause (export_specifier name: (_) @name alias: (_) @alias))"
    " source: (string (string_fragment) @module))",
    '(export_statement "*" @name source: (string (string_fragment) @module))',
    "(export_statement (namespace_export (_) @alias) source: (string (string_fragment) @module))",
    f"(variable_declarator name: (identifier) @alias value: (call_expression {_REQUIRE}) {_IS_REQUIRE})",
    "(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name)"
    f" value: (call_expression {_REQUIRE}) {_IS_REQUIRE})",
    "(variable_declarator name: (object_pattern (pair_pattern key: (_) @name value: (identifier) @alias))"
    f" value: (call_expression {_REQUIRE}) {_IS_REQUIRE})",
    "(variable_declarator name: (identifier) @alias value: (member_expression"
    f" object: (call_expression {_REQUIRE}) property: (_) @name) {_IS_REQUIRE})",
    # The module alone, where no pattern above said more of it.
    "(import_statement source: (string (string_fragment) @module))",
    f"(call_expression {_REQUIRE} {_IS_REQUIRE})",
    "(call_expression function: (import) arguments: (arguments . (string (string_fragment) @module)))",
)
_PATH = "[(identifier) (member_expression)]"
_CALLED = (
    f"[(new_expression constructor: {_PATH} @called) (call_expression function: {_PATH} @called)"
    f" (await_expression (call_expression function: {_PATH} @called))]"
)
TYPINGS = (
    (TypingRole.VALUE, f"(variable_declarator name: (identifier) @name value: {_CALLED})"),
    (TypingRole.VALUE, f"(assignment_expression left: (member_expression) @name right: {_CALLED})"),
    (TypingRole.VALUE, f"(assignment_expression left: (member_expression (this)) @name right: {_PATH} @value)"),
)

JAVASCRIPT = Language(
    name="javascript",
    grammar=Grammar("tree-sitter-javascript", "tree_sitter_javascript"),
    definitions=(
        *DEFINITIONS,
        (SymbolKind.METHOD, f"(field_definition property: (_) @name {FIELD_VALUE}) @node"),
        *constants(*OBJECTS),
        (SymbolKind.CONSTANT, f'(field_definition "static" property: (_) @name value: (_) {CAPITALS}) @node'),
    ),
    types=TYPES,
    wrappers=WRAPPERS,
    calls=CALLS + JSX_CALLS,
    imports=IMPORTS,
    typings=(
        *TYPINGS,
        (TypingRole.BASE, f"(class_heritage {_PATH} @type)"),
        (TypingRole.VALUE, f"(field_definition property: (_) @name value: {_CALLED})"),
    ),
    comments=("(comment) @node", "(html_comment) @node"),
)
