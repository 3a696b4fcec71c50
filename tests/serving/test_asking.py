from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from pipelines.errors import InputError
from pipelines.records import SearchMode
from pipelines.retrieval import Query
from pipelines.serving.asking import FIELDS, MAX_VALUE_CHARS, MAX_VALUES, question, question_of_strings, schema


def test_a_query_alone_keeps_every_default() -> None:
    assert question({"query": "retry"}).query == Query("retry")


def test_every_field_of_a_query_can_be_asked_for() -> None:
    assert {field.attribute for field in FIELDS.values()} - {""} == {item.name for item in dataclasses.fields(Query)}


def test_every_field_reaches_the_query() -> None:
    asked = question(
        {
            "query": "retry",
            "repo": ["a", "b"],
            "limit": 3,
            "mode": "semantic",
            "fusion": "late",
            "keyword_and": True,
            "candidate_pool": 64.0,
            "path": "*.py",
            "language": ["python", "go"],
            "kind": ["function"],
            "expand": "blast",
            "expand_depth": 2,
        }
    )
    assert asked.repos == ("a", "b")
    assert asked.query == Query(
        "retry",
        limit=3,
        mode=SearchMode.SEMANTIC,
        fusion="late",
        keyword_and=True,
        candidate_pool=64,
        paths=("*.py",),
        languages=("python", "go"),
        kinds=("function",),
        expand="blast",
        expand_depth=2,
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "query is missing"),
        ({"query": 3}, "query must be a string"),
        ({"query": "   "}, "the query is empty"),
        ({"query": "x", "limti": 3}, "unknown field 'limti'"),
        ({"query": "x", "limit": "3"}, "limit must be a whole number"),
        ({"query": "x", "limit": True}, "limit must be a whole number"),
        ({"query": "x", "limit": 2.5}, "limit must be a whole number"),
        ({"query": "x", "limit": 0}, "limit = 0 is out of range"),
        ({"query": "x", "limit": -1}, "limit = -1 is out of range"),
        ({"query": "x", "limit": 10_000}, "limit = 10000 is out of range"),
        ({"query": "x", "limit": None}, "limit must be a whole number"),
        ({"query": "x", "explain": "yes"}, "explain must be a boolean"),
        ({"query": "x", "mode": "psychic"}, "mode 'psychic' is not known"),
        ({"query": "x", "path": 3}, "path must be a string or a list"),
        ({"query": "x", "path": ["a", 3]}, "path must be a string or a list"),
        ({"query": "x", "path": ["a"] * (MAX_VALUES + 1)}, "path has 33 values"),
        ({"query": "x", "path": "a" * (MAX_VALUE_CHARS + 1)}, "a value of path has 1001 characters"),
        ({"query": "x", "kind": ["poem"]}, "kind 'poem' is not known"),
        ({"query": "x" * 32_769}, "the query has 32769 characters"),
    ],
)
def test_a_wrong_field_is_named(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        question(given)
    assert told in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "given",
    [
        {"limit": 10**4_000},
        {"limit": -(10**4_000)},
        {"limit": 1e308},
        {"limit": float("inf")},
        {"mode": "y" * 100_000},
        {"kind": "y" * 1_000},
        {"y" * 100_000: 1},
    ],
)
def test_a_long_value_is_not_told_back_in_full(given: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        question({"query": "x", **given})
    assert len(caught.value.message) < 200


def test_the_parameters_of_an_address_are_read_as_they_are_meant() -> None:
    asked = question_of_strings(
        {"query": ["retry"], "limit": ["20"], "keyword_and": ["1"], "language": ["go", ""], "mode": [""], "path": []}
    )
    assert asked.query == Query("retry", limit=20, keyword_and=True, languages=("go",))
    assert not question_of_strings({"query": ["x"], "keyword_and": ["0"]}).query.keyword_and


@pytest.mark.parametrize("value", ["ten", "1" * 5_000, "٣", "-1", "1e3"])
def test_a_parameter_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(InputError):
        question_of_strings({"query": ["x"], "limit": [value]})


def test_the_schema_has_the_bounds_that_are_checked() -> None:
    properties = schema()["properties"]
    assert list(properties) == list(FIELDS)
    assert (properties["limit"]["minimum"], properties["limit"]["maximum"]) == (1, Query.ALLOWED["limit"][-1])
    assert properties["limit"]["default"] == Query("x").limit
    assert properties["mode"]["enum"] == list(Query.ALLOWED["mode"])
    assert properties["query"]["maxLength"] == Query.ALLOWED["text"][-1]
