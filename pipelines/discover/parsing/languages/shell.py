"""Shell scripts: sh, bash, ksh, zsh, and the tests of bats."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.discover.parsing.languages.language import Grammar, ImportedName, Language
from pipelines.discover.parsing.source import blanked
from pipelines.records import SymbolKind

#: `@test "name" {`, which no shell knows. The grammar sees a function instead, whose name is all of it.
_BATS_TEST = re.compile(rb"^([ \t]*)(@test[ \t]+(?:\"[^\"\n]*|'[^'\n]*))[\"'][ \t](?=[ \t]*\{)", re.MULTILINE)
#: What a sourced path begins with where the script's own folder stands before it.
_COMPUTED = re.compile(r"^.*(?:\)|\}|\$\w+|`)[\"']?/")
#: A longer command is no path.
_PATH_CHARS = 500


def _visible(data: bytes) -> bytes:
    """Return the text with tests of bats as functions, byte for byte as long."""
    return _BATS_TEST.sub(lambda test: test[1] + blanked(test[2], b"_") + b"()", data)


def _expand(text: str) -> Iterator[ImportedName]:
    """Return the path that is sourced, without the variable or command that stands for a folder."""
    _, _, path = text[:_PATH_CHARS].partition(" ")
    path = _COMPUTED.sub("", path.strip()).strip("\"' ")
    path = path.split()[0] if path else ""
    if path and "$" not in path:
        yield path, "*", None


SHELL = Language(
    name="shell",
    grammar=Grammar("tree-sitter-bash", "tree_sitter_bash"),
    definitions=(
        (SymbolKind.FUNCTION, "(function_definition name: (_) @name body: (_) @body) @node"),
        (
            SymbolKind.CONSTANT,
            '(declaration_command "readonly" (variable_assignment name: (variable_name) @name)) @node',
        ),
        (
            SymbolKind.CONSTANT,
            '(declaration_command ["declare" "typeset"] (word) @_flags (variable_assignment'
            ' name: (variable_name) @name) (#match? @_flags "^-[A-Za-z]*r")) @node',
        ),
    ),
    calls=('(command name: (command_name . (word) @name .) (#match? @name "^[A-Za-z_][A-Za-z0-9_:.+-]*$"))',),
    imports=(
        "(command name: (command_name) @_source argument: (_)"
        ' (#any-of? @_source "source" "." "load" "bats_load_library")) @tree',
    ),
    visible=_visible,
    expand=_expand,
)
