from __future__ import annotations

import pytest

from pipelines.errors import InputError
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


@pytest.mark.parametrize(
    ("text", "name", "called"),
    [
        ("total(", ("total",), True),
        ("total(cart, tax(3));", ("total",), True),
        ("await cart(3)", ("cart",), True),
        ("await new Cart(3)", ("Cart",), False),
        ("cart->total(", ("cart", "total"), True),
        ("cart->total", ("cart", "total"), False),
        ("self.total(3)", ("total",), True),
        ("(*Cart).Total", ("Cart", "Total"), False),
        ("example.org/my-shop/cart.(*Cart).Total(0xc0)", ("cart", "Cart", "Total"), True),
        ("makeCart<Item>(3)", ("makeCart",), True),
        ("Cart.total", ("Cart", "total"), False),
        ("Cart.total()", ("Cart", "total"), True),
        ("total(cart) is wrong", (), False),
        ("total (of a cart)", (), False),
        ("one(1).two(2)", (), False),
    ],
)
def test_a_call_is_the_name_of_what_it_calls(text: str, name: tuple[str, ...], called: bool) -> None:
    found = analyse(text)
    assert (found.name, found.called) == (name, called)


def test_what_stands_before_a_member_may_be_left_out() -> None:
    every = (("shop", "cart", "total"), ("cart", "total"), ("total",))
    assert analyse("shop.cart.total()").names == every
    assert analyse("shop.cart.total").names == every
    assert analyse("shop::cart->total").names == every
    assert analyse("*cart.Item").names == (("cart", "Item"), ("Item",))
    assert analyse("two words").names == ()


@pytest.mark.parametrize(
    "text",
    ["cart.go", "Node.js", "package.json", "shop.cart.yml", "shop/cart.total", "shop\\Cart", "v1.20", "shop:cart"],
)
def test_a_file_or_a_path_is_no_member_of_a_variable(text: str) -> None:
    found = analyse(text)
    assert found.receiver == ""
    assert found.names == (found.name,)


@pytest.mark.parametrize(
    ("text", "receiver"),
    [("c.total", "c"), ("self.total()", "self"), ("a.b.total(", "b"), ("res.json()", "res"), ("total", "")],
)
def test_the_receiver_is_what_stands_before_the_last_part(text: str, receiver: str) -> None:
    assert analyse(text).receiver == receiver


@pytest.mark.parametrize(
    ("text", "spellings"),
    [
        ("abort_index", ("abortindex", "abort-index")),
        ("abortIndex", ("abort_index", "abort-index")),
        ("--abort-index", ("abortindex", "abort_index")),
        ("Call.abortIndex2", ("abort_index2", "abort-index2")),
        ("abort", ()),
        ("abort index", ()),
        ("abort-index.json", ()),
    ],
)
def test_one_name_has_several_spellings(text: str, spellings: tuple[str, ...]) -> None:
    assert analyse(text).spellings == spellings


def test_names_in_a_sentence_are_seen_by_their_form() -> None:
    found = analyse("why does RetryPolicy.next call `sleep` before max_retries, and not HTTP?").mentioned
    assert found == (("RetryPolicy", "next"), ("sleep",), ("max_retries",))
    assert analyse("why does malloc(size) return null").mentioned == (("malloc",),)


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


def test_a_phrase_counts_once_and_phrases_are_bounded() -> None:
    assert requirements('"sold out" ' * 5_000).phrases == ("sold out",)
    with pytest.raises(InputError, match="17 phrases"):
        requirements(" ".join(f'"phrase {number}"' for number in range(17)))


def test_keyword_and_takes_phrases_and_exclusions() -> None:
    wanted = requirements('cart "sold  out" -draft')
    assert wanted.terms == ("cart", "sold", "out")
    assert wanted.phrases == ("sold out",)
    assert wanted.excluded == ("draft",)


def test_a_quote_that_is_not_closed_goes_on_to_the_end() -> None:
    assert requirements('cart "sold  out ').phrases == ("sold out",)
    assert requirements('"sold').terms == ("sold",)
    assert requirements('cart "a"b c').phrases == ()


def test_a_query_that_only_excludes_is_refused() -> None:
    with pytest.raises(InputError, match="only excludes words"):
        requirements("-draft -sold")


@pytest.mark.parametrize("text", ['printf("hello")', '5" disk', "--error-on-warnings", "a - b", "x-draft"])
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
        ("def total(self, tax):", ("total",), "method"),
        ("func (c *Cart) Total(tax int) int {", ("Cart", "Total"), "method"),
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


@pytest.mark.parametrize("text", ["func", "import", "return", "class ", "func(c *shop.Cart)", "if (cart", "while("])
def test_a_keyword_alone_is_no_name(text: str) -> None:
    found = analyse(text)
    assert found.name == ()
    assert not {("func",), ("if",)}.intersection(found.mentioned)


@pytest.mark.parametrize("text", ["type", "default", "delete(", "c.import", "Class", "match"])
def test_a_word_that_may_be_a_name_is_one(text: str) -> None:
    assert analyse(text).name != ()
