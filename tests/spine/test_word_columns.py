from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.tokens import words
from pipelines.word_columns import split_at_spaces, text_column, word_lines

#: Letters whose neighbours decide where an identifier is cut, scripts, separators, and what UTF-8 cannot hold.
_ODD = st.text(st.sampled_from("aBcDEf12_ -.\n\t\x00\x1c\x85ßéЖж数據\u0301ﬁ²½Ⅳ🙂\ud800"), max_size=40)


def lines(texts: list[str]) -> list[str]:
    found: list[str] = word_lines(text_column(texts)).to_pylist()
    return found


@given(st.lists(st.one_of(_ODD, st.text(), st.text(st.characters(codec="ascii"))), max_size=12))
def test_a_column_has_the_words_of_its_texts(texts: list[str]) -> None:
    assert lines(texts) == [" ".join(words(text)) for text in texts]


@pytest.mark.parametrize("length", [63, 64, 65, 5_000])
@pytest.mark.parametrize("letter", ["a", "A", "7", "_", "é"])
def test_the_longest_word_is_the_same(letter: str, length: int) -> None:
    text = f"x{letter * (length - 1)} y"
    assert lines([text]) == [" ".join(words(text))]


def test_a_part_of_a_column_is_as_good_as_a_whole_one() -> None:
    column = text_column(["one", "twoThree", "", "four", "fünf"])
    assert word_lines(column.slice(1, 3)).to_pylist() == ["two three", "", "four"]
    assert word_lines(column.slice(4)).to_pylist() == ["fünf"]
    assert word_lines(column.slice(5)).to_pylist() == []


def test_runs_between_spaces_are_numbered() -> None:
    found = split_at_spaces(pa.array(["a b", "", "b a a"], pa.large_string()))
    assert found.distinct.to_pylist() == ["a", "b", ""]
    assert found.numbers.tolist() == [0, 1, 2, 1, 0, 0]
    assert found.offsets.tolist() == [0, 2, 3, 6]
