"""C#."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.discover.parsing.languages.language import Grammar, ImportedName, Language
from pipelines.discover.parsing.source import blanked
from pipelines.records import SymbolKind, TypingRole

_DIRECTIVE = re.compile(r"(?:global\s+)?using\s+(?P<static>static\s+)?(?:unsafe\s+)?(?:(?P<alias>@?\w+)\s*=\s*)?")
_GENERIC = re.compile(r"<.*", re.DOTALL)
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(?:if|elif|else|endif)\b[^\n]*", re.MULTILINE)
#: A branch that is not the first of its kind, up to the next directive.
_OTHER_BRANCH = re.compile(
    rb"^[ \t]*#[ \t]*el(?:se|if)\b[^\n]*\n(?:(?![ \t]*#)[^\n]*\n)*(?=[ \t]*#[ \t]*(?:el(?:se|if)|endif)\b)",
    re.MULTILINE,
)
_CLOSURE = "[(lambda_expression body: (_) @body) (anonymous_method_expression (block) @body)]"
#: An accessor with a body makes a property one of code; `get; set;` makes it a field.
_ACCESSORS = "accessors: (accessor_list (accessor_declaration body: (_))) @body"


def _expand(text: str) -> Iterator[ImportedName]:
    """Tell what a using directive opens: a namespace, the static members of a type, or one type under another name."""
    directive = _DIRECTIVE.match(text)
    if directive is None:
        return
    path = "".join(_GENERIC.sub("", text[directive.end() :]).removesuffix(";").split()).replace("::", ".")
    if directive["alias"] is None:
        yield path.removeprefix("global."), "*", None
    else:
        module, _, name = path.removeprefix("global.").rpartition(".")
        yield (module, name, directive["alias"]) if module else (name, None, directive["alias"])


def _blank(match: re.Match[bytes]) -> bytes:
    return blanked(match[0])


def _all_branches(data: bytes) -> bytes:
    """Return the source without `#if` and its like, all branches in a row."""
    return _CONDITION.sub(_blank, data)


def _first_branches(data: bytes) -> bytes:
    """Return the source with the first branch of every condition alone."""
    return _all_branches(_OTHER_BRANCH.sub(_blank, data))


CSHARP = Language(
    name="csharp",
    grammar=Grammar("tree-sitter-c-sharp", "tree_sitter_c_sharp"),
    definitions=(
        (SymbolKind.CLASS, "(class_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.CLASS, "(class_declaration name: (_) @name !body) @node"),
        (SymbolKind.STRUCT, "(struct_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.STRUCT, "(struct_declaration name: (_) @name !body) @node"),
        (SymbolKind.STRUCT, '(record_declaration "struct" name: (_) @name body: (_) @body) @node'),
        (SymbolKind.STRUCT, '(record_declaration "struct" name: (_) @name !body) @node'),
        (SymbolKind.CLASS, "(record_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.CLASS, "(record_declaration name: (_) @name !body) @node"),
        (SymbolKind.INTERFACE, "(interface_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.ENUM, "(enum_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.TYPE, "(delegate_declaration name: (_) @name) @node"),
        (SymbolKind.METHOD, "(method_declaration name: (_) @name body: (_) @body) @node"),
        # Without a body they are abstract or foreign, and one that has another signature may have one.
        (SymbolKind.METHOD, "(interface_declaration body: (_ (method_declaration name: (_) @name !body) @node))"),
        (
            SymbolKind.METHOD,
            '(method_declaration (modifier) @_bare name: (_) @name !body (#any-of? @_bare "abstract" "extern")) @node',
        ),
        (SymbolKind.METHOD, '(operator_declaration "operator" @first operator: _ @name !body) @node'),
        (SymbolKind.METHOD, '(conversion_operator_declaration "operator" @first type: _ @name !body) @node'),
        (SymbolKind.FUNCTION, "(local_function_statement name: (_) @name !body) @node"),
        (SymbolKind.METHOD, "(constructor_declaration name: (_) @name body: (_) @body) @node"),
        (SymbolKind.METHOD, '(destructor_declaration "~" @first name: (_) @name body: (_) @body) @node'),
        (SymbolKind.METHOD, '(operator_declaration "operator" @first operator: _ @name body: (_) @body) @node'),
        (SymbolKind.METHOD, '(conversion_operator_declaration "operator" @first type: _ @name body: (_) @body) @node'),
        (SymbolKind.METHOD, f'(indexer_declaration "this" @name {_ACCESSORS}) @node'),
        (SymbolKind.METHOD, '(indexer_declaration "this" @name value: (_) @body) @node'),
        (SymbolKind.METHOD, f"(property_declaration name: (_) @name {_ACCESSORS}) @node"),
        (SymbolKind.METHOD, "(property_declaration name: (_) @name value: (arrow_expression_clause) @body) @node"),
        (SymbolKind.METHOD, f"(event_declaration name: (_) @name {_ACCESSORS}) @node"),
        (SymbolKind.FUNCTION, "(local_function_statement name: (_) @name body: (_) @body) @node"),
        (SymbolKind.FUNCTION, f"(variable_declarator name: (identifier) @name {_CLOSURE} @value) @node"),
        (
            SymbolKind.CONSTANT,
            "(field_declaration (modifier) @_const (variable_declaration (variable_declarator name: (_) @name) @node)"
            ' (#eq? @_const "const"))',
        ),
        (
            SymbolKind.CONSTANT,
            "(field_declaration (modifier) @_static (modifier) @_readonly"
            " (variable_declaration (variable_declarator name: (_) @name) @node)"
            ' (#eq? @_static "static") (#eq? @_readonly "readonly"))',
        ),
    ),
    declarations=(  # the first half of a partial method
        (
            SymbolKind.METHOD,
            '(method_declaration (modifier) @_partial name: (_) @name !body (#eq? @_partial "partial")) @node',
        ),
    ),
    namespaces=(
        "(namespace_declaration name: (_) @name body: (_)) @node",
        "(compilation_unit (file_scoped_namespace_declaration name: (_) @name) @node) @rest",
        "(ERROR (file_scoped_namespace_declaration name: (_) @name) @node) @rest",
    ),
    wrappers=(
        "(field_declaration) @node",
        "(local_declaration_statement) @node",
        "(variable_declaration) @node",
    ),
    calls=(
        "(invocation_expression function: (identifier) @name)",
        "(invocation_expression function: (generic_name) @name)",
        "(invocation_expression function: (member_access_expression name: (_) @name) @callee)",
        "(invocation_expression function: (conditional_access_expression (member_binding_expression name: (_) @name))"
        " @callee)",
        "(object_creation_expression type: (_) @name)",
        "(variable_declaration type: (_) @name (variable_declarator (implicit_object_creation_expression)))",
        "(property_declaration type: (_) @name value: (implicit_object_creation_expression))",
        '(constructor_initializer ["base" "this"] @name)',
        "(primary_constructor_base_type type: (_) @name)",
        "(base_list . (_) @name . (argument_list))",
    ),
    imports=("(using_directive) @tree",),
    typings=(
        (TypingRole.BASE, "(base_list [(identifier) (generic_name) (qualified_name)] @type)"),
        (TypingRole.BASE, "(primary_constructor_base_type type: (_) @type)"),
        (TypingRole.DECLARED, "(parameter type: (_) @type name: (_) @name)"),
        (
            TypingRole.DECLARED,
            "(variable_declaration type: [(identifier) (generic_name) (qualified_name) (nullable_type)] @type"
            " (variable_declarator name: (_) @name))",
        ),
        (TypingRole.DECLARED, "(property_declaration type: (_) @type name: (_) @name)"),
        (TypingRole.DECLARED, "(foreach_statement type: (_) @type left: (_) @name)"),
        (TypingRole.DECLARED, "(catch_declaration type: (_) @type name: (_) @name)"),
        (TypingRole.DECLARED, "(declaration_pattern type: (_) @type name: (_) @name)"),
        (
            TypingRole.VALUE,
            "(variable_declarator name: (_) @name (object_creation_expression type: (_) @called))",
        ),
        (TypingRole.RETURNS, "(method_declaration returns: (_) @type)"),
    ),
    test_marker=r"[\[,]\s*(?:\w+\.)*(?:Fact|Theory|Test|TestCase|TestCaseSource|TestMethod|DataTestMethod|TestFixture"
    r"|TestClass)(?:Attribute)?\s*[\](,]",
    repairs=(_all_branches, _first_branches),
    expand=_expand,
)
