"""C++."""

from __future__ import annotations

from pipelines.discover.parsing.languages import c
from pipelines.discover.parsing.languages.language import Grammar, Language
from pipelines.discover.parsing.recovery.conditionals import choose_branches
from pipelines.discover.parsing.recovery.macros import hide_macros
from pipelines.records import SymbolKind

_DECLARATORS = (
    "[(function_declarator) (pointer_declarator) (reference_declarator) (attributed_declarator) (array_declarator)"
    " (qualified_identifier) (operator_cast)]"
)


def _visible(data: bytes) -> bytes:
    return hide_macros(choose_branches(data, cplusplus=True), cplusplus=True)


CPP = Language(
    name="cpp",
    grammar=Grammar("tree-sitter-cpp", "tree_sitter_cpp"),
    definitions=(
        # TEST(Suite, name) { }, which the grammar takes for a function called TEST.
        (
            SymbolKind.FUNCTION,
            "(function_definition !type declarator: (function_declarator declarator: (identifier) @_macro"
            " parameters: (parameter_list . (parameter_declaration type: (_) @scope !declarator)"
            " . (parameter_declaration type: (_) @name !declarator) .)) body: (compound_statement) @body"
            ' (#match? @_macro "TEST")) @node',
        ),
        (
            SymbolKind.FUNCTION,
            f"(function_definition declarator: {_DECLARATORS} @declarator body: (compound_statement) @body) @node",
        ),
        # What is written of a specialisation is its arguments; it is called what the template is called.
        *(
            (kind, f"({specifier} name: (template_type name: (_) @name) body: (_) @body) @node")
            for kind, specifier in ((SymbolKind.STRUCT, "struct_specifier"), (SymbolKind.CLASS, "class_specifier"))
        ),
        *c.TYPES,
        *c.MACRO_DEFINITIONS,
        *c.CONSTANTS,
        (
            SymbolKind.CONSTANT,
            "(field_declaration (type_qualifier) @_const declarator: (field_identifier) @name default_value: (_)"
            ' (#any-of? @_const "const" "constexpr")) @node',
        ),
        *c.MACROS,
        (SymbolKind.FUNCTION, "(function_definition declarator: (_) @declarator body: (try_statement) @body) @node"),
        (SymbolKind.FUNCTION, "(function_definition declarator: (_) @declarator (default_method_clause)) @node"),
        (SymbolKind.CLASS, "(class_specifier name: (_) @name body: (_) @body) @node"),
        (SymbolKind.TYPE, "(alias_declaration name: (_) @name) @node"),
        (SymbolKind.TYPE, "(concept_definition name: (_) @name) @node"),
        (
            SymbolKind.FUNCTION,
            "(declaration declarator: (init_declarator declarator: (identifier) @name"
            " value: (lambda_expression body: (_) @body) @value)) @node",
        ),
    ),
    # A pure virtual method has no other definition; any other declaration has one elsewhere.
    declarations=(
        (
            SymbolKind.METHOD,
            "(field_declaration declarator: (function_declarator) @declarator default_value: (number_literal)) @node",
        ),
        (
            SymbolKind.METHOD,
            "(field_declaration declarator: (_ (function_declarator) @declarator)"
            " default_value: (number_literal)) @node",
        ),
    ),
    namespaces=("(namespace_definition name: (_) @name) @node",),
    wrappers=("(template_declaration) @node",),
    calls=(
        *c.CALLS,
        "(call_expression function: (qualified_identifier) @name)",
        "(call_expression function: (template_function name: (identifier) @name))",
        "(call_expression function: (field_expression field: (template_method name: (_) @name)) @callee)",
        "(call_expression function: (field_expression field: (dependent_name (template_method name: (_) @name)))"
        " @callee)",
        "(new_expression type: (_) @name)",
    ),
    tokens=c.TOKENS,
    imports=c.IMPORTS,
    test_marker=c.TEST_MARKER,
    reserved=c.RESERVED | {"catch", "decltype", "static_assert"},
    visible=_visible,
    top=c.TOP,
    blocks_close_lines=True,
)
