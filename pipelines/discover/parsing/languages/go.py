"""Go."""

from __future__ import annotations

from pipelines.discover.parsing.languages.language import Grammar, Language
from pipelines.records import SymbolKind, TypingRole

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
        (
            SymbolKind.CONSTANT,
            '((source_file (const_declaration (const_spec (identifier) @name) @node)) (#not-eq? @name "_"))',
        ),
        # A variable that other packages see is an error, a default, a registry.
        (
            SymbolKind.CONSTANT,
            '((source_file (var_declaration (var_spec (identifier) @name value: (_)) @node)) (#match? @name "^[A-Z]"))',
        ),
        (
            SymbolKind.CONSTANT,
            "((source_file (var_declaration (var_spec_list (var_spec (identifier) @name value: (_)) @node)))"
            ' (#match? @name "^[A-Z]"))',
        ),
    ),
    declarations=(
        (SymbolKind.METHOD, "(interface_type (method_elem name: (_) @name) @node)"),
        (SymbolKind.FUNCTION, "(function_declaration name: (_) @name !body) @node"),  # written in assembly
    ),
    wrappers=("(type_declaration) @node", "(const_declaration) @node", "(var_declaration) @node"),
    calls=(
        "(call_expression function: (identifier) @name)",
        "(call_expression function: (selector_expression field: (_) @name) @callee)",
    ),
    imports=(
        "(import_spec !name path: (_) @module)",
        "(import_spec name: (_) @alias path: (_) @module)",
    ),
    typings=(
        (TypingRole.BASE, "(field_declaration !name type: (_) @type)"),
        (TypingRole.BASE, "(interface_type (type_elem . (_) @type .))"),
        (TypingRole.DECLARED, "(parameter_declaration name: (_) @name type: (_) @type)"),
        (TypingRole.DECLARED, "(field_declaration name: (_) @name type: (_) @type)"),
        (TypingRole.DECLARED, "(var_spec name: (_) @name type: (_) @type)"),
        (
            TypingRole.DECLARED,
            "(short_var_declaration left: (expression_list . (identifier) @name)"
            " right: (expression_list . [(composite_literal type: (_) @type)"
            " (unary_expression operand: (composite_literal type: (_) @type))"
            " (type_assertion_expression type: (_) @type)]))",
        ),
        (
            TypingRole.DECLARED,
            "(var_spec . name: (_) @name value: (expression_list . [(composite_literal type: (_) @type)"
            " (unary_expression operand: (composite_literal type: (_) @type))]))",
        ),
        (
            TypingRole.VALUE,
            "(short_var_declaration left: (expression_list . (identifier) @name)"
            " right: (expression_list . (call_expression function: (_) @called)))",
        ),
        (
            TypingRole.VALUE,
            "(var_spec . name: (_) @name value: (expression_list . (call_expression function: (_) @called)))",
        ),
        (
            TypingRole.VALUE,
            "(short_var_declaration left: (expression_list . (identifier) @name)"
            " right: (expression_list . [(identifier) (selector_expression)] @value))",
        ),
        (TypingRole.RETURNS, "(function_declaration result: (_) @type)"),
        (TypingRole.RETURNS, "(method_declaration result: (_) @type)"),
        (TypingRole.RETURNS, "(method_elem result: (_) @type)"),
    ),
    inner_comment="//go:",
)
