from __future__ import annotations

import pytest

from pipelines.training.documentation import first_sentence, plain_doc


@pytest.mark.parametrize(
    ("doc", "plain"),
    [
        ("Return the total of a cart.\n@param cart the cart", "Return the total of a cart."),
        ("Return the total.\nArgs:\n  cart: the cart", "Return the total."),
        ("Return the total.\nParameters\n----------\ncart : Cart", "Return the total."),
        ("Reads all the\narguments\nof a call.", "Reads all the arguments of a call."),
        ("Adds `a` and `b` up.\n>>> add(1, 2)", "Adds a and b up."),
        ("Adds a :class:`Cart`\nand a\n:class:`Price` up.\n:param str x: left", "Adds a Cart and a Price up."),
        ("Closes the cart for good.\n# Panics\nIf it is closed.", "Closes the cart for good."),
        ("Closes the cart for good.\n- Parameter now: when", "Closes the cart for good."),
        ("Returns it.", ""),
        ("", ""),
    ],
)
def test_a_documentation_is_read_up_to_its_tags(doc: str, plain: str) -> None:
    assert plain_doc(doc) == plain


@pytest.mark.parametrize(
    ("doc", "plain"),
    [
        (r"\brief Adds the prices up." "\n\\param cart the cart", "Adds the prices up."),
        ("@file\n@addtogroup carts\nAdds the prices up.", "Adds the prices up."),
        (
            '@endcond\n<summary>\nAdds the <see cref="Price"/> up.\n</summary>\n<returns>x</returns>',
            "Adds the Price up.",
        ),
        ("{@inheritDoc}\n<p>\nAlso adds the {@link Price prices} up.", "Also adds the Price prices up."),
        ("@param cart the cart\nthat is told\n@return true if the cart is paid", "Returns true if the cart is paid"),
        ("Returns:\nthe sum of prices", "the sum of prices"),
        ("@return array<string, Price>", ""),
        ("@total cart@ adds the @prices@ up.", "total cart adds the prices up."),
        ("@author A. Person\nAdds the prices up.", "Adds the prices up."),
        ("total_of:\n@cart: the cart\nAdds the prices up.", "Adds the prices up."),
        ("TODO: make this\nbetter some day", ""),
        ("eslint-disable-next-line no-x\nAdds the prices up.", "Adds the prices up."),
    ],
)
def test_a_documentation_that_begins_with_a_tag_still_says_something(doc: str, plain: str) -> None:
    assert plain_doc(doc) == plain


@pytest.mark.parametrize(
    ("doc", "plain"),
    [
        ("total adds the prices up.", "adds the prices up."),
        ("total() - adds the prices up.", "adds the prices up."),
        ("totals of all carts", "totals of all carts"),
        ("total a cart", "total a cart"),  # too little would be left
    ],
)
def test_that_it_begins_with_the_name_says_nothing(doc: str, plain: str) -> None:
    assert plain_doc(doc, "total") == plain


def test_a_documentation_that_never_ends_is_read_in_time() -> None:
    assert len(plain_doc("word " * 200_000)) <= 600
    for part in ("{@link ", "@", "@a ", "<", "\n@x", ":a ", "- ", "{@", "\\c "):
        plain_doc(part * 200_000)


def test_the_first_sentence_ends_at_its_full_stop() -> None:
    assert first_sentence("Read v1.2 of it. Then close.") == "Read v1.2 of it."
    assert first_sentence("Merges two (i.e. their parts). Then...") == "Merges two (i.e. their parts)."
    assert first_sentence("Prints ARG... to a file. Ends.") == "Prints ARG... to a file."
    assert first_sentence("no stop") == "no stop"
