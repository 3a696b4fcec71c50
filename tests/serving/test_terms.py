from __future__ import annotations

from pipelines.serving.terms import placing_terms, telling_terms
from tests.serving.fake_host import make_hit


def test_what_changes_nothing_is_not_told() -> None:
    hit = make_hit(distance=None, terms={"words": 0.2, "test": -0.7, "definition": 0.0})
    assert list(telling_terms(hit, "rrf")) == [("words", "0.2000"), ("test", "-0.7000")]


def test_a_place_is_told_as_one() -> None:
    hit = make_hit(distance=None, terms={"lexical_rank": 9.0, "lexical": 0.25})
    assert list(telling_terms(hit, "rrf")) == [("lexical_rank", "9"), ("lexical", "0.2500")]


def test_a_sum_has_no_neutral_terms() -> None:
    hit = make_hit(distance=71, terms={"semantic": 0.7, "blast": 1.0})
    assert list(telling_terms(hit, "late")) == [
        ("semantic", "0.7000"),
        ("blast", "1.0000"),
        ("distance in bits", "71"),
    ]


def test_what_only_places_a_hit_is_told_apart() -> None:
    assert placing_terms(make_hit(terms={"words": 2.0, "definition": 50.0, "held": 3.0})) == {
        "definition": 50.0,
        "held": 3.0,
    }
    assert placing_terms(make_hit(terms={"words": 2.0, "definition": 0.0})) == {}
