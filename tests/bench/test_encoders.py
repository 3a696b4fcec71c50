from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.embedding import make_encoder
from pipelines.errors import InputError
from pipelines.settings import EmbedderSettings
from pipelines.training.pairs import Pair
from resources.bundled import encoder_folder
from tests.bench.encoders import make_task
from tests.bench.held_out import LIST, Project, read_projects, refuse_seen
from tests.bench.ranking import bm25, by_vectors, difference, figures, fused, places
from tests.bench.remembered import Remembered

THINGS = ("cart", "order", "invoice", "parcel", "refund", "coupon", "ledger", "account", "ticket", "stock")


def make_pair(name: str, doc: str, code: str) -> Pair:
    return Pair("shop", "python", "shop/money.py", name, f"Shop.{name}", f"def {name}(self)", doc, code)


def make_pairs() -> list[Pair]:
    return [
        make_pair(f"f{number}", f"Looks after every {thing} of a shop.", f"return self.{thing}.all()")
        for number, thing in enumerate(THINGS)
    ]


def test_listed_projects_were_seen_by_no_training() -> None:
    refuse_seen(read_projects(LIST), encoder_folder())


def test_a_project_that_training_may_take_is_refused() -> None:
    with pytest.raises(InputError, match="boto3 is not kept out of training"):
        refuse_seen([Project("boto3", "pypi", "boto3", "1.0")], encoder_folder())


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="flask-9"), Project("flask", "pypi", "flask", "9").package(tmp_path):
        pass


def test_the_right_function_of_a_question_is_found() -> None:
    task = make_task(make_pairs(), 20, 20, names=True)
    assert len(task.questions) == len(task.texts) == len(THINGS)
    assert all(question.split()[3] in task.texts[row] for question, row in zip(task.questions, task.right, strict=True))
    vectors = by_vectors(task, make_encoder(EmbedderSettings("vocab"), encoder_folder()))
    for scores in (bm25(task), vectors["float"], vectors["bits, rescored"], fused(bm25(task), vectors["float"])):
        assert figures(places(task, scores)) == {"mrr": 1, "recall": 1, "ndcg": 1}


def test_a_sentence_that_gives_the_answer_away_is_no_question() -> None:
    named = make_pair("total", "Gives the total price of a cart.", "return 1")
    quoted = make_pair("show", "Explains what the machine does next.", "print('explains what the machine does next')")
    twice = [make_pair(name, "Tells the price of a thing.", name) for name in ("one", "two")]
    assert make_task([named, quoted, *twice], 9, 9, names=True).questions == []


def test_a_removed_name_is_gone_as_an_identifier_alone() -> None:
    pair = make_pair("walk", "", "self.walk(1); walk_all(); walk")
    (text,) = make_task([pair], 1, 1, names=False).texts
    assert text == "f\nshop shop money\ndef f self self f 1 walk all f"


def test_equal_scores_share_their_places_and_an_equal_method_is_no_better() -> None:
    task = make_task(make_pairs(), 20, 20, names=True)
    place = places(task, lambda start, end: np.zeros((end - start, len(task.texts)), np.float32))
    assert set(place) == {(len(THINGS) - 1) / 2}
    assert set(difference(place, place).values()) == {0}


def test_remembered_vectors_are_those_of_the_encoder(tmp_path: Path) -> None:
    encoder = make_encoder(EmbedderSettings("hash"), encoder_folder())
    texts = ["read cart", "write cart", "read cart"]
    for _ in range(2):  # the second time from the files alone
        kept = Remembered(encoder, tmp_path)
        assert np.array_equal(kept.encode(texts), encoder.encode(texts))
        assert np.array_equal(kept.encode_query("read"), encoder.encode_query("read"))
    assert sorted(path.name for path in tmp_path.rglob("*.npz")) == ["000000002.npz", "000000003.npz"]
