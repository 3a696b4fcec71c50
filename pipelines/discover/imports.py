"""Imports. In: the captures of an import pattern. Out: module, imported name and alias, as written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.discover.grammars import Captures
from pipelines.discover.languages import Language
from pipelines.discover.source import Source

_QUOTES = "\"'`<>"
#: What ECMAScript calls the export that a module has without a name.
_DEFAULT_EXPORT = "default"


@dataclass(frozen=True, slots=True)
class ImportRow:
    """One imported name; `name` is None where the module itself is imported."""

    module: str
    name: str | None
    alias: str | None
    line: int


def import_position(captures: Captures) -> tuple[int, int]:
    """Return the span by which imports and typings are ordered: the name's where there is one."""
    for capture in ("name", "default", "module", "tree", "field", "type", "called", "value"):
        if capture in captures:
            node = captures[capture][0]
            return node.start_byte, node.end_byte
    raise KeyError("an import captures @module or @tree, a typing @type, @called or @value")


def read_import(captures: Captures, source: Source, language: Language) -> Iterator[ImportRow]:
    """Yield the names that one match imports."""
    if "tree" in captures:
        assert language.expand is not None
        node = captures["tree"][0]
        text = source.text(node.start_byte, node.end_byte)
        for module, name, alias in language.expand(text):
            yield ImportRow(module, name, alias, node.start_point.row + 1)
        return

    def text_of(capture: str) -> str | None:
        if capture not in captures:
            return None
        node = captures[capture][0]
        return source.text(node.start_byte, node.end_byte).strip(_QUOTES)

    name, alias = text_of("name"), text_of("alias")
    if "default" in captures:
        name, alias = _DEFAULT_EXPORT, text_of("default")
    position = captures["name" if "name" in captures else "module"][0]
    yield ImportRow(text_of("module") or "", name, None if alias == name else alias, position.start_point.row + 1)
