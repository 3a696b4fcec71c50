"""Imports. In: the captures of an import pattern. Out: module, imported name and alias, as written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.discover.parsing.grammars import Captures, Constructs, Role
from pipelines.discover.parsing.languages import Language
from pipelines.discover.parsing.source import Source

#: Captures that say more of an import than its module; a module that has them is not imported alone.
_PARTS = frozenset({"name", "alias", "default"})
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


def read_imports(constructs: Constructs, source: Source, language: Language) -> list[ImportRow]:
    """Return the imports of a file in document order; a module whose names are imported is not listed alone too."""
    matches = [captures for *_, captures in constructs.in_order(Role.IMPORT)]
    listed = {_module(captures) for captures in matches if not _PARTS.isdisjoint(captures)}
    rows: list[ImportRow] = []
    for captures in matches:
        if "module" in captures and _PARTS.isdisjoint(captures):
            if _module(captures) in listed:
                continue
            listed.add(_module(captures))
        rows.extend(_read(captures, source, language))
    return rows


def _module(captures: Captures) -> int | None:
    """Return where the module of an import stands."""
    return captures["module"][0].start_byte if "module" in captures else None


def _read(captures: Captures, source: Source, language: Language) -> Iterator[ImportRow]:
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
