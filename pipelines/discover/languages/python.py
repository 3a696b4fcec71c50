"""Python."""

from __future__ import annotations

from pipelines.discover.languages.language import Grammar, Language
from pipelines.records import SymbolKind

PYTHON = Language(
    name="python",
    grammar=Grammar("tree-sitter-python", "tree_sitter_python"),
    definitions=(
        (SymbolKind.FUNCTION, "(function_definition name: (_) @name body: (_) @body) @node"),
        (SymbolKind.CLASS, "(class_definition name: (_) @name body: (_) @body) @node"),
        (SymbolKind.FUNCTION, "(assignment left: (identifier) @name right: (lambda body: (_) @body) @value) @node"),
        (SymbolKind.TYPE, "(type_alias_statement left: (type . (identifier) @name)) @node"),
        (SymbolKind.TYPE, "(type_alias_statement left: (type . (generic_type . (identifier) @name))) @node"),
    ),
    decorated=("(decorated_definition) @node",),
    calls=(
        "(call function: (identifier) @name)",
        "(call function: (attribute attribute: (identifier) @name) @callee)",
    ),
    imports=(
        "(import_statement name: (dotted_name) @module)",
        "(import_statement name: (aliased_import name: (_) @module alias: (_) @alias))",
        "(import_from_statement module_name: (_) @module name: (dotted_name) @name)",
        "(import_from_statement module_name: (_) @module name: (aliased_import name: (_) @name alias: (_) @alias))",
        "(import_from_statement module_name: (_) @module (wildcard_import) @name)",
        '(future_import_statement "__future__" @module name: (dotted_name) @name)',
        '(future_import_statement "__future__" @module name: (aliased_import name: (_) @name alias: (_) @alias))',
    ),
    docstrings=True,
)
