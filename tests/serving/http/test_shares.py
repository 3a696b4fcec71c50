from __future__ import annotations

from typing import Any

from pipelines.serving.http.shares import bars, is_definition
from tests.serving.fake_host import make_hit


def widths(*hits: dict[str, Any]) -> list[dict[str, float]]:
    return [{share.name: share.width for share in bar} for bar in bars([make_hit(**hit) for hit in hits])]


def test_ranks_share_what_they_gave_and_structure_has_the_rest() -> None:
    (bar,) = widths({"score": 0.4, "terms": {"rrf": 0.2, "lexical_rank": 1.0, "semantic_rank": 1.0, "definition": 0.0}})
    assert bar == {"lexical": 25.0, "semantic": 25.0, "place": 50.0}


def test_factors_below_one_shorten_what_the_ranks_gave() -> None:
    (bar,) = widths({"score": 0.1, "terms": {"rrf": 0.2, "symbol_rank": 1.0}})
    assert bar == {"symbol": 100.0}


def test_the_longest_bar_is_the_measure_and_a_definition_is_no_part_of_it() -> None:
    first, second = widths(
        {"score": 40.2, "terms": {"rrf": 0.2, "lexical_rank": 1.0, "definition": 40.0}},
        {"score": 0.1, "terms": {"rrf": 0.1, "lexical_rank": 3.0, "definition": 0.0}},
    )
    assert first == {"lexical": 100.0}
    assert second == {"lexical": 50.0}
    assert is_definition(make_hit(terms={"definition": 40.0}))
    assert not is_definition(make_hit(terms={}))


def test_a_weighted_sum_is_shown_by_its_terms() -> None:
    (bar,) = widths({"score": 0.5, "terms": {"semantic": 0.6, "sketch": 0.2, "blast": 0.2, "name": 0.0}})
    assert bar == {"lexical": 20.0, "semantic": 60.0, "place": 20.0}


def test_one_branch_alone_is_one_share() -> None:
    assert widths({"score": 3.0, "terms": {"bm25": 3.0}}) == [{"lexical": 100.0}]
    assert widths({"score": 0.8, "terms": {"cosine": 0.5}}) == [{"semantic": 100.0}]
    assert widths({"score": 0.0, "terms": {}}) == [{}]
    assert bars([]) == []
