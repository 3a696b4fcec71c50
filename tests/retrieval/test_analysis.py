from __future__ import annotations

import pytest

from pipelines.retrieval.analysis import analyse, name_parts, requirements


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("apply_discount", ("apply_discount",)),
        ("Cart.total", ("Cart", "total")),
        ("Cart::total", ("Cart", "total")),
        ("Cart#total", ("Cart", "total")),
        ("cart->total", ("cart", "total")),
        ("orders/Cart.total()", ("orders", "Cart", "total")),
        ("two words", ()),
        ("a + b", ()),
        ("(", ()),
    ],
)
def test_a_name_is_split_at_the_qualifiers_of_any_language(text: str, parts: tuple[str, ...]) -> None:
    assert name_parts(text) == parts


def test_names_in_a_sentence_are_seen_by_their_form() -> None:
    found = analyse("why does RetryPolicy.next call `sleep` before max_retries, and not HTTP?").mentioned
    assert found == (("RetryPolicy", "next"), ("sleep",), ("max_retries",))


def test_runs_of_words_are_tried_as_one_name() -> None:
    joined = analyse("parse request").joined
    assert joined["parserequest"] is True
    assert joined["parse_request"] is True
    assert joined["parse"] is False


def test_common_words_are_left_out_unless_nothing_else_is_there() -> None:
    assert list(analyse("where is the cart").terms) == ["cart"]
    assert list(analyse("to be or not to be").terms) == ["not"]
    assert set(analyse("the of").terms) == {"the", "of"}


@pytest.mark.parametrize(("text", "wants"), [("retry tests", True), ("test_retry", True), ("retry", False)])
def test_a_query_may_ask_for_tests(text: str, wants: bool) -> None:
    assert analyse(text).wants_tests is wants


def test_keyword_and_takes_phrases_and_exclusions() -> None:
    wanted = requirements('cart "sold  out" -draft')
    assert wanted.terms == ("cart", "sold", "out")
    assert wanted.phrases == ("sold out",)
    assert wanted.excluded == ("draft",)


@pytest.mark.parametrize("text", ['printf("hello")', '"unclosed', "--error-on-warnings", "a - b", "-draft"])
def test_other_quotes_and_dashes_are_punctuation(text: str) -> None:
    wanted = requirements(text)
    assert wanted.terms
    assert (wanted.phrases, wanted.excluded) == ((), ())


@pytest.mark.parametrize(
    ("text", "declared", "kind"),
    [
        ("struct Cart", ("Cart",), "struct"),
        ("pub fn total", ("total",), "function"),
        ("abstract class shop.Cart {", ("shop", "Cart"), "class"),
    ],
)
def test_a_declaring_keyword_is_no_part_of_the_name(text: str, declared: tuple[str, ...], kind: str) -> None:
    found = analyse(text)
    assert found.declared == declared
    assert kind in found.kinds


@pytest.mark.parametrize("text", ["class", "Cart", "class of a cart", "shop class", "enum +"])
def test_other_texts_declare_nothing(text: str) -> None:
    found = analyse(text)
    assert (found.declared, found.kinds) == ((), frozenset())
