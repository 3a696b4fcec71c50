from __future__ import annotations

from typing import Any

import pytest

from pipelines.retrieval.weights import LOWERING, WEIGHTS
from pipelines.serving.http.shares import bars, is_definition
from tests.serving.fake_host import make_hit


def widths(*hits: dict[str, Any]) -> list[dict[str, float]]:
    return [{share.name: share.width for share in bar} for bar in bars([make_hit(**hit) for hit in hits])]


def test_what_raises_a_score_is_divided_by_where_it_comes_from() -> None:
    terms = {"lexical": 1.0, "words": 1.0, "meaning": 2.0, "name": 1.0, "length": 3.0, "lexical_rank": 1.0}
    (bar,) = widths({"score": 8.0, "terms": terms})
    assert bar == {"lexical": 25.0, "semantic": 25.0, "symbol": 12.5, "place": 37.5}


def test_what_lowers_a_score_shortens_the_bar() -> None:
    first, second = widths(
        {"score": 4.0, "terms": {"words": 4.0}},
        {"score": 2.0, "terms": {"words": 4.0, "test": -2.0}},
    )
    assert (first, second) == ({"lexical": 100.0}, {"lexical": 50.0})


def test_the_longest_bar_is_the_measure_and_a_definition_is_no_part_of_it() -> None:
    first, second = widths(
        {"score": 52.0, "terms": {"words": 2.0, "definition": 50.0}}, {"score": 1.0, "terms": {"words": 1.0}}
    )
    assert first == {"lexical": 100.0}
    assert second == {"lexical": 50.0}
    assert is_definition(make_hit(terms={"definition": 50.0}))
    assert not is_definition(make_hit(terms={}))


def test_what_a_hit_is_held_at_is_no_part_of_its_bar() -> None:
    first, second, third = widths(
        {"score": 469.8, "terms": {"words": 19.8, "held": 450.0}},
        {"score": 469.8, "terms": {"words": 9.9, "definition": 459.9}},
        {"score": 4.95, "terms": {"words": 9.9, "held": -4.95}},
    )
    assert (first, second, third) == ({"lexical": 100.0}, {"lexical": 50.0}, {"lexical": 50.0})


def test_a_weighted_sum_is_shown_by_its_terms() -> None:
    (bar,) = widths({"score": 0.5, "terms": {"semantic": 0.6, "sketch": 0.2, "blast": 0.2, "name": 0.0}})
    assert bar == {"lexical": 20.0, "semantic": 60.0, "place": 20.0}


@pytest.mark.parametrize("term", sorted(WEIGHTS.keys() - LOWERING))
def test_whatever_raises_a_score_has_a_share(term: str) -> None:
    beside_words, beside_meaning = (
        widths({"score": 2.0, "terms": {term: 3.0, other: 1.0}})[0] for other in ("words", "meaning")
    )
    assert beside_words.keys() & beside_meaning.keys()


def test_one_branch_alone_is_one_share() -> None:
    assert widths({"score": 3.0, "terms": {"bm25": 3.0}}) == [{"lexical": 100.0}]
    assert widths({"score": 0.8, "terms": {"cosine": 0.5}}) == [{"semantic": 100.0}]
    assert widths({"score": 3.0, "terms": {"tier": 2.0, "symbol": 0.5}}) == [{"symbol": 100.0}]
    assert widths({"score": 0.0, "terms": {}}) == [{}]
    assert bars([]) == []
