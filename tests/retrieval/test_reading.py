from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.retrieval import ChunkReader
from pipelines.retrieval.reading import MAX_SIBLINGS
from tests.retrieval.builders import Call, Doc, open_docs

DOCS = [
    Doc("a.py", "def first():\n    second()", "first"),
    Doc("a.py", "def second():\n    pass", "second"),
    Doc("b.py", "def third():\n    pass", "third"),
]


def test_a_chunk_is_found_by_its_id(tmp_path: Path) -> None:
    with open_docs(tmp_path, DOCS) as generation:
        for doc in DOCS:
            chunk = ChunkReader(generation).read(doc.id("sample").hex())
            assert chunk is not None
            assert (chunk.place.path, chunk.place.symbol, chunk.text) == (doc.path, doc.name, doc.text)
            assert chunk.lines_in_order
            assert chunk.lines[0] == chunk.place.start_line


@pytest.mark.parametrize("wanted", ["", "00" * 16, "ff" * 16, "00", "no hex", "é", "ff" * 40])
def test_an_id_that_is_not_there_finds_nothing(tmp_path: Path, wanted: str) -> None:
    with open_docs(tmp_path, DOCS) as generation:
        assert ChunkReader(generation).read(wanted) is None
        assert ChunkReader(generation).related(wanted, "neighbors", 1) is None


def test_siblings_are_the_chunks_of_the_same_file(tmp_path: Path) -> None:
    with open_docs(tmp_path, DOCS) as generation:
        chunk = ChunkReader(generation).read(DOCS[0].id("sample").hex())
    assert chunk is not None
    assert sorted(place.symbol for place in chunk.siblings) == ["first", "second"]
    assert chunk.omitted_siblings == 0


def test_of_very_many_siblings_the_nearest_are_named(tmp_path: Path) -> None:
    docs = [Doc("a.py", "def f():\n" + "    pass\n" * number, f"f{number:03}") for number in range(100)]
    with open_docs(tmp_path, docs) as generation:
        chunk = ChunkReader(generation).read(docs[99].id("sample").hex())
    assert chunk is not None
    assert len(chunk.siblings) == MAX_SIBLINGS
    assert chunk.omitted_siblings == 100 - MAX_SIBLINGS
    assert chunk.siblings[-1].symbol == "f099"


def test_what_stands_around_a_chunk_is_that_of_a_hit(tmp_path: Path) -> None:
    with open_docs(tmp_path, DOCS, calls=[Call("first", "second")]) as generation:
        found = ChunkReader(generation).related(DOCS[0].id("sample").hex(), "neighbors", 1)
    assert found is not None
    assert [(item.symbol, item.direction) for item in found.neighbors] == [("second", "callee")]
