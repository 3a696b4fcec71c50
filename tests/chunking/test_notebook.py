from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipelines.chunking.definitions import SymbolRow
from pipelines.chunking.rows import ChunkRow, FileChunks, chunk_file
from pipelines.chunking.source import SecretSpans
from pipelines.file_text import NOTEBOOK, FileText, read_text
from pipelines.identity import make_id
from pipelines.records import ChunkKind
from pipelines.settings import ChunkingSettings
from tests.chunking.builders import REPO, Secret, listed

PARCELS = Path(__file__).parents[1] / "discover" / "regions" / "parcels.ipynb"


def chunk(data: bytes, *symbols: SymbolRow, secrets: tuple[Secret, ...] = ()) -> FileChunks:
    text = read_text(NOTEBOOK, data)
    assert isinstance(text, FileText)
    file = listed("a.ipynb", NOTEBOOK)
    return chunk_file(REPO, file, text, symbols, SecretSpans(secrets), ChunkingSettings())


def in_order(found: FileChunks) -> list[ChunkRow]:
    return sorted(found.rows, key=lambda row: (row.start_byte, row.start_line))


def function(data: bytes, name: str, first: bytes, last: bytes) -> SymbolRow:
    """Make a symbol from where `first` stands in the file to the end of `last`."""
    start = data.index(first)
    end = data.index(last, start) + len(last)
    identity = make_id(REPO, "a.ipynb", ChunkKind.FUNCTION, name, 0)
    return SymbolRow(identity, ChunkKind.FUNCTION, name, name, 0, start, end, start, f"def {name}()", "", False)


def notebook(*sources: Any, kind: str = "code", ids: bool = False) -> bytes:
    cells = [
        {"cell_type": kind, "source": source, **({"id": f"c{number}"} if ids else {})}
        for number, source in enumerate(sources)
    ]
    return json.dumps({"cells": cells}, indent=1).encode()


def test_a_row_shows_the_source_of_a_cell_and_tells_the_lines_that_hold_it() -> None:
    data = PARCELS.read_bytes()
    weigh = function(data, "weigh", b"def weigh", b"return scale(parcel)")
    rows = in_order(chunk(data, weigh))
    assert [(row.kind, row.qualified_name, row.start_line, row.end_line) for row in rows] == [
        ("section", "Parcels", 8, 10),
        ("module", "", 29, 36),
        ("function", "weigh", 37, 39),
        ("section", "Parcels > Totals", 47, 49),
        ("module", "", 67, 74),
        ("module", "", 84, 85),
        ("module", "", 95, 97),
        ("module", "", 107, 108),
    ]
    assert rows[0].text == "# Parcels\n\nHow heavy parcels are, and why it matters here."
    assert rows[2].text == "def weigh(parcel):\n    %time parcel.check()\n    return scale(parcel)"
    assert rows[4].text.startswith('class Total:\n    """Sums weights é."""\n')
    assert data[rows[2].start_byte :].startswith(b"def weigh(parcel):")
    assert data[rows[4].end_byte :].startswith(b'"\n')
    assert not any("iVBOR" in row.text or "not_code" in row.text for row in rows)


def test_cells_are_never_joined() -> None:
    rows = in_order(chunk(notebook("a = 1", "b = 2", ["c = 3\n"])))
    assert [row.text for row in rows] == ["a = 1", "b = 2", "c = 3"]


def test_ids_survive_a_new_cell_above_where_cells_have_ids() -> None:
    data = notebook("a = 1", "b = 2", ids=True)
    cells = json.loads(data)["cells"]
    more = json.dumps({"cells": [{"cell_type": "code", "source": "new", "id": "x"}, *cells]}).encode()
    assert [row.chunk_id for row in in_order(chunk(data))] == [row.chunk_id for row in in_order(chunk(more))][1:]
    twice = chunk(json.dumps({"cells": [cells[0], cells[0]]}).encode())
    assert len({row.chunk_id for row in twice.rows}) == 2


def test_headings_reach_over_the_cells_and_raw_cells_have_none() -> None:
    rows = in_order(chunk(notebook("# A\n", "more", "## B", kind="markdown")))
    assert [row.qualified_name for row in rows] == ["A", "A", "A > B"]
    assert [row.qualified_name for row in chunk(notebook("# A", kind="raw")).rows] == [""]


def test_a_secret_costs_its_lines_and_one_in_an_output_costs_nothing() -> None:
    data = PARCELS.read_bytes().replace(b"total = Total()", b"total = 'hush'  ")
    inside, outside = data.index(b"hush"), data.index(b"ghp_")
    found = chunk(data, secrets=((inside, inside + 4, "a"), (outside, outside + 40, "b")))
    assert [(row.start_line, row.end_line, row.detector) for row in found.quarantine] == [(73, 73, "a")]
    assert not any("hush" in row.text for row in found.rows)


def test_chunks_of_utf_16_have_the_places_of_the_file() -> None:
    text = f"# 🙂 é\n\n{'Words enough. ' * 4}\n\n## B\n\n{'More of them. ' * 4}"
    data = ("\ufeff" + text).encode("utf-16-le")
    read = read_text("markdown", data)
    assert isinstance(read, FileText)
    rows = chunk_file(REPO, listed("a.md", "markdown"), read, (), SecretSpans(), ChunkingSettings()).rows
    assert [data[row.start_byte : row.end_byte].decode("utf-16-le") for row in rows] == [row.text for row in rows]
    assert len(rows) == 2
