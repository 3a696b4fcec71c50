from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.chunking.splitting import pack, split_lines
from pipelines.tokens import MAX_WORD_CHARS, words

#: Letters of one to four bytes, combining marks, joined signs, all kinds of line ends and separators.
ALPHABET = "ab_1.:- ;\t\n\r\u00e9\u0301\u4e2d\u200d\U0001f468\U0001f469\u2500"
TEXTS = st.text(ALPHABET, max_size=600)


@given(TEXTS, st.integers(1, 50))
def test_lines_joined_are_the_text_and_none_is_above_the_cap(text: str, cap: int) -> None:
    lines = list(split_lines(text, cap))
    assert "".join(lines) == text
    assert all(0 < len(line) <= max(cap, 1) for line in lines) or not text
    assert all("\n" not in line[:-1] for line in lines)


@given(TEXTS, st.integers(100, 200))
def test_no_cut_goes_between_what_a_reader_sees_as_one(text: str, cap: int) -> None:
    lines = list(split_lines(text, cap))
    for before, after in pairwise(lines):
        if not before.endswith("\n"):
            assert (before[-1], after[0]) != ("\r", "\n")


@pytest.mark.parametrize("shift", range(8))
@pytest.mark.parametrize("sign", ["─", "👩‍🚀", "中", "e\u0301"])
def test_a_sign_of_several_bytes_at_the_cap_stays_whole(sign: str, shift: int) -> None:
    text = "x" * (200 - shift) + sign * 60
    lines = list(split_lines(text, 200))
    assert "".join(lines) == text
    assert all(len(line) <= 200 for line in lines)
    for line in lines:
        assert not line.startswith(("\u0301", "\u200d"))
        assert not line.endswith("\u200d")


def test_a_line_without_any_place_to_cut_is_cut_all_the_same() -> None:
    text = "a\u0301" * 3 + "\u0301" * 500
    assert [len(line) for line in split_lines(text, 200)] == [200, 200, 106]


@given(st.lists(st.text("abC_1", min_size=1, max_size=40), max_size=60))
def test_no_word_is_lost_by_a_cut(names: list[str]) -> None:
    line = ";".join(names)
    found = {word for piece in split_lines(line, 100) for word in piece.split(";")}
    assert set(names) <= found


def test_long_line_is_cut_after_white_space_rather_than_inside_a_compound() -> None:
    text = "import " * 27 + "package.module.name rest"
    first, second = split_lines(text, 200)
    assert first.endswith("import ")
    assert second == "package.module.name rest"


def test_eight_megabytes_in_one_line_are_split_quickly_enough_to_be_tested() -> None:
    text = "a=function(){return 1};" * 350_000
    lines = list(split_lines(text, 3_000))
    assert max(map(len, lines)) <= 3_000
    assert "".join(lines) == text
    assert len("x" * MAX_WORD_CHARS) < 80
    assert {word for line in lines[:50] for word in words(line)} == {"a", "function", "return", "1"}


@given(st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=120), st.integers(40, 90))
def test_packed_pieces_follow_each_other_and_keep_the_cap(lines: list[tuple[int, bool]], cap: int) -> None:
    costs, blank = [cost for cost, _ in lines], [flag for _, flag in lines]
    pieces = list(pack(costs, blank, cap))
    assert [place for first, last in pieces for place in range(first, last)] == list(range(len(lines)))
    assert all(sum(costs[first:last]) <= cap for first, last in pieces)


@given(st.integers(1, 400), st.integers(20, 90))
def test_equal_lines_need_as_few_pieces_as_can_be_and_leave_no_crumb(count: int, cap: int) -> None:
    pieces = list(pack([1] * count, [False] * count, cap))
    assert len(pieces) == math.ceil(count / cap)
    assert len(pieces) == 1 or pieces[-1][1] - pieces[-1][0] >= cap // 2


def test_a_blank_line_near_the_cap_is_where_the_cut_goes() -> None:
    blank = [place == 84 for place in range(300)]
    assert next(pack([1] * 300, blank, 100)) == (0, 85)


def test_cuts_before_an_edit_stay_where_they_were() -> None:
    before = list(pack([1] * 1_000, [False] * 1_000, 100))
    after = list(pack([1] * 1_003, [False] * 1_003, 100))
    assert before[:8] == after[:8]
