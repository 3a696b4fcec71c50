from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.evaluation import answer, means
from pipelines.evaluation.benchmark import Question, Subject, Target
from pipelines.retrieval import Variant, open_generation
from pipelines.serving.cli.commands import WAYS as SHOWN
from tests.retrieval.builders import Doc, WordEncoder, make_generation, make_store

DOCS = [
    Doc("retry.py", "def retry(): call again with growing delay", "retry"),
    Doc("cart.py", "class Cart: the items of an order", "Cart", kind="class"),
    Doc("zone.py", "def zone(): where an order is sent", "zone"),
]
SUBJECT = Subject(
    "shop",
    "python",
    "",
    (
        Question("call again with growing delay", "semantic", (Target("retry.py"),)),
        Question("Cart", "symbol", (Target("cart.py"),)),
    ),
)


def test_every_way_answers(tmp_path: Path) -> None:
    store, encoder = make_store(tmp_path), WordEncoder()
    with open_generation(store, "sample", make_generation(store, DOCS, encoder=encoder)) as generation:
        answers = answer(SUBJECT, store, generation, encoder, list(Variant.all()))
    rows = {(row["by"], row["group"], row["way"]): row for row in means(answers)}
    for way in Variant.all():
        assert rows["all", "", way]["questions"] == 2
        assert rows["category", "symbol", way]["ndcg_at_10"] == pytest.approx(1.0)
        if way != "symbol":  # a sentence names nothing
            assert rows["repository", "shop", way]["ndcg_at_10"] == pytest.approx(1.0)
            assert rows["language", "python", way]["ndcg_at_10"] == pytest.approx(1.0)


def test_the_command_names_the_ways_that_there_are() -> None:
    assert tuple(Variant.all()) == SHOWN
