from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.training.packages import find_packages
from pipelines.training.pairs import (
    MAX_EQUAL_DOCS,
    SUFFIXES,
    Pair,
    first_sentence,
    harvest,
    plain_doc,
    without_copies,
    without_docstring,
)

METADATA = "Metadata-Version: 2.1\nName: carts\nVersion: 1.0\nLicense-Expression: MIT\n"
PYTHON = '''
def total(cart):
    """Add up the prices of a cart.

    :param cart: what was chosen.
    """
    return sum(item.price for item in cart)


def bare(cart):
    first = cart[0]
    return first


def short(): return 1
'''
TYPESCRIPT = """
/**
 * Read a {@link Cart} from its <b>JSON</b> form.
 * @param text the form
 */
export function readCart(text: string): Cart {
  return JSON.parse(text);
}
"""


def make_wheel(folder: Path, **files: str) -> None:
    with zipfile.ZipFile(folder / "carts-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("carts-1.0.dist-info/METADATA", METADATA)
        for name, text in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), text)


def pair(code: str = "x = 1", doc: str = "") -> Pair:
    return Pair("p", "python", "a.py", "f", "f", "def f()", doc, code)


def test_definitions_of_every_language_give_pairs(tmp_path: Path) -> None:
    make_wheel(tmp_path, carts__money_dot_py=PYTHON, web__cart_dot_ts=TYPESCRIPT, tests__test_a_dot_py=PYTHON)
    (package,) = find_packages(tmp_path)
    found = {item.name: item for item in harvest(package, SUFFIXES)}
    assert {(name, item.language, item.doc) for name, item in found.items()} == {
        ("total", "python", "Add up the prices of a cart."),
        ("bare", "python", ""),
        ("readCart", "typescript", "Read a Cart from its JSON form."),
    }
    assert "Add up" not in found["total"].code
    assert found["total"].code.endswith("for item in cart)")
    assert found["total"].package == "carts"


def test_copies_and_worn_sentences_are_left_out() -> None:
    rows = [pair("a = 1"), pair("a  =  1"), *(pair(f"b{place} = 1", "Override this.") for place in range(9))]
    kept = list(without_copies(iter(rows)))
    assert [item.code for item in kept] == ["a = 1", *(f"b{place} = 1" for place in range(MAX_EQUAL_DOCS))]
    other = replace(pair("c = 1"), doc="Something else.")
    assert list(without_copies(iter([other]))) == [other]


@pytest.mark.parametrize(
    ("doc", "plain"),
    [
        ("Return the total of a cart.\n@param cart the cart", "Return the total of a cart."),
        ("Return the total.\nArgs:\n  cart: the cart", "Return the total."),
        ("Adds `a` and `b` up.\n>>> add(1, 2)", "Adds a and b up."),
        ("Returns it.", ""),
        ("", ""),
    ],
)
def test_a_documentation_is_read_up_to_its_tags(doc: str, plain: str) -> None:
    assert plain_doc(doc) == plain


def test_a_documentation_that_never_ends_is_read_in_time() -> None:
    assert plain_doc("{@link " * 200_000) != ""
    assert len(plain_doc("word " * 200_000)) <= 600


def test_the_first_sentence_ends_at_its_full_stop() -> None:
    assert first_sentence("Read v1.2 of it. Then close.") == "Read v1.2 of it."
    assert first_sentence("no stop") == "no stop"


def test_a_docstring_is_taken_out_and_other_strings_stay() -> None:
    assert without_docstring("def f():\n    'Doc.'\n    return 'x'") == "def f():\n\n    return 'x'"
    assert without_docstring("def f():\n    return 'x'") == "def f():\n    return 'x'"
