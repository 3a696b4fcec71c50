"""Units of a notebook: code cells like files of code, Markdown cells as sections, whose headings reach over the cells.

The row of a cell shows its source; what it defines has rows of its own, as in a file.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from pipelines.chunking import markdown
from pipelines.chunking.code import Stretch, code_units
from pipelines.chunking.definitions import SymbolRow, make_tree
from pipelines.chunking.sections import Heading, Sections
from pipelines.chunking.source import SecretSpans, Source
from pipelines.chunking.units import Unit
from pipelines.notebooks import Cell, Notebook
from pipelines.settings import ChunkingSettings

#: The cells that are cut at headings; cells that are neither code nor these are one section.
_MARKDOWN = ("markdown", "heading")


def notebook_units(
    source: Source,
    notebook: Notebook,
    path: str,
    symbols: Sequence[SymbolRow],
    secrets: SecretSpans,
    settings: ChunkingSettings,
) -> Iterator[Unit]:
    """Yield the units of a notebook, whose text is `source`."""
    sections = Sections(source, secrets, settings.min_chars)
    seen: Counter[str] = Counter()
    ordered = sorted(symbols, key=lambda item: item.start)
    starts = [symbol.start for symbol in ordered]
    for number, cell in enumerate(notebook.cells):
        if cell.kind == "code":
            own = ordered[bisect_left(starts, cell.start) : bisect_left(starts, cell.end)]
            roots = make_tree(source, own, path, settings.min_chars, (cell.start, cell.end))
            stretch = Stretch(cell.start, cell.end, _anchor(cell, number))
            yield from code_units(source, stretch, roots, secrets, seen)
        else:
            yield from sections.units(markdown.headings if cell.kind in _MARKDOWN else _none, cell.start, cell.end)


def _anchor(cell: Cell, number: int) -> str:
    """Return what a cell is known by: its id, which survives edits elsewhere, else its place."""
    return f"cell {cell.name or number}"


def _none(lines: Sequence[str]) -> Iterator[Heading]:
    return iter(())
