from __future__ import annotations

import math

import pytest

from pipelines.evaluation.metrics import Outcome, figures, hit, ndcg, reciprocal_rank


def test_the_first_primary_target_decides_hits_and_reciprocal_rank() -> None:
    outcome = Outcome(primary=(4, 2, None), secondary=(1,))
    assert (hit(outcome, 1), hit(outcome, 3)) == (0.0, 1.0)
    assert reciprocal_rank(outcome) == 0.5
    assert reciprocal_rank(Outcome((None,))) == 0.0


def test_ndcg_by_hand() -> None:
    outcome = Outcome(primary=(2, None), secondary=(1,))
    gained = 0.5 / math.log2(2) + 1 / math.log2(3)
    best = 1 / math.log2(2) + 1 / math.log2(3) + 0.5 / math.log2(4)
    assert ndcg(outcome) == pytest.approx(gained / best)


def test_a_perfect_ranking_is_one_and_an_empty_one_zero() -> None:
    assert ndcg(Outcome((1, 2), (3,))) == pytest.approx(1.0)
    assert ndcg(Outcome(tuple(range(1, 11)) + (None,) * 5)) == pytest.approx(1.0)
    assert ndcg(Outcome((None,), (None,))) == 0.0


def test_figures_are_means() -> None:
    found = figures([Outcome((1,)), Outcome((2,)), Outcome((None,))])
    assert found.cases == 3
    assert found.hit_at_1 == pytest.approx(1 / 3)
    assert found.hit_at_3 == pytest.approx(2 / 3)
    assert found.mrr_at_10 == pytest.approx(0.5)
    assert figures([]).ndcg_at_10 == 0.0
