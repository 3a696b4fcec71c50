from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.discover.processes.packing import ALIGNMENT, pack_rows
from pipelines.discover.processes.unpacking import COLUMN_TYPES, TABLES, unpack_rows
from pipelines.formats import CALLS_TABLE, SYMBOLS_TABLE

TEXT = st.text(max_size=12)
CALL = st.tuples(
    st.none() | st.binary(min_size=16, max_size=16),
    TEXT,
    st.none() | TEXT,
    st.integers(0, (1 << 31) - 1),
    st.integers(0, (1 << 63) - 1),
)


def travel(schema: pa.Schema, files: dict[str, list[tuple[object, ...]]]) -> pa.RecordBatch:
    """Pack the rows of some files and unpack them, as they go from a parser process to its parent."""
    types = next(COLUMN_TYPES[name] for name, other in TABLES.items() if other is schema)
    buffers = pack_rows([row for rows in files.values() for row in rows], types)
    assert all(len(buffer) % ALIGNMENT == 0 for buffer in buffers)
    counts = [len(rows) for rows in files.values()]
    return unpack_rows(schema, pa.array(files, pa.string()), counts, [memoryview(buffer) for buffer in buffers])


@given(st.lists(st.lists(CALL, max_size=5), min_size=1, max_size=4))
def test_rows_arrive_as_they_were_sent(rows_of_files: list[list[tuple[object, ...]]]) -> None:
    files = {f"{number}.py": rows for number, rows in enumerate(rows_of_files)}
    arrived = travel(CALLS_TABLE, files)
    arrived.validate(full=True)
    assert arrived.schema == CALLS_TABLE
    sent = [(path, *row) for path, rows in files.items() for row in rows]
    assert [tuple(row.values()) for row in arrived.to_pylist()] == sent


def test_flags_and_sketches_arrive() -> None:
    row = (b"i" * 16, "method", "größe", "A.größe", 0, 1, 2, 3, 4, 3, "def größe()", "", True, b"s" * 32)
    other = (b"j" * 16, "function", "g", "g", 1, 5, 6, 7, 8, 7, "def g()", "Adds.", False, b"t" * 32)
    arrived = travel(SYMBOLS_TABLE, {"a.py": [row], "b.py": [], "c.py": [other]})
    assert arrived.to_pylist() == [
        dict(zip(SYMBOLS_TABLE.names, (row[0], "a.py", *row[1:]), strict=True)),
        dict(zip(SYMBOLS_TABLE.names, (other[0], "c.py", *other[1:]), strict=True)),
    ]


@pytest.mark.parametrize("name", TABLES)
def test_every_table_travels_even_without_rows(name: str) -> None:
    assert travel(TABLES[name], {"a.py": []}).num_rows == 0
