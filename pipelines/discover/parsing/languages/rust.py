"""Rust."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.discover.parsing.languages.language import Grammar, ImportedName, Language
from pipelines.records import SymbolKind

_PREAMBLE = re.compile(r"(?:pub\s*(?:\([^)]*\))?\s*)?(?:use|extern\s+crate)\s+")
_TOKEN = re.compile(r"[{},]|[^{},]+")


def _expand(text: str) -> Iterator[ImportedName]:
    """Yield every name of a use tree: `a::{b, c::{d as e, self}, f::*}` has four."""
    prefixes = [""]
    pending = ""
    for token in _TOKEN.findall(_PREAMBLE.sub("", text.removesuffix(";"), count=1)):
        if token == "{":
            prefixes.append(prefixes[-1] + pending)
            pending = ""
        elif token in "},":
            if pending:
                yield _leaf(prefixes[-1] + pending)
            pending = ""
            if token == "}" and len(prefixes) > 1:
                prefixes.pop()
        else:
            pending = token.strip()
    if pending:
        yield _leaf(pending)


def _leaf(path: str) -> ImportedName:
    path, _, alias = (part.strip() for part in path.partition(" as "))
    module, _, name = "".join(path.split()).rpartition("::")
    if not module or name == "self":
        return module or name, None, alias or None
    return module, name, alias or None


RUST = Language(
    name="rust",
    grammar=Grammar("tree-sitter-rust", "tree_sitter_rust"),
    definitions=(
        (SymbolKind.FUNCTION, "(function_item name: (_) @name body: (_) @body) @node"),
        (SymbolKind.STRUCT, "(struct_item name: (_) @name body: (_) @body) @node"),
        (SymbolKind.STRUCT, "(struct_item name: (_) @name !body) @node"),
        (SymbolKind.STRUCT, "(union_item name: (_) @name body: (_) @body) @node"),
        (SymbolKind.ENUM, "(enum_item name: (_) @name body: (_) @body) @node"),
        (SymbolKind.TRAIT, "(trait_item name: (_) @name body: (_) @body) @node"),
        (SymbolKind.TYPE, "(type_item name: (_) @name) @node"),
        (SymbolKind.MACRO, "(macro_definition name: (_) @name . (_) @body) @node"),
        (
            SymbolKind.FUNCTION,
            "(let_declaration pattern: (identifier) @name value: (closure_expression body: (_) @body) @value) @node",
        ),
        *(
            (SymbolKind.CONSTANT, f'({place} ({item} name: (_) @name (#not-eq? @name "_")) @node)')
            for place in ("source_file", "declaration_list")
            for item in ("const_item", "static_item")
        ),
    ),
    declarations=(
        (SymbolKind.TYPE, "(trait_item body: (declaration_list (associated_type name: (_) @name) @node))"),
        (
            SymbolKind.METHOD,
            "(trait_item body: (declaration_list (function_signature_item name: (_) @name) @node))",
        ),
        (
            SymbolKind.FUNCTION,
            "(foreign_mod_item body: (declaration_list (function_signature_item name: (_) @name) @node))",
        ),
    ),
    types=(
        "(impl_item type: (scoped_type_identifier name: (_) @name)) @node",
        "(impl_item type: (generic_type type: (scoped_type_identifier name: (_) @name))) @node",
        "(impl_item type: (reference_type type: (type_identifier) @name)) @node",
        "(impl_item type: (_) @name) @node",
    ),
    namespaces=("(mod_item name: (_) @name body: (_)) @node",),
    attributes=("(attribute_item) @node",),
    calls=(
        "(call_expression function: (identifier) @name)",
        "(call_expression function: (field_expression field: (_) @name) @callee)",
        "(call_expression function: (scoped_identifier name: (_) @name) @callee)",
        "(call_expression function: (generic_function function: (identifier) @name))",
        "(call_expression function: (generic_function function: (field_expression field: (_) @name) @callee))",
        "(call_expression function: (generic_function function: (scoped_identifier name: (_) @name) @callee))",
        "(macro_invocation macro: (identifier) @name)",
        "(macro_invocation macro: (scoped_identifier name: (_) @name) @callee)",
        "(token_tree (identifier) @name . (token_tree) @arguments)",
    ),
    imports=("(use_declaration) @tree", "(extern_crate_declaration) @tree"),
    comments=("(line_comment) @node", "(block_comment) @node"),
    inner_comment="//!",
    test_marker=r"#\[\s*(?:(?:\w+::)*test\b|cfg\(\s*test\s*\))",
    expand=_expand,
)
