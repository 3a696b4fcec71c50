"""Go."""

from __future__ import annotations

from pipelines.discover.languages.language import Grammar, Language
from pipelines.records import SymbolKind

GO = Language(
    name="go",
    grammar=Grammar("tree-sitter-go", "tree_sitter_go"),
    definitions=(
        (SymbolKind.FUNCTION, "(function_declaration name: (_) @name body: (_) @body) @node"),
        (
            SymbolKind.METHOD,
            "(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @scope))"
            " name: (_) @name body: (_) @body) @node",
        ),
        (SymbolKind.STRUCT, "(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @node"),
        (SymbolKind.INTERFACE, '(type_spec name: (_) @name type: (interface_type "{" @body)) @node'),
        (SymbolKind.TYPE, "(type_spec name: (_) @name) @node"),
        (SymbolKind.TYPE, "(type_alias name: (_) @name) @node"),
        (
            SymbolKind.FUNCTION,
            "(short_var_declaration left: (expression_list . (identifier) @name .)"
            " right: (expression_list . (func_literal body: (_) @body) @value .)) @node",
        ),
        (
            SymbolKind.FUNCTION,
            "(var_spec . name: (identifier) @name"
            " value: (expression_list . (func_literal body: (_) @body) @value .)) @node",
        ),
    ),
    declarations=(
        (SymbolKind.METHOD, "(interface_type (method_elem name: (_) @name) @node)"),
        (SymbolKind.FUNCTION, "(function_declaration name: (_) @name !body) @node"),  # written in assembly
    ),
    wrappers=("(type_declaration) @node", "(var_declaration) @node"),
    calls=(
        "(call_expression function: (identifier) @name)",
        "(call_expression function: (selector_expression field: (_) @name) @callee)",
    ),
    imports=(
        "(import_spec !name path: (_) @module)",
        "(import_spec name: (_) @alias path: (_) @module)",
    ),
    inner_comment="//go:",
)
