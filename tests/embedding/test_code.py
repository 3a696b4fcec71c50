from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pipelines.embedding import CodeNumbers, make_encoder, write_code
from pipelines.embedding.code import CodeEncoder
from pipelines.embedding.code_files import MODEL_NAME, quantised
from pipelines.embedding.pieces import Pieces
from pipelines.embedding.recipe import compose
from pipelines.errors import EncoderError
from pipelines.settings import EmbedderSettings

LETTERS = list("abcdefghijklmnopqrstuvwxyz0123456789")
WORDS = ["read", "write", "file", "close", "parse", "url", "token", "get", "id"]
BUCKETS = 8
NAME_WEIGHT, PLACE_WEIGHT = 3.0, 1.0


def numbers(seed: int = 3, width: int = 256) -> CodeNumbers:
    random_numbers = np.random.default_rng(seed)
    rows = len(LETTERS) + len(WORDS) + BUCKETS
    table = random_numbers.standard_normal((rows, width), np.float32)
    return CodeNumbers(
        table,
        random_numbers.uniform(-2, 0, (2, rows)).astype(np.float32),
        (random_numbers.standard_normal((2, width)) / 50).astype(np.float32),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("code")
    write_code(made, [*LETTERS, *WORDS], numbers(), BUCKETS, NAME_WEIGHT, PLACE_WEIGHT)
    return made


def unit(vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    length: npt.NDArray[np.float64] = vector / np.linalg.norm(vector)
    return length


def expected(side: int, amounts: dict[str, float]) -> npt.NDArray[np.float64]:
    """Work out a vector from its definition."""
    given = numbers()
    whole, factors = quantised(given.table)
    total = np.zeros(256)
    for token, amount in amounts.items():
        row = [*LETTERS, *WORDS].index(token)
        total += amount * np.exp(given.weights[side, row]) * factors[row] * whole[row]
    return unit(unit(total) + given.bias[side])


def test_a_text_is_the_weighted_sum_of_its_tokens(folder: Path) -> None:
    encoder = CodeEncoder(folder, 256)
    (found,) = encoder.encode([compose("readFile", "readFile", "url.py", "", "", "read read close")])
    wanted = expected(0, {"read": np.log(3) + 3, "file": 3.0, "url": np.log(2), "close": np.log(2)})
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_a_question_has_weights_and_a_bias_of_its_own(folder: Path) -> None:
    found = CodeEncoder(folder, 256).encode_query("readFile close")
    wanted = expected(1, dict.fromkeys(("read", "file", "close"), float(np.log(2))))
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_fewer_dimensions_are_the_first_ones_at_length_one(folder: Path) -> None:
    text = compose("parse", "parse", "a/token.py", "", "", "get id")
    (wide,), (narrow,) = CodeEncoder(folder, 256).encode([text]), CodeEncoder(folder, 64).encode([text])
    np.testing.assert_allclose(narrow, unit(wide[:64].astype(np.float64)), atol=1e-6)


def test_a_vector_does_not_depend_on_its_batch(folder: Path) -> None:
    chooser = random.Random(5)
    texts = [
        " ".join(chooser.choices([*WORDS, "zq7", "naïve", "数据"], k=chooser.randint(1, 60))) for _ in range(1_000)
    ]
    encoder = CodeEncoder(folder, 256)
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    for size in (7, 512):
        batches = [encoder.encode(texts[start : start + size]) for start in range(0, len(texts), size)]
        assert np.array_equal(alone, np.concatenate(batches))
    order = chooser.sample(range(len(texts)), len(texts))
    assert np.array_equal(alone[order], encoder.encode([texts[place] for place in order]))


@pytest.mark.parametrize("text", ["", " \n \n ", "\0", "🙂🙂", "___"])
def test_a_text_without_a_token_has_no_vector(folder: Path, text: str) -> None:
    assert not CodeEncoder(folder, 256).encode([text]).any()


@pytest.mark.parametrize("text", ["数据库连接", "naïve", "x\0y", "read " * 200_000, "z" * 64])
def test_any_text_with_a_token_has_a_unit_vector(folder: Path, text: str) -> None:
    (found,) = CodeEncoder(folder, 256).encode([text])
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-5)


def test_equal_numbers_give_equal_files(folder: Path, tmp_path: Path) -> None:
    write_code(tmp_path, [*LETTERS, *WORDS], numbers(), BUCKETS, NAME_WEIGHT, PLACE_WEIGHT)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in folder.iterdir()
    }


def test_the_digest_covers_numbers_vocabulary_and_width(folder: Path, tmp_path: Path) -> None:
    digests = {CodeEncoder(folder, 256).digest, CodeEncoder(folder, 128).digest}
    write_code(tmp_path, [*LETTERS, *WORDS], numbers(seed=4), BUCKETS, NAME_WEIGHT, PLACE_WEIGHT)
    digests.add(CodeEncoder(tmp_path, 256).digest)
    write_code(tmp_path, [*LETTERS, *WORDS[::-1]], numbers(), BUCKETS, NAME_WEIGHT, PLACE_WEIGHT)
    digests.add(CodeEncoder(tmp_path, 256).digest)
    assert len(digests) == 4


def test_more_dimensions_than_the_model_has_are_refused(folder: Path) -> None:
    with pytest.raises(EncoderError, match="has 256 dimensions, not 512"):
        CodeEncoder(folder, 512)


def test_what_is_missing_or_damaged_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"has no .*code\.onnx"):
        make_encoder(EmbedderSettings("code"), tmp_path)
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / MODEL_NAME).write_bytes(b"no model")
    with pytest.raises(EncoderError, match="cannot be loaded"):
        CodeEncoder(tmp_path, 256).encode(["read"])


def test_whole_numbers_give_the_table_back_within_half_a_step() -> None:
    table = numbers().table
    whole, factors = quantised(table)
    assert np.abs(whole * factors[:, None] - table).max() <= factors.max() / 2 + 1e-6


# --- pieces ---


def test_a_known_word_is_one_token_and_another_is_cut_into_the_longest() -> None:
    pieces = Pieces([*LETTERS, *WORDS, "tok"], BUCKETS)
    tokens = [*LETTERS, *WORDS, "tok"]
    assert [tokens[row] for row in pieces.rows("token")] == ["token"]
    assert [tokens[row] for row in pieces.rows("tokurlx")] == ["tok", "url", "x"]


def test_a_long_number_tells_its_length_alone() -> None:
    pieces = Pieces(LETTERS, BUCKETS)
    assert len(pieces.rows("2024")) == 4
    assert pieces.rows("123456") == pieces.rows("654321")
    assert all(row >= len(LETTERS) for row in pieces.rows("123456"))


def test_a_word_of_another_script_shares_rows_with_its_parts() -> None:
    pieces = Pieces(LETTERS, 512)
    assert set(pieces.rows("数据")) < set(pieces.rows("数据库"))
