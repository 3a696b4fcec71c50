from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipelines.discover import file_type
from pipelines.discover.parsing.languages import LANGUAGES
from pipelines.training.packages import find_packages
from pipelines.training.pairs import (
    MAX_EQUAL_DOCS,
    SUFFIXES,
    Pair,
    harvest,
    without_copies,
    without_doc,
)
from tests.training.builders import make_wheel

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


def pair(code: str = "x = 1", doc: str = "") -> Pair:
    return Pair("p", "python", "a.py", "f", "f", "def f()", doc, code)


def test_definitions_of_every_language_give_pairs(tmp_path: Path) -> None:
    make_wheel(tmp_path, "carts", {"carts/money.py": PYTHON, "web/cart.ts": TYPESCRIPT, "tests/test_a.py": PYTHON})
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


def test_documentation_inside_code_is_taken_out_and_other_strings_stay() -> None:
    assert without_doc("def f():\r\n    'Doc.'\r\n    return 'x'", "python") == "def f():\n\n    return 'x'"
    assert without_doc("def f():\n    return 'x'", "python") == "def f():\n    return 'x'"
    elixir = 'defmodule A do\n  @moduledoc ~S"""\n  Says.\n  """\n  @doc "Adds."\n  def f(x), do: "x"\nend'
    assert without_doc(elixir, "elixir") == 'defmodule A do\n  \n  \n  def f(x), do: "x"\nend'
    assert without_doc(elixir, "ruby") == elixir


def test_the_extensions_are_those_of_the_languages_that_have_definitions() -> None:
    found = {getattr(file_type(f"a{suffix}"), "language", "") for suffix in SUFFIXES}
    assert found == set(LANGUAGES)
