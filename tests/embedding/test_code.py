from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pipelines.embedding import CodeNumbers, make_encoder, write_code
from pipelines.embedding.code import CodeEncoder, TokenWeights
from pipelines.embedding.code_files import MODEL_NAME, quantised
from pipelines.embedding.pieces import Pieces
from pipelines.embedding.recipe import fields
from pipelines.errors import EncoderError
from pipelines.settings import EmbedderSettings
from tests.embedding.builders import DATA, compose

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


def real_texts(count: int) -> list[str]:
    """Return composed texts of this project's own code: runs of lines of its files, of many lengths."""
    texts = []
    for path in sorted((DATA.parents[1] / "pipelines").rglob("*.py")):
        lines = path.read_text().splitlines(keepends=True)
        for start in range(0, len(lines), 19):
            length = 1 + (7 * start + len(lines)) % 43
            name = lines[start].partition("(")[0].rpartition(" ")[2].strip()
            texts.append(compose(name, name, path.name, "", "", "".join(lines[start : start + length])))
    return [text for text in dict.fromkeys(texts) if text][:count]


def test_a_vector_does_not_depend_on_its_batch() -> None:
    odd = ["", " \n\n ", "\0", "🙂", "数据库 连接", "naïve", "x\0y", "read " * 200_000, "z" * 64, "q\ud800"]
    texts = [*real_texts(990), *odd]
    assert len(texts) == 1_000
    encoder = CodeEncoder(DATA, 256)
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    for size in (7, 512, 1_000):
        batches = [encoder.encode(texts[start : start + size]) for start in range(0, len(texts), size)]
        assert np.concatenate(batches).tobytes() == alone.tobytes()
    order = random.Random(5).sample(range(len(texts)), len(texts))
    assert encoder.encode([texts[place] for place in order]).tobytes() == alone[order].tobytes()


def test_several_blocks_at_a_time_give_the_vectors_of_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(random.Random(number).choices(WORDS, k=1 + number % 30)) for number in range(200)]
    whole = CodeEncoder(folder, 256).encode(texts)
    monkeypatch.setattr("pipelines.embedding.code._BLOCK_TEXTS", 9)
    assert CodeEncoder(folder, 256).encode(texts).tobytes() == whole.tobytes()


def test_tokens_are_counted_as_their_definition_says(folder: Path) -> None:
    """Against the sums written out: each field counted by itself, then added token by token."""
    chooser = random.Random(3)
    texts = [
        "\n".join(" ".join(chooser.choices([*WORDS, "zq7", "数据", "12345"], k=k)) for k in (2, 3, 1 + number % 90))
        for number in range(60)
    ]
    pieces = Pieces([*LETTERS, *WORDS], BUCKETS)
    found = TokenWeights(pieces, NAME_WEIGHT, PLACE_WEIGHT).of(texts)
    for number, text in enumerate(texts):
        name, place, body = (
            Counter(row for word in line.split() for row in pieces.rows(word)) for line in fields(text)
        )
        wanted = {
            row: np.float32(np.log1p(body[row]) + PLACE_WEIGHT * np.log1p(place[row]) + NAME_WEIGHT * name[row])
            for row in sorted({*name, *place, *body})
        }
        own = slice(found.offsets[number], found.offsets[number + 1])
        assert found.rows[own].tolist() == list(wanted)
        np.testing.assert_array_equal(found.amounts[own], list(wanted.values()))


@pytest.mark.parametrize("text", ["", " \n \n ", "\0", "🙂🙂", "___"])
def test_a_text_without_a_token_has_no_vector(folder: Path, text: str) -> None:
    assert not CodeEncoder(folder, 256).encode([text]).any()


def test_no_text_has_no_vectors(folder: Path) -> None:
    assert CodeEncoder(folder, 128).encode([]).shape == (0, 128)


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
