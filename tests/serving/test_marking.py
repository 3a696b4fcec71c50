from __future__ import annotations

import pytest

from pipelines.serving.marking import marked


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("", {"a"}, []),
        ("nothing here", {"a"}, [("nothing here", False)]),
        ("the Retry_Policy of it", {"retry"}, [("the ", False), ("Retry", True), ("_Policy of it", False)]),
        ("a redisDb", {"redis"}, [("a ", False), ("redis", True), ("Db", False)]),
        ("parseHTTP2", {"http"}, [("parse", False), ("HTTP", True), ("2", False)]),
        ("with_retry", {"with_retry"}, [("with_retry", True)]),
        ("a_with_retry_b", {"with", "retry"}, [("a_", False), ("with_retry", True), ("_b", False)]),
        ("__init__", {"init"}, [("__", False), ("init", True), ("__", False)]),
        ("größeWahl", {"wahl"}, [("größeWahl", True)]),
        ("retry retry", {"retry"}, [("retry", True), (" ", False), ("retry", True)]),
    ],
)
def test_words_and_wanted_parts_of_words_are_marked(text: str, wanted: set[str], found: list[tuple[str, bool]]) -> None:
    assert list(marked(text, wanted)) == found
    assert "".join(piece for piece, _ in marked(text, wanted)) == text
