"""What holds for the two encoders that sum token vectors."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from pipelines.embedding import make_encoder, write_table
from pipelines.embedding.vocab import read_table
from pipelines.errors import EncoderError
from pipelines.records import Encoder
from pipelines.settings import EmbedderSettings
from tests.embedding.builders import DATA

ODD_TEXTS = ["", "   \n\t", "\0", "a\0b", "🙂", "naïve 数据库 кассовый 초과근무", "x " * 500_000, "\ud800", "q" * 70]


def encoder_named(name: str, dimensions: int = 256) -> Encoder:
    return make_encoder(EmbedderSettings(name=name, dimensions=dimensions), DATA)


#: Sign bits of one text at 64 dimensions; a change of them is a change of every stored vector: raise the revision.
GOLDEN = {"hash": "ffb678946cbd770b", "vocab": "a320c98c632515d4"}


@pytest.fixture(params=["vocab", "hash"])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    return encoder_named(request.param)


def many_texts(count: int = 600) -> list[str]:
    draw = random.Random(5)
    vocabulary = [f"word{index}" for index in range(900)] + ["return", "self", "the", "open", "file"]
    return [" ".join(draw.choices(vocabulary, k=draw.randrange(0, 90))) for _ in range(count)] + ODD_TEXTS


def test_a_text_has_one_vector_alone_in_any_batch_and_in_any_order(encoder: Encoder) -> None:
    texts = many_texts()
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    for size in (7, 512):
        parts = [encoder.encode(texts[start : start + size]) for start in range(0, len(texts), size)]
        assert np.concatenate(parts).tobytes() == alone.tobytes()
    order = list(range(len(texts)))
    random.Random(6).shuffle(order)
    assert encoder.encode([texts[index] for index in order]).tobytes() == alone[order].tobytes()


def test_vectors_are_unit_or_zero_and_finite_for_any_text(encoder: Encoder) -> None:
    vectors = encoder.encode(ODD_TEXTS)
    assert vectors.shape == (len(ODD_TEXTS), 256)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    has_word = np.array([False, False, False, True, False, True, True, False, False])
    np.testing.assert_allclose(lengths, has_word.astype(float), atol=1e-6)
    assert encoder.encode([]).shape == (0, 256)


def test_single_tokens_are_balanced_and_distinct(encoder: Encoder) -> None:
    bits = encoder.encode([f"{chr(97 + index % 26)}{chr(97 + index // 26)}mark" for index in range(676)]) > 0
    assert len(np.unique(bits, axis=0)) == 676
    share = bits.mean(axis=1)
    assert 0.3 < share.min() < share.max() < 0.7
    even, odd = bits[:, ::2].mean(), bits[:, 1::2].mean()
    assert abs(even - odd) < 0.02
    assert abs(bits.mean(axis=0) - 0.5).max() < 0.12


@pytest.mark.parametrize("dimensions", [64, 72, 256, 1024])
def test_any_width_is_filled(dimensions: int) -> None:
    for name in ("vocab", "hash"):
        vector = encoder_named(name, dimensions).encode_query("open file")
        assert vector.shape == (dimensions,)
        assert np.count_nonzero(vector) > dimensions // 4


def test_digests_tell_encoders_and_widths_apart() -> None:
    digests = {encoder_named(name, width).digest for name in ("vocab", "hash") for width in (64, 256)}
    assert len(digests) == 4
    assert encoder_named("vocab").digest == encoder_named("vocab").digest


def test_codes_are_those_of_every_machine() -> None:
    text = "parse http response return self"
    codes = {name: np.packbits(encoder_named(name, 64).encode([text])[0] > 0).tobytes().hex() for name in GOLDEN}
    assert codes == GOLDEN


def test_rare_words_outweigh_common_ones_and_unknown_ones_are_rarest() -> None:
    encoder = encoder_named("vocab")
    text = encoder.encode(["return self zyxwvut"])[0]
    rare, common = encoder.encode(["zyxwvut"])[0] @ text, encoder.encode(["return"])[0] @ text
    assert rare > 2 * common


def test_a_question_finds_the_text_that_shares_its_words() -> None:
    encoder = encoder_named("vocab")
    texts = ["retries retry a failed request until attempts are exhausted", "parses the price list of a warehouse"]
    question = encoder.encode_query("How are failing requests retried?")
    first, second = encoder.encode(texts) @ question
    assert first > second + 0.1


def test_a_missing_or_damaged_table_is_named(tmp_path: Path) -> None:
    settings = EmbedderSettings(name="vocab")
    with pytest.raises(EncoderError, match="vocab-idf"):
        make_encoder(settings, tmp_path)
    table = tmp_path / "vocab-idf.tsv.gz"
    table.write_bytes(b"not a table")
    with pytest.raises(EncoderError, match="vocab-idf"):
        make_encoder(settings, tmp_path).encode(["x"])
    table.write_bytes(write_table({"the": 0.5, "rare": 0.0000001}, 1_000_000))
    assert read_table(table) == {"the": 0.5, "rare": 0.000001}
    assert make_encoder(settings, tmp_path).digest != encoder_named("vocab").digest
