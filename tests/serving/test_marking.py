from __future__ import annotations

import pytest

from pipelines.serving.marking import marked


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("", {"a"}, []),
        ("nothing here", {"a"}, [("nothing here", False)]),
        ("the Retry_Policy of it", {"retry"}, [("the ", False), ("Retry_Policy", True), (" of it", False)]),
        ("parseHTTP2", {"http"}, [("parseHTTP2", True)]),
        ("retry retry", {"retry"}, [("retry", True), (" ", False), ("retry", True)]),
    ],
)
def test_words_with_a_wanted_part_are_marked(text: str, wanted: set[str], found: list[tuple[str, bool]]) -> None:
    assert list(marked(text, wanted)) == found
    assert "".join(piece for piece, _ in marked(text, wanted)) == text
