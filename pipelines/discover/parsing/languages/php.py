"""PHP, with the HTML around it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.discover.parsing.languages.language import Grammar, ImportedName, Language
from pipelines.records import SymbolKind, TypingRole

_WHAT = re.compile(r"(?:use\s+)?(?:(?:function|const)\s+)?", re.IGNORECASE)
_ALIAS = re.compile(r"\s+as\s+", re.IGNORECASE)
_CLOSURE = "[(anonymous_function body: (_) @body) (arrow_function body: (_) @body)] @value"
_TEXT = "[(string (string_content) @name) (encapsed_string . (string_content) @name .)]"
_CLASS = "[(name) (qualified_name)]"
_FILE = "[(string (string_content) @module) (encapsed_string . (string_content) @module .)]"


def _expand(text: str) -> Iterator[ImportedName]:
    r"""Yield every name of `use A\{B, C as D}, E` and of `use function f`."""
    text = _WHAT.sub("", text.removesuffix(";"), count=1)
    prefix, brace, rest = text.partition("{")
    names = rest.partition("}")[0] if brace else text
    for written in names.split(","):
        path, *alias = _ALIAS.split(_WHAT.sub("", written.strip(), count=1), maxsplit=1)
        if path := "".join(f"{prefix if brace else ''}{path}".split()).strip("\\"):
            module, _, name = path.rpartition("\\")
            given = alias[0].strip() if alias else None
            yield (module, name, given) if module else (name, None, given)


PHP = Language(
    name="php",
    grammar=Grammar("tree-sitter-php", "tree_sitter_php", "language_php"),
    definitions=(
        (SymbolKind.CLASS, "(class_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.INTERFACE, "(interface_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.TRAIT, "(trait_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.ENUM, "(enum_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.FUNCTION, "(function_definition name: (_) @name body: (_) @body) @node"),
        (SymbolKind.METHOD, "(method_declaration name: (_) @name body: (_) @body) @node"),
        (
            SymbolKind.METHOD,
            "(property_declaration (property_element name: (variable_name (name) @name))"
            " (property_hook_list (property_hook body: (_))) @body) @node",
        ),
        (
            SymbolKind.FUNCTION,
            f"(assignment_expression left: (variable_name (name) @name) right: {_CLOSURE}) @node",
        ),
        (
            SymbolKind.FUNCTION,
            f"(assignment_expression left: (member_access_expression name: (name) @name) right: {_CLOSURE}) @node",
        ),
        (
            SymbolKind.FUNCTION,
            f"(array_element_initializer . {_TEXT} . {_CLOSURE} .) @node",
        ),
        (SymbolKind.CONSTANT, "(const_declaration (const_element . (name) @name) @node)"),
        (
            SymbolKind.CONSTANT,
            f"(function_call_expression function: {_CLASS} @_define arguments: (arguments . (argument . {_TEXT}))"
            ' (#match? @_define "^\\\\\\\\?define$")) @node',
        ),
    ),
    declarations=((SymbolKind.METHOD, "(method_declaration name: (_) @name !body) @node"),),
    types=("(anonymous_class body: (_)) @node",),
    namespaces=(
        "(namespace_definition name: (_) @name body: (_)) @node",
        "(program (namespace_definition name: (_) @name !body) @node) @rest",
        "(ERROR (namespace_definition name: (_) @name !body) @node) @rest",
    ),
    wrappers=("(expression_statement) @node", "(const_declaration) @node"),
    calls=(
        "(function_call_expression function: [(name) (qualified_name) (relative_name)] @name)",
        "(function_call_expression function: (variable_name (name) @name))",
        "(member_call_expression name: (name) @name) @callee",
        "(nullsafe_member_call_expression name: (name) @name) @callee",
        "(scoped_call_expression name: (name) @name) @callee",
        f"(object_creation_expression . {_CLASS} @name)",
    ),
    imports=(
        "(namespace_use_declaration) @tree",
        *(
            f"({word} {place})"
            for word in (
                "require_expression",
                "require_once_expression",
                "include_expression",
                "include_once_expression",
            )
            for place in (_FILE, f"(binary_expression {_FILE} .)")
        ),
    ),
    typings=(
        (TypingRole.BASE, f"(base_clause {_CLASS} @type)"),
        (TypingRole.BASE, f"(class_interface_clause {_CLASS} @type)"),
        (TypingRole.BASE, f"(use_declaration {_CLASS} @type)"),
        (TypingRole.DECLARED, "(simple_parameter type: (_) @type name: (variable_name) @name)"),
        (TypingRole.DECLARED, "(property_promotion_parameter type: (_) @type name: (variable_name) @name)"),
        (TypingRole.DECLARED, "(property_promotion_parameter type: (_) @type name: (variable_name (name) @field))"),
        (
            TypingRole.DECLARED,
            "(property_declaration type: (_) @type (property_element name: (variable_name (name) @name)))",
        ),
        (
            TypingRole.VALUE,
            "(assignment_expression left: (variable_name) @name"
            f" right: (object_creation_expression . {_CLASS} @called))",
        ),
        (TypingRole.RETURNS, "(method_declaration return_type: (_) @type)"),
        (TypingRole.RETURNS, "(function_definition return_type: (_) @type)"),
    ),
    expand=_expand,
    test_marker=r"#\[(?:[^\]]*[\\,\s])?Test\b",
    test_name=r"Test(?:Case)?\.test\w*$",
)
