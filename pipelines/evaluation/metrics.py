"""How good one ranking is. In: at which rank each target of a case was found. Out: figures in [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: Results that are looked at.
DEPTH = 10
#: What finding a target is worth: what was asked for, and what also helps.
PRIMARY_GAIN, SECONDARY_GAIN = 1.0, 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one query found: the rank (1-based) of each target, None where it is not among the first DEPTH."""

    primary: tuple[int | None, ...]
    secondary: tuple[int | None, ...] = ()

    @property
    def first(self) -> int | None:
        """Rank of the first primary target found."""
        return min((rank for rank in self.primary if rank is not None), default=None)


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over some cases, named as in formats.EVAL_TABLE."""

    cases: int
    hit_at_1: float
    hit_at_3: float
    mrr_at_10: float
    ndcg_at_10: float


def hit(outcome: Outcome, depth: int) -> float:
    """Return 1 if a primary target is among the first `depth` results, else 0."""
    return float(outcome.first is not None and outcome.first <= depth)


def reciprocal_rank(outcome: Outcome) -> float:
    """Return 1 / rank of the first primary target, 0 without one (Voorhees, TREC-8 1999)."""
    return 0.0 if outcome.first is None else 1 / outcome.first


def ndcg(outcome: Outcome) -> float:
    """Return the discounted gain sum(gain / log2(rank + 1)) over the best such sum possible within DEPTH ranks.

    Jarvelin and Kekalainen, ACM TOIS 20(4), 2002, with the usual discount; a target counts once, at its best rank.
    """
    graded = [(rank, PRIMARY_GAIN) for rank in outcome.primary] + [(rank, SECONDARY_GAIN) for rank in outcome.secondary]
    gained = sum(gain / math.log2(rank + 1) for rank, gain in graded if rank is not None)
    ideal = sorted((gain for _, gain in graded), reverse=True)[:DEPTH]
    best = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(ideal, 1))
    return gained / best if best else 0.0


def figures(outcomes: Sequence[Outcome]) -> Figures:
    """Return the means over the outcomes; of no outcomes all are 0."""
    count = len(outcomes)

    def mean(values: Sequence[float]) -> float:
        return math.fsum(values) / count if count else 0.0

    return Figures(
        cases=count,
        hit_at_1=mean([hit(item, 1) for item in outcomes]),
        hit_at_3=mean([hit(item, 3) for item in outcomes]),
        mrr_at_10=mean([reciprocal_rank(item) for item in outcomes]),
        ndcg_at_10=mean([ndcg(item) for item in outcomes]),
    )
