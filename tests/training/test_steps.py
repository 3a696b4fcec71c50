from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.embedding import compose, make_encoder
from pipelines.embedding.code import TokenWeights
from pipelines.errors import InputError
from pipelines.settings import EmbedderSettings
from pipelines.training import steps
from pipelines.training.batches import BATCH_ROWS, NAME_WEIGHT, PLACE_WEIGHT, Batches, text_amounts
from pipelines.training.corpus import Corpus, CorpusBuilder
from pipelines.training.encoder import Side, backward, encode
from pipelines.training.objective import contrast
from pipelines.training.pairs import SCHEMA, Pair
from tests.training.test_pairs import PYTHON, make_wheel

THINGS = ["cart", "order", "invoice", "parcel", "refund", "coupon", "ledger", "account", "ticket", "stock"]
DEEDS = [("read", "parse"), ("write", "store"), ("remove", "erase"), ("count", "tally"), ("close", "finish")]


def made_pairs(package: str, copies: int = 6) -> list[Pair]:
    """Make pairs whose documentation and code share no word for what is done, only one for what it is done to."""
    return [
        Pair(
            package,
            "python",
            f"{thing}.py",
            f"f{copy}",
            f"f{copy}",
            f"def f{copy}(x)",
            f"Please {said} the {thing} now.",
            f"return x.{done}_{thing}({copy})",
        )
        for thing in THINGS
        for said, done in DEEDS
        for copy in range(copies)
    ]


def made_corpus() -> Corpus:
    builder = CorpusBuilder()
    for package in ("one", "two"):
        builder.add(package, made_pairs(package))
    return builder.corpus()


def test_a_corpus_counts_the_tokens_of_each_part() -> None:
    corpus = made_corpus()
    rows = corpus.pieces.rows
    assert corpus.parts["body"].shape == (600, corpus.pieces.size)
    assert corpus.documented.all()
    first = corpus.parts["sentence"][0]
    assert {int(column) for column in first.indices} == {
        rows(word)[0] for word in ("please", "read", "the", "cart", "now")
    }
    assert corpus.tokens.index("parse") == rows("parse")[0]


def test_what_training_weighs_is_what_the_encoder_weighs() -> None:
    corpus = made_corpus()
    pair = made_pairs("one")[0]
    composed = compose(pair.name, pair.qualified_name, pair.path, pair.signature, "", pair.code)
    row = text_amounts(corpus, np.array([0])).sorted_indices()
    given = TokenWeights(corpus.pieces, NAME_WEIGHT, PLACE_WEIGHT).of(composed)
    assert list(given) == row.indices.tolist()
    np.testing.assert_allclose(list(given.values()), row.data, rtol=1e-5)


def test_gradients_are_those_of_the_loss() -> None:
    corpus = made_corpus()
    random = np.random.default_rng(0)
    batch = Batches(corpus, np.arange(600), random).draw()
    keep = np.arange(12)
    texts, questions = batch.texts[keep], batch.questions[keep]
    same = np.zeros((12, 12), np.bool_)
    table = random.standard_normal((corpus.pieces.size, 256))
    sides = [Side(random.standard_normal(corpus.pieces.size) / 3, random.standard_normal(256) / 30) for _ in range(2)]

    def loss() -> float:
        left, right = encode(questions, table, sides[1]), encode(texts, table, sides[0])
        return contrast(left.vectors, right.vectors, same, 1.5).value

    found = contrast(encode(questions, table, sides[1]).vectors, encode(texts, table, sides[0]).vectors, same, 1.5)
    gradient = backward(encode(texts, table, sides[0]), found.texts, table)
    token = int(gradient.tokens[3])
    for values, place, wanted in (
        (sides[0].weights, (token,), gradient.weights[3]),
        (sides[0].bias, (7,), gradient.bias[7]),
    ):
        before = values[place]
        values[place] = before + 1e-4
        above = loss()
        values[place] = before - 1e-4
        below = loss()
        values[place] = before
        assert (above - below) / 2e-4 == pytest.approx(float(wanted), rel=1e-3, abs=1e-7)


def test_batches_are_the_same_for_the_same_seed_and_mark_equal_questions() -> None:
    corpus = made_corpus()
    first, again = (Batches(corpus, np.arange(600), np.random.default_rng(4)).draw() for _ in range(2))
    assert (first.questions != again.questions).nnz == 0
    assert first.questions.shape[0] <= BATCH_ROWS
    assert first.same.any()
    assert not first.same.diagonal().any()


def test_training_learns_which_words_mean_the_same(tmp_path: Path) -> None:
    make_wheel(tmp_path, carts__money_dot_py=PYTHON)
    (tmp_path / "held-out.txt").write_text("# none\n")
    work, out = tmp_path / "work", tmp_path / "out"
    out.mkdir()
    told: list[str] = []
    assert steps.harvest_packages(tmp_path, tmp_path / "held-out.txt", work, told.append)["pairs"] == 2
    assert told == ["carts 1.0: 2 pairs, 1 documented"]
    for package in ("one", "two"):
        rows = [asdict(pair) for pair in made_pairs(package)]
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), work / "pairs" / f"{package}.parquet")
    steps.make_corpus(work)
    steps.initialise(work)
    learned = steps.learn(work, told.append, steps=150)
    steps.export(work, out, learned, "0123abc")
    story = json.loads((out / "code.json").read_text())
    assert (story["code_revision"], story["training"]["steps"]) == ("0123abc", 150)
    assert story["packages"][0]["licence"] == "MIT"
    encoder = make_encoder(EmbedderSettings("code"), out)
    texts = [compose("f", "f", "a.py", "", "", f"x {done} cart") for _, done in DEEDS]
    asked = np.stack([encoder.encode_query(f"Please {said} the cart now.") for said, _ in DEEDS])
    assert (encoder.encode(texts) @ asked.T).argmax(axis=0).tolist() == list(range(len(DEEDS)))


def test_training_without_documentation_says_so(tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    steps.make_corpus(tmp_path)
    with pytest.raises(InputError, match="no pair has a documentation"):
        steps.initialise(tmp_path)
