"""Rows about a text that is not its file byte for byte: offsets and lines become those of the file.

Parsing reckons with the text alone; what leaves the stage tells the places in the file, as an editor or git shows them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pipelines.file_text import FileText

Row = list[Any]


class Places(NamedTuple):
    """The columns of a table that hold places: spans as pairs, single offsets, lines. Rows leave `path` out."""

    spans: tuple[tuple[int, int], ...] = ()
    offsets: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()


#: As in formats, which a parser process would load pyarrow for; a test compares the two.
PLACES = {
    "symbols": Places(spans=((7, 8),), offsets=(9,), lines=(5, 6)),
    "calls": Places(offsets=(4,), lines=(3,)),
    "imports": Places(lines=(3,)),
    "typings": Places(offsets=(4,)),
    "secrets": Places(spans=((0, 1),), lines=(2, 3)),
}


def move_to_file(table: str, rows: list[Row], text: FileText) -> None:
    """Change rows of a table in place."""
    places = PLACES[table]
    for row in rows:
        for start, end in places.spans:
            row[start], row[end] = text.to_file(row[start], row[end])
        for column in places.offsets:
            row[column] = text.to_file(row[column], row[column])[0]
        for column in places.lines:
            row[column] = text.line_in_file(row[column])
