from __future__ import annotations

from pathlib import Path

from pipelines.retrieval.positions import file_line, file_lines
from tests.retrieval.builders import Doc, make_searcher

TEXT = "class Cart:\n    def add(self) ...\n\n    def total(self) ...\n    limit = 3\n"
LINES = TEXT.split("\n")
DOCS = [
    Doc("cart.py", TEXT, "Cart", kind="class", start=10, end=40),
    Doc("cart.py", "def add(self):", "add", kind="method", qualified="Cart.add", start=11, end=20),
    Doc("cart.py", "def total(self):", "total", kind="method", qualified="Cart.total", start=22, end=38),
    Doc("other.py", "def far(self):", "far", start=11, end=30),
]


def test_a_line_below_what_is_nested_stands_further_down_in_the_file(tmp_path: Path) -> None:
    generation = make_searcher(tmp_path, DOCS).generations[0]
    row = next(row for row in range(generation.count) if generation.rows.text(row) == TEXT)
    assert [file_line(generation, row, LINES, line) for line in range(5)] == [10, 11, 21, 22, 39]
    assert file_lines(generation, row, LINES) == [10, 11, 21, 22, 39, 40]


def test_a_text_of_its_own_lines_is_counted_from_its_first(tmp_path: Path) -> None:
    generation = make_searcher(tmp_path, DOCS).generations[0]
    row = next(row for row in range(generation.count) if generation.rows.text(row) == "def far(self):")
    assert file_line(generation, row, ["def far(self):"], 0) == 11
    assert file_line(generation, row, ["..."], 99) == 30
