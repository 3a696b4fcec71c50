"""Scala, 2 and 3."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.discover.parsing.languages.language import Grammar, ImportedName, Language
from pipelines.records import SymbolKind, TypingRole

_RENAMED = re.compile(r"\s*(?:=>|\bas\b)\s*")
#: The clauses of `import a.{b, c}, d.e`: commas inside braces part names, not clauses.
_CLAUSE = re.compile(r"(?P<path>[^,{}]+)(?:\{(?P<names>[^{}]*)\})?,?")
_WILDCARDS = frozenset({"_", "*", "given"})
_CONSTANT = '(val_definition pattern: (identifier) @name) @node (#match? @name "^[A-Z]")'
_CLOSURE = "[(lambda_expression) (case_block) (block (lambda_expression))]"


def _expand(text: str) -> Iterator[ImportedName]:
    """Yield every name of `import a.{b, c => d}, e._`."""
    for clause in _CLAUSE.finditer(text.removeprefix("import").strip()):
        path = clause["path"].strip()
        if clause["names"] is None:
            module, _, name = path.rpartition(".")
            yield from _name(module, name)
        else:
            for name in clause["names"].split(","):
                yield from _name(path.removesuffix("."), name)


def _name(module: str, written: str) -> Iterator[ImportedName]:
    name, *alias = _RENAMED.split(written.strip().strip("`"), maxsplit=1)
    if alias == ["_"] or not name:  # `b => _` hides b
        return
    if name.split()[0] in _WILDCARDS:
        yield module, "*", None
    else:
        yield (module, name, alias[0] if alias else None) if module else (name, None, alias[0] if alias else None)


SCALA = Language(
    name="scala",
    grammar=Grammar("tree-sitter-scala", "tree_sitter_scala"),
    definitions=(
        (SymbolKind.CLASS, "(class_definition name: (_) @name body: (_) @body) @node"),
        (SymbolKind.CLASS, "(class_definition name: (_) @name !body) @node"),
        (SymbolKind.CLASS, "(object_definition name: (_) @name body: (_) @body) @node"),
        (SymbolKind.CLASS, "(object_definition name: (_) @name !body) @node"),
        (SymbolKind.CLASS, "(package_object name: (_) @name body: (_) @body) @node"),
        (SymbolKind.CLASS, "(given_definition name: (_) @name body: (_) @body) @node"),
        (SymbolKind.TRAIT, "(trait_definition name: (_) @name body: (_) @body) @node"),
        (SymbolKind.TRAIT, "(trait_definition name: (_) @name !body) @node"),
        (SymbolKind.ENUM, "(enum_definition name: (_) @name body: (_) @body) @node"),
        (SymbolKind.TYPE, "(type_definition name: (_) @name type: (_)) @node"),
        (SymbolKind.FUNCTION, "(function_definition name: (_) @name body: (_) @body) @node"),
        # Without a body they are abstract, and one that has another signature may have one.
        (SymbolKind.FUNCTION, "(function_declaration name: (_) @name) @node"),
        (SymbolKind.FUNCTION, f"(val_definition pattern: (identifier) @name value: {_CLOSURE} @body @value) @node"),
        (SymbolKind.FUNCTION, f"(var_definition pattern: (identifier) @name value: {_CLOSURE} @body @value) @node"),
        # A constant begins with a capital; in a class that may as well be an extractor.
        (SymbolKind.CONSTANT, f"(compilation_unit {_CONSTANT})"),
        (SymbolKind.CONSTANT, f"(object_definition body: (template_body {_CONSTANT}))"),
        (SymbolKind.CONSTANT, f"(package_object body: (template_body {_CONSTANT}))"),
    ),
    types=(
        "(extension_definition parameters: (parameters . (parameter type: (_) @name))) @node",
        "(instance_expression (template_body)) @node",
        "(given_definition !name return_type: (_) @name body: (_)) @node",
    ),
    namespaces=(
        "(package_clause name: (_) @name body: (_)) @node",
        "(compilation_unit (package_clause name: (_) @name !body) @node) @last",
    ),
    calls=(
        "(call_expression function: (identifier) @name)",
        "(call_expression function: (operator_identifier) @name)",
        "(call_expression function: (field_expression field: (_) @name) @callee)",
        "(call_expression function: (generic_function function: (identifier) @name))",
        "(call_expression function: (generic_function function: (field_expression field: (_) @name) @callee))",
        "(infix_expression left: (_) @callee operator: (identifier) @name)",
        "(instance_expression . (_) @name)",
        "(extends_clause type: (_) @name . arguments: (_))",
    ),
    imports=("(import_declaration) @tree",),
    typings=(
        (TypingRole.BASE, "(extends_clause type: (_) @type)"),
        (TypingRole.DECLARED, "(parameter name: (_) @name type: (_) @type)"),
        (TypingRole.DECLARED, "(class_parameter name: (_) @name type: (_) @type)"),
        (TypingRole.DECLARED, "(val_definition pattern: (identifier) @name type: (_) @type)"),
        (TypingRole.DECLARED, "(var_definition pattern: (identifier) @name type: (_) @type)"),
        (TypingRole.DECLARED, "(typed_pattern pattern: (identifier) @name type: (_) @type)"),
        (TypingRole.VALUE, "(val_definition pattern: (identifier) @name value: (instance_expression . (_) @called))"),
        (
            TypingRole.VALUE,
            "(val_definition pattern: (identifier) @name value: (call_expression function: (identifier) @called))",
        ),
        (TypingRole.RETURNS, "(function_definition return_type: (_) @type)"),
    ),
    comments=("(comment) @node", "(block_comment) @node"),
    test_marker=r"@(?:\w+\.)*Test\b",
    expand=_expand,
)
