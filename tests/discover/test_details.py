from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.discover.details import MAX_DETAIL_CHARS, safe_detail
from pipelines.discover.parsing.parse import Outcome, ParsedFile
from pipelines.records import SkipReason

TOKEN = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


@pytest.mark.parametrize(
    ("detail", "shown"),
    [
        ("NUL at byte 7", "NUL at byte 7"),
        ("café 日本 🙂", "café 日本 🙂"),
        ("one\r\ntwo\tthree\u2028four", "one two three four"),
        ("a\x1b[31mb\ud800c\u202ed", "a\ufffd[31mb\ufffdc\ufffdd"),
        (f"no grammar for {TOKEN}", "no grammar for " + "_" * len(TOKEN)),
        ("x" * 10_000_000, "x" * MAX_DETAIL_CHARS),
        ("", ""),
    ],
)
def test_a_detail_is_one_short_line_without_secrets(detail: str, shown: str) -> None:
    assert safe_detail(detail) == shown


def test_no_part_of_a_secret_is_left_where_a_detail_is_cut() -> None:
    assert TOKEN[:4] not in safe_detail("a " * 90 + TOKEN)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_detail_can_be_stored(text: str) -> None:
    detail = safe_detail(text)
    assert len(detail) <= MAX_DETAIL_CHARS
    assert len(detail.encode().splitlines()) <= 1


def test_whatever_hands_over_an_outcome_its_detail_is_safe() -> None:
    assert ParsedFile.skipped(SkipReason.CRASHED, "\ud800\n" * 500).skip_detail == ("\ufffd " * 100).strip() + " "
    assert Outcome("utf-8", 1, 0, 0, None, f"{TOKEN}\x1b").skip_detail == "_" * len(TOKEN) + "\ufffd"
    assert Outcome().skip_detail is None
