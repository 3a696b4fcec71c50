from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.tokens import split_identifier, term_hash, terms, whole_terms, words


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserById", ["get", "user", "by", "id"]),
        ("parseHTTP2Response", ["parse", "http", "2", "response"]),
        ("snake_case_name2", ["snake", "case", "name", "2"]),
        ("oauth2Client", ["oauth", "2", "client"]),
        ("__init__", ["init"]),
        ("MAX_OLD_SPACE", ["max", "old", "space"]),
        ("наивныйРазбор", ["наивный", "разбор"]),
        ("_", []),
    ],
)
def test_identifiers_are_split(word: str, parts: list[str]) -> None:
    assert list(split_identifier(word)) == parts


@pytest.mark.parametrize(
    "token",
    [
        "AbortSignal",
        "package-lock.json",
        "ERR_HTTP_HEADERS_SENT",
        "max_old_space_size",
        "foo::bar",
        "кассовый",
        "naïve",
    ],
)
def test_the_exact_token_and_its_parts_are_terms(token: str) -> None:
    found = set(terms(f"x = call({token}) // why"))
    assert token.casefold() in found
    assert set(words(token)) <= found
    assert whole_terms(token) == [token.casefold()]


def test_unspaced_scripts_are_found_by_their_pieces() -> None:
    assert {"铁律", "服务"} <= set(terms("SSH铁律服务器"))
    assert {"초과", "근무"} <= set(terms("초과근무"))


def test_forms_of_one_letter_are_one_term() -> None:
    assert set(terms("cafe\u0301")) == set(terms("caf\u00e9"))


def test_data_is_not_a_word() -> None:
    assert list(terms("a" * 100_000)) == []


@given(st.text())
def test_query_and_index_agree(text: str) -> None:
    found = set(terms(text))
    assert set(whole_terms(text)) <= found
    assert all(0 <= term_hash(term) < 1 << 64 for term in found)
