from __future__ import annotations

from pipelines.retrieval.excerpt import MAX_LINE_CHARS, MAX_LINES, excerpt


def test_an_excerpt_begins_at_the_first_line_with_a_keyword() -> None:
    text = "def f():\n\n    a = 1\n    maxRetries = 3\n    return a\n"
    assert excerpt(text, ["retries"]) == "    maxRetries = 3\n    return a"


def test_without_a_keyword_it_is_the_beginning() -> None:
    assert excerpt("one\ntwo", ["absent"]) == "one\ntwo"
    assert excerpt("", ["absent"]) == ""


def test_lines_and_characters_are_bounded() -> None:
    shown = excerpt("\n".join(["é" * 10_000] * 50), [])
    assert shown.count("\n") == MAX_LINES - 1
    assert {len(line) for line in shown.split("\n")} == {MAX_LINE_CHARS}
    shown.encode()
