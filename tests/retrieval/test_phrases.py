from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.retrieval import Query
from pipelines.retrieval.phrases import line_of_runs, runs_of
from tests.retrieval.builders import Doc, found, make_searcher

COMMON = frozenset({"the", "is", "a", "to"})


def test_runs_are_words_in_a_row_without_what_surrounds_them() -> None:
    assert runs_of("Shut: 'cart is full'.", COMMON) == ("Shut: 'cart is", "cart is full")
    assert runs_of("no  such\nitem here", COMMON) == ("no such item", "such item here")


@pytest.mark.parametrize("text", ["", "two words", "is the a to", "cart is the", "x" * 200 + " b c"])
def test_few_common_or_endless_words_are_no_run(text: str) -> None:
    assert runs_of(text, COMMON) == ()


def test_of_a_long_text_some_runs_are_taken_from_all_over() -> None:
    runs = runs_of(" ".join(f"word{number}" for number in range(1_000)), COMMON)
    assert 12 < len(runs) <= 24
    assert runs[-1] > "word9"


def test_the_line_with_most_runs_is_shown_if_that_is_no_chance() -> None:
    runs = ("cart is full", "is full of", "full of eggs")
    assert line_of_runs(["def f():", "  # cart is full", "  fail('cart is full of eggs')"], runs) == 2
    assert line_of_runs(["  # cart is full"], runs) is None
    assert line_of_runs(["  # cart is full"], runs[:1]) == 0
    assert line_of_runs(["anything"], ()) is None


DOCS = [
    Doc("shop/cart.py", "def put(item):\n    fail(f'no place is left for {item} in this cart')", "put"),
    Doc("shop/place.py", "def place(cart): # place, left, this, cart\n    return cart.place.left", "place"),
    Doc("shop.md", "# No place is left for\nno place is left for eggs in this cart", "No place", kind="section"),
]


def test_code_that_has_a_message_stands_before_prose_that_tells_of_it(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, DOCS)
    hit = searcher.search(Query("Failure: no place is left for eggs in this cart")).hits[0]
    assert (hit.path, hit.line) == ("shop/cart.py", 2)
    assert hit.terms["phrase"] == pytest.approx(4.0 * 2 / 3)


def test_prose_stands_first_where_it_alone_has_the_message(tmp_path: Path) -> None:
    message = "no place is left for eggs in this cart"
    assert found(make_searcher(tmp_path, DOCS[1:]), message)[0] == "shop.md"
