"""Asking a benchmark in several ways: the whole, and the whole without a part. In: questions. Out: NDCG@10."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.evaluation.benchmark import Subject, outcome
from pipelines.evaluation.metrics import DEPTH, ndcg
from pipelines.records import Encoder
from pipelines.retrieval import Generation, Query, Variant
from pipelines.store import ArtifactStore


@dataclass(frozen=True, slots=True)
class Answered:
    """How well one question was answered in one way."""

    repository: str
    language: str
    category: str
    way: str
    ndcg: float


def answer(
    subject: Subject, store: ArtifactStore, generation: Generation, encoder: Encoder, ways: Sequence[str]
) -> list[Answered]:
    """Ask every question of a subject in some ways.

    :param generation: the index of its root. :param encoder: that of its vectors. :param ways: names of variants.
    """
    found = []
    for name in ways:
        variant = Variant.all()[name]
        searcher = variant.searcher(store, generation, encoder)
        for question in subject.questions:
            hits = searcher.search(Query(question.query, limit=DEPTH, **variant.options)).hits
            value = ndcg(outcome(subject, question, hits))
            found.append(Answered(subject.name, subject.language, question.category, name, value))
    return found


def means(answers: Sequence[Answered]) -> list[Mapping[str, Any]]:
    """Return the number of questions and the mean over all, by language, category and repository, for every way."""
    groups: dict[tuple[str, str, str], list[float]] = {}
    for by in ("all", "language", "category", "repository"):
        for item in answers:
            groups.setdefault((by, getattr(item, by, ""), item.way), []).append(item.ndcg)
    return [
        {"by": by, "group": group, "way": way, "questions": len(values), "ndcg_at_10": math.fsum(values) / len(values)}
        for (by, group, way), values in groups.items()
    ]
