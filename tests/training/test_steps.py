from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.embedding import make_encoder
from pipelines.embedding.code import TokenWeights
from pipelines.errors import InputError
from pipelines.settings import EmbedderSettings
from pipelines.training import manifest, steps
from pipelines.training.batches import BATCH_ROWS, NAME_WEIGHT, PLACE_WEIGHT, Batches, text_amounts
from pipelines.training.corpus import Corpus, CorpusBuilder
from pipelines.training.encoder import Side, backward, encode
from pipelines.training.figures import is_held_back
from pipelines.training.learning import Parameters
from pipelines.training.objective import contrast
from pipelines.training.pairs import SCHEMA, Pair
from pipelines.training.steps import TrainingFolder
from tests.embedding.builders import compose
from tests.training.builders import make_wheel
from tests.training.test_pairs import PYTHON

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
            f"Please {said} the {thing} now. Number {copy} of {package}.",
            f"return x.{done}_{thing}({copy}, {package})",
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
    given = TokenWeights(corpus.pieces, NAME_WEIGHT, PLACE_WEIGHT).of([composed])
    assert given.rows.tolist() == row.indices.tolist()
    np.testing.assert_allclose(given.amounts, row.data, rtol=1e-5)


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


def make_folder(root: Path, packages: Iterable[str] = ()) -> TrainingFolder:
    """Make a folder whose manifest names a wheel, and whose pairs are the made ones."""
    folder = TrainingFolder(root / "training", root / "bundled")
    for made in (folder.packages, folder.bundled, folder.work / "pairs"):
        made.mkdir(parents=True)
    folder.held_out.write_text("# none\n")
    for package in packages:
        rows = [asdict(pair) for pair in made_pairs(package)]
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), folder.work / "pairs" / f"{package}.parquet")
    (folder.work / "packages.json").write_text("[]")
    return folder


def test_pairs_are_taken_from_what_the_manifest_names(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    make_wheel(folder.packages, "carts", {"carts/money.py": PYTHON, "redis/a.py": PYTHON})
    folder.held_out.write_text("redis\n")
    manifest.main([str(folder.packages), str(folder.root / "packages.json")])
    told: list[str] = []
    assert steps.harvest_packages(folder, told.append) == {"packages": 1, "pairs": 2, "documented": 1}
    assert told == ["carts 1.0: 2 pairs, 1 documented"]
    before = (folder.work / "pairs" / "pypi-carts.parquet").read_bytes()
    assert steps.harvest_packages(folder, told.append, workers=2)["pairs"] == 2
    assert (folder.work / "pairs" / "pypi-carts.parquet").read_bytes() == before
    make_wheel(folder.packages, "stranger", {})
    with pytest.raises(InputError, match="pypi/stranger: is not in the manifest"):
        steps.harvest_packages(folder, told.append)


def test_training_learns_which_words_mean_the_same(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, ("one", "two"))
    told: list[str] = []
    steps.make_corpus(folder)
    steps.initialise(folder)
    steps.learn(folder, told.append, steps=150)
    assert told[0].startswith("step 100 of 150: loss ")
    steps.export(folder, "0123abc")
    story = json.loads((folder.encoder / "code.json").read_text())
    assert (story["code_revision"], story["training"]["steps"]) == ("0123abc", 150)
    encoder = make_encoder(EmbedderSettings("code"), folder.encoder)
    texts = [compose("f", "f", "a.py", "", "", f"x {done} cart") for _, done in DEEDS]
    asked = np.stack([encoder.encode_query(f"Please {said} the cart now.") for said, _ in DEEDS])
    assert (encoder.encode(texts) @ asked.T).argmax(axis=0).tolist() == list(range(len(DEEDS)))


def test_equal_seeds_learn_equal_numbers(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, ("one", "two"))
    found = []
    for _ in range(2):
        steps.make_corpus(folder)
        steps.initialise(folder)
        steps.learn(folder, lambda _line: None, steps=20)
        found.append(Parameters.load(folder.work / "encoder.npz"))
    assert found[0].table.tobytes() == found[1].table.tobytes()
    assert found[0].question.weights.tobytes() == found[1].question.weights.tobytes()


def test_what_is_held_back_is_neither_learned_nor_copied_and_gives_the_figures(tmp_path: Path) -> None:
    kept = next(name for name in map("kept{}".format, range(1000)) if is_held_back(name))
    folder = make_folder(tmp_path, ("one", "two", kept))
    rows = [Pair(kept, "python", "a.py", "f", "f", "def f(x)", f"Say why {deed} is so odd.", deed) for deed, _ in DEEDS]
    made = [*map(asdict, rows), asdict(replace(made_pairs("one")[0], package=kept))]
    pq.write_table(pa.Table.from_pylist(made, SCHEMA), folder.work / "pairs" / f"{kept}.parquet")
    counts = steps.make_corpus(folder)
    assert (counts["packages"], counts["held_back"]) == (2, len(DEEDS))
    assert "odd" not in steps.read_corpus(folder.work).tokens
    steps.initialise(folder)
    steps.learn(folder, lambda _line: None, steps=5)
    steps.export(folder, "0123abc")
    metrics = steps.evaluate(folder)
    assert metrics["questions"] == metrics["texts"] == len(DEEDS)
    assert json.loads((folder.encoder / "code.json").read_text())["metrics"] == metrics


def test_training_without_documentation_says_so(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    steps.make_corpus(folder)
    with pytest.raises(InputError, match="no pair has a documentation"):
        steps.initialise(folder)
