from __future__ import annotations

from typing import Any

import pytest

from pipelines.errors import InputError
from pipelines.records import SearchMode
from pipelines.retrieval import Query


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_query_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="the query is empty"):
        Query(text)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"limit": 0}, "1 to 200"),
        ({"limit": 201}, "1 to 200"),
        ({"candidate_pool": 9}, "10 to 10000"),
        ({"scoring": "float"}, "int8, asymmetric"),
        ({"candidate_pool": 10_001}, "10 to 10000"),
        ({"mode": "fuzzy"}, "hybrid, semantic, lexical, symbol"),
        ({"fusion": "sum"}, "rrf, late"),
        ({"expand": "all"}, "neighbors, blast"),
        ({"expand_depth": 6}, "1 to 5"),
        ({"expand_depth": 2}, "give expand as well"),
        ({"kinds": ("verb",)}, "function"),
        ({"fusion": "late", "mode": "lexical"}, "hybrid or semantic"),
    ],
)
def test_a_refusal_names_what_is_allowed(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        Query("x", **options)


def test_a_mode_may_be_given_by_name() -> None:
    assert Query("x", mode="symbol").mode is SearchMode.SYMBOL  # type: ignore[arg-type]  # as a request gives it


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert Query("caf\udce9").text == "caf\ufffd"
    assert Query("🙂").text == "🙂"


def test_a_query_longer_than_any_function_is_refused() -> None:
    assert Query("x" * 10_000).text
    with pytest.raises(InputError, match="at most"):
        Query("x" * 40_000)


def test_common_words_are_no_marks_and_other_forms_are() -> None:
    marks = Query("how is a request routed by the with_retry").marks
    assert {"request", "requests", "routing", "with_retry", "retry"} <= marks
    assert marks.isdisjoint({"how", "is", "a", "by", "the", "with"})
