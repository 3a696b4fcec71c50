from __future__ import annotations

from itertools import product
from pathlib import Path
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.retrieval import Query
from pipelines.retrieval.phrases import Held, held_by_text, line_of_message, message_of
from tests.retrieval.builders import Doc, found, make_searcher

COMMON = frozenset({"the", "is", "a", "to"})


def test_a_message_is_its_words_and_what_stands_between_them() -> None:
    message = message_of("Shut: 'cart is\n full'.", COMMON)
    assert message.words == ("Shut", "cart", "is", "full")
    assert message.pairs == ("Shut: 'cart", "cart is", "is full")
    assert message.weights == (1, 1, 0.5, 1)


def test_values_weigh_nothing_and_a_dotted_name_as_one_word() -> None:
    message = message_of("shop.errors.Full: cart 12 in /var/cart is full", COMMON)
    assert message.weights == pytest.approx((1 / 3, 1 / 3, 1 / 3, 1, 0, 1, 0, 0, 0.5, 1))
    assert message.telling == (True, True, True, True, False, True, False, False, False, True)


@pytest.mark.parametrize("text", ["", "two words", "is the a to", "... -- !", "the cart is"])
def test_few_or_common_words_are_no_message(text: str) -> None:
    assert not message_of(text, COMMON)


def test_of_a_long_text_some_pairs_are_taken_from_all_over() -> None:
    message = message_of(" ".join(first + second for first, second in product(ascii_lowercase, repeat=2)), COMMON)
    assert len(message.words) == 64
    assert 12 < len(message.pairs) <= 24


@pytest.mark.parametrize(
    ("text", "words", "weight"),
    [
        ("fail('no place is left for eggs')", 5, 5.5),
        ("fail('no place is left for %d %s' % (9, name))", 4, 4.5),
        ("fail('no place ' +\n   'is left for ' + name)", 4, 4.5),
        ("left for eggs, no place is", 3, 3.0),
        ("no eggs for this place", 0, 0),
        ("no place " + "and a lot of other words " * 3 + " left for", 2, 2.0),
        ("", 0, 0),
    ],
)
def test_placeholders_and_strings_over_lines_interrupt_no_message(text: str, words: int, weight: float) -> None:
    held = held_by_text(text, message_of("no place is left for eggs", COMMON))
    assert (held.words, held.weight) == (words, weight)


@given(
    st.lists(st.sampled_from(("a", "b", "c", "d", "is", "the")), max_size=40),
    st.lists(st.sampled_from(("a", "b", "c", "d", "is"))),
)
def test_no_text_holds_more_than_the_message(asked: list[str], text: list[str]) -> None:
    message = message_of(" ".join(asked), COMMON)
    held = held_by_text(" ".join(text), message)
    assert held.words <= sum(message.telling)
    assert held.weight <= sum(message.weights) + 1e-9
    assert list(held.places) == sorted(set(held.places))


def test_a_text_that_says_one_word_all_the_time_is_read_in_one_pass() -> None:
    assert held_by_text("x " * 20_000, message_of("x " * 200, COMMON)) != Held()


def test_the_line_with_a_message_is_shown_if_that_is_no_chance() -> None:
    message = message_of("cart is full of eggs", COMMON)
    lines = ["def f():", "  # cart is full", "  fail('cart is full '", "       'of eggs')"]
    assert line_of_message(lines, message) == 2
    assert line_of_message(["  # full of it"], message) is None
    assert line_of_message(["  # cart is full"], message_of("cart full up", COMMON)) is None
    assert line_of_message(["anything"], message_of("", COMMON)) is None


DOCS = [
    Doc("shop/cart.py", "def put(item):\n    fail(f'no place is left for {item} in this cart')", "put"),
    Doc("shop/place.py", "def place(cart): # place, left, this, cart\n    return cart.place.left", "place"),
    Doc("shop.md", "# No place is left for\nno place is left for eggs in this cart", "No place", kind="section"),
    Doc("shop/errors.py", "class Failure(Exception):\n    # a failure of a cart", "Failure", kind="class"),
    Doc("shop/cart_test.py", "def test():\n  'no place is left for eggs in this cart'", "test", is_test=True),
]
MESSAGE = "Failure: no place is left for eggs in this cart"


def test_code_that_has_a_message_stands_before_what_tells_of_it_and_the_class_in_front(tmp_path: Path) -> None:
    hit = make_searcher(tmp_path, DOCS).search(Query(MESSAGE)).hits[0]
    assert (hit.path, hit.line) == ("shop/cart.py", 2)
    assert hit.terms["phrase"] == pytest.approx(12 * (4 - 2) / 2.5 * (5.8 / 8 - 0.5) / 0.3)


@pytest.mark.parametrize("rest", [DOCS[1:3], [DOCS[1], DOCS[4]]])
def test_what_tells_of_a_message_stands_first_where_it_alone_has_it(tmp_path: Path, rest: list[Doc]) -> None:
    assert found(make_searcher(tmp_path, rest), MESSAGE)[0] == rest[1].path
