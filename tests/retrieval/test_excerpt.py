from __future__ import annotations

from pipelines.retrieval.analysis import analyse
from pipelines.retrieval.excerpt import MAX_LINE_CHARS, MAX_LINES, Shown, show


def shown(text: str, query: str, *, name: str = "", signature: str = "", kind: str = "function") -> Shown:
    return show(text, analyse(query), name=name, signature=signature, kind=kind, language="python")


def test_an_excerpt_begins_at_the_line_with_most_keywords() -> None:
    text = "def f():\n    # retries\n    a = 1\n\n    maxRetries = 3\n    return a\n"
    assert shown(text, "how many max retries") == Shown(4, "    maxRetries = 3\n    return a")


def test_without_a_keyword_it_is_the_beginning_or_the_definition() -> None:
    assert shown("one\ntwo", "absent").excerpt == "one\ntwo"
    assert shown("", "absent") == Shown(0, "")
    assert shown("# why\ndef f(x):\n    pass", "absent", name="f", signature="def f(x)").line == 1


def test_a_named_definition_shows_the_line_with_its_name() -> None:
    text = "# retry is tried\n@wrapped\nasync def retry(\n    call,\n):\n    return call"
    assert shown(text, "retry", name="retry", signature="@wrapped async def retry( call, )").line == 2
    assert shown(text, "where is Loop.retry", name="retry", signature="async def retry( call, )").line == 2


def test_a_declared_name_shows_its_own_line() -> None:
    text = "class Limits:\n    def f(self):\n        return self.most\n\n    most = 3\n"
    assert shown(text, "most", name="Limits", signature="class Limits", kind="class").line == 4
    assert shown(text, "Most", name="Limits", signature="class Limits", kind="class").line == 4


def test_the_spelling_of_the_query_comes_before_another() -> None:
    text = 'MODE = read("SHOP_MODE")\n\nshopMode = 3\n'
    assert shown(text, "SHOP_MODE", kind="module").line == 0
    assert shown(text, "shop-mode", kind="module").line == 2


def test_lines_and_characters_are_bounded() -> None:
    excerpt = shown("\n".join(["é" * 10_000] * 50), "absent").excerpt
    assert excerpt.count("\n") == MAX_LINES - 1
    assert {len(line) for line in excerpt.split("\n")} == {MAX_LINE_CHARS}
    excerpt.encode()


def test_a_type_whose_name_stands_behind_its_body_shows_its_first_line() -> None:
    text = "typedef struct {\n    int at;\n} clock;"
    assert shown(text, "clock", name="clock", signature="typedef struct { int at; } clock;", kind="struct").line == 0


def test_a_message_that_was_pasted_shows_its_line() -> None:
    text = "def put(cart):\n    cart.full = 1\n    raise Full(f'cart {cart} is full of eggs already')\n"
    assert shown(text, "Full: cart 3 is full of eggs already", name="put", signature="def put(cart)").line == 2


def test_what_has_no_name_of_its_own_is_called_by_the_constant_that_its_line_is_in() -> None:
    text = "import os\n\nLIMIT = 3\nCOLOURS = [\n    'mauve',\n    'teal',\n]\n# nothing of olive\n"
    assert shown(text, "LIMIT", kind="module").name == "LIMIT"
    assert shown(text, "teal paint", kind="module").name == "COLOURS"
    assert shown(text, "olive", kind="module").name == ""
    assert shown("  - :class:`Olive`\n", "olive", kind="module").name == ""
    assert shown(text, "LIMIT", name="f", signature="def f()").name == ""
