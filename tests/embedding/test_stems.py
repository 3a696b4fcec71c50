from __future__ import annotations

import pytest

from pipelines.embedding import features


@pytest.mark.parametrize(
    "forms",
    [
        ("parse", "parses", "parsed", "parsing"),
        ("query", "queries"),
        ("match", "matches", "matched", "matching"),
        ("stop", "stops", "stopped", "stopping"),
        ("index", "indexes", "indexed"),
        ("call", "calls", "called", "calling"),
    ],
)
def test_forms_of_a_word_are_one_feature(forms: tuple[str, ...]) -> None:
    assert len({features(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["class", "status", "this", "red", "sing", "string", "2", "io", "s"])
def test_words_that_only_look_inflected_are_whole(word: str) -> None:
    assert features(word) == (word,)


def test_a_script_without_spaces_gives_letters_and_pairs() -> None:
    assert {"数据", "据库"} <= set(features("数据库"))
