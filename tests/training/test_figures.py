from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from pipelines.training.documentation import first_sentence
from pipelines.training.figures import is_held_back, measure
from pipelines.training.pairs import Pair

WORDS = ["apples", "pears", "plums", "figs"]


class Letters:
    """An encoder whose vectors say which of the words is there."""

    name = "letters"
    dimensions = len(WORDS)
    digest = "letters"

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.stack([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        return np.array([word in text for word in WORDS], np.float32)


def pair(word: str, doc: str, language: str = "python", package: str = "p") -> Pair:
    return Pair(package, language, "a.py", "f", "f", "def f()", doc, f"x = {word}")


def test_figures_are_those_of_the_ranks() -> None:
    sentence = "Count all the {} that are there."
    pairs = [pair(word, sentence.format(word)) for word in WORDS[:2]]
    pairs += [pair("plums", sentence.format("figs")), pair("figs", ""), pair("figs x", "")]
    found = measure(pairs, Letters())
    assert (found["questions"], found["texts"]) == (3, 5)
    # two come first; the third is behind two others, level with two: places 2, 3, 4, of which it gets the middle
    assert found["mrr@10 float"] == pytest.approx((1 + 1 + 1 / 4) / 3, abs=1e-4)
    assert found["recall@10 float"] == found["recall@10 bits"] == found["recall@10 rescored"] == 1
    assert found["languages"] == {}


def test_languages_with_many_questions_have_figures_of_their_own() -> None:
    pairs = [pair(f"apples {n}", f"Count the apples of kind {n} here.", "go", f"p{n}") for n in range(100)]
    found = measure([*pairs, pair("figs", "Count the figs that are there.")], Letters())
    assert list(found["languages"]) == ["go"]
    assert found["languages"]["go"]["questions"] == 100


def test_questions_are_clear_and_no_package_asks_too_many() -> None:
    pairs = [pair("figs", "Count them."), *(pair(f"pears {n}", "The very same sentence for all.") for n in range(3))]
    assert measure(pairs, Letters()) == {"questions": 0, "texts": 4}
    many = [pair(f"figs {n}", f"Count the figs of kind {n} here.") for n in range(200)]
    assert measure(many, Letters())["questions"] == 150


def test_families_are_held_back_as_a_whole() -> None:
    for family in ("@babel/core", "@babel/parser"), ("google-cloud-x", "google-auth"), ("librust-syn-dev", "syn"):
        assert len({is_held_back(name) for name in family}) == 1
    share = sum(is_held_back(f"name{number}") for number in range(3_000)) / 3_000
    assert 0.02 < share < 0.05


def test_the_question_is_the_first_sentence() -> None:
    asked: list[str] = []

    class Listening(Letters):
        def encode_query(self, text: str) -> npt.NDArray[np.float32]:
            asked.append(text)
            return super().encode_query(text)

    doc = "Count the figs that are there. And more."
    measure([pair("figs", doc)], Listening())
    assert first_sentence(doc) in asked
