from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.retrieval import Query
from pipelines.retrieval.places import NamedPlace, places_of
from tests.retrieval.builders import Doc, make_searcher


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("cart.c:12", [("cart.c", 12)]),
        ("  src/cart.c:12:5: error", [("src/cart.c", 12)]),
        ("at put (file:///home/a/shop/cart.ts:12:5)", [("file:///home/a/shop/cart.ts", 12)]),
        ('File "/a/b.py", line 3, in f\nFile "c.py", line 4', [("/a/b.py", 3), ("c.py", 4)]),
        ("C:\\a\\Cart.cs(7,2): error", [("C:/a/Cart.cs", 7)]),
        ("at shop.Cart.put(Cart.java:31)", [("Cart.java", 31)]),
        *((text, []) for text in ("localhost:80", "127.0.0.1:6379", "cart.c:0", "cart.put(3)", "a.b", "Cart::put:3")),
    ],
)
def test_places_are_told_as_compilers_and_runtimes_do(text: str, places: list[tuple[str, int]]) -> None:
    assert list(places_of(text)) == [NamedPlace(path, line) for path, line in places]


def test_a_path_fits_where_one_is_the_end_of_the_other() -> None:
    assert NamedPlace("cart.c", 1).common_parts("src/cart.c") == 1
    assert NamedPlace("/build/src/cart.c", 1).common_parts("src/cart.c") == 2
    assert NamedPlace("lib/cart.c", 1).common_parts("src/cart.c") == 0
    assert NamedPlace("art.c", 1).common_parts("src/cart.c") == 0


DOCS = [
    Doc("src/cart.c", "struct Cart {\n  int put(item) ...\n  int size;\n};", "Cart", "struct", start=10, end=17),
    Doc("src/cart.c", "int put(item) {\n  a;\n  b;\n  c;\n}", "put", start=11, end=15),
    Doc("lib/cart.c", "int put(item) {\n  d;\n}", "put", start=11, end=13),
    Doc("12.c", "// cart.c:12 is where cart 12 is put into src", kind="module"),
    Doc("docs/cart.md", "# Cart\nis put", "Cart", "section", start=3, end=4),
]


@pytest.mark.parametrize(
    ("text", "path", "symbol", "line"),
    [
        ("src/cart.c:13", "src/cart.c", "put", 13),
        ("/build/src/cart.c:16:3: put", "src/cart.c", "Cart", 16),
        ("main.c:3\nlib/cart.c:12\nsrc/cart.c:12", "lib/cart.c", "put", 12),
        ("cart.c:14", "src/cart.c", "put", 14),
        ("cart.md:4", "docs/cart.md", "Cart", 4),
        ("./src/cart.c:10 put", "src/cart.c", "Cart", 10),
    ],
)
def test_the_smallest_chunk_that_holds_a_place_is_first(
    tmp_path: Path, text: str, path: str, symbol: str, line: int
) -> None:
    hit = make_searcher(tmp_path, DOCS).search(Query(text)).hits[0]
    assert (hit.path, hit.symbol, hit.line) == (path, symbol, line)


def test_a_place_outside_of_the_index_or_the_filters_is_text(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, DOCS)
    assert searcher.search(Query("cart.c:99")).hits
    assert searcher.search(Query("src/cart.c:13", paths=("lib",))).hits[0].path == "lib/cart.c"
