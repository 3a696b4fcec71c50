from __future__ import annotations

import json
import random
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pipelines.embedding.sentencepiece_model import SentencePieceModel, sentencepiece_tokenizer
from pipelines.errors import EncoderError

FOLDER = Path(__file__).parent / "sentencepiece"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
XLM_R = {"tokenizer_class": "XLMRobertaTokenizer"}


def ids(name: str, text: str, *, special: bool = False, about: dict[str, Any] | None = None) -> list[int]:
    tokenizer = sentencepiece_tokenizer(FOLDER / f"{name}.model", about or {})
    found: list[int] = tokenizer.encode(text, add_special_tokens=special).ids
    return found


@pytest.mark.parametrize("name", sorted(EXPECTED["ids"]))
def test_ids_are_those_of_sentencepiece_itself(name: str) -> None:
    assert [ids(name, text) for text in EXPECTED["texts"]] == EXPECTED["ids"][name]


def test_xlm_r_moves_every_piece_up_by_one_and_has_its_special_tokens_first() -> None:
    plain = EXPECTED["ids"]["unigram"]
    moved = [[3 if number == 0 else number + 1 for number in row] for row in plain]
    assert [ids("unigram", text, about=XLM_R) for text in EXPECTED["texts"]] == moved
    tokenizer = sentencepiece_tokenizer(FOLDER / "unigram.model", XLM_R)
    assert [tokenizer.id_to_token(row) for row in range(4)] == ["<s>", "<pad>", "</s>", "<unk>"]
    assert tokenizer.id_to_token(tokenizer.get_vocab_size() - 1) == "<mask>"
    assert tokenizer.encode("open").tokens[:: len(tokenizer.encode("open").tokens) - 1] == ["<s>", "</s>"]


def test_the_name_of_the_file_stands_for_the_family_where_nothing_else_says_it(tmp_path: Path) -> None:
    copied = shutil.copyfile(FOLDER / "unigram.model", tmp_path / "sentencepiece.bpe.model")
    assert sentencepiece_tokenizer(copied, {}).encode("open").ids == ids("unigram", "open", special=True, about=XLM_R)
    other = {"tokenizer_class": "T5Tokenizer"}
    assert sentencepiece_tokenizer(copied, other).token_to_id("<pad>") is None


@pytest.mark.parametrize(
    ("name", "about", "first", "last"),
    [
        ("albert", {}, "[CLS]", "[SEP]"),
        ("t5", {}, "", "</s>"),
        ("bpe", {}, "<s>", ""),
        ("bpe", {"add_bos_token": True, "add_eos_token": True}, "<s>", "</s>"),
        ("bpe", {"add_bos_token": False}, "", ""),
    ],
)
def test_a_text_stands_between_the_tokens_of_its_family(
    name: str, about: dict[str, Any], first: str, last: str
) -> None:
    tokens = sentencepiece_tokenizer(FOLDER / f"{name}.model", about).encode("open the file").tokens
    inner = sentencepiece_tokenizer(FOLDER / f"{name}.model", about).encode("open the file", add_special_tokens=False)
    assert tokens == [*filter(None, [first]), *inner.tokens, *filter(None, [last])]


def test_a_damaged_file_is_refused_and_never_hangs(tmp_path: Path) -> None:
    whole = (FOLDER / "bpe.model").read_bytes()
    draw = random.Random(11)
    path = tmp_path / "broken.model"
    for _ in range(200):
        cut = bytearray(whole[: draw.randrange(1, len(whole))])
        cut[draw.randrange(len(cut))] ^= 1 << draw.randrange(8)
        path.write_bytes(cut)
        with suppress(EncoderError):
            SentencePieceModel.read(path)
    for content in (b"", b"\xff" * 40, b"\x0a\xff\xff\xff\xff\x0f", b"pieces"):
        path.write_bytes(content)
        with pytest.raises(EncoderError, match=r"broken\.model .*SentencePiece model"):
            SentencePieceModel.read(path)


def test_a_model_of_words_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "words.model"
    path.write_bytes((FOLDER / "unigram.model").read_bytes() + bytes([2 << 3 | 2, 2, 3 << 3, 3]))  # model_type = WORD
    with pytest.raises(EncoderError, match="not read"):
        SentencePieceModel.read(path)


def field(number: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


@pytest.mark.parametrize("charsmap", [bytes(4), b"\1", b"\3\0\0\0abc", b"\x08\0\0\0abcd"])
def test_a_charsmap_without_a_whole_trie_is_refused(tmp_path: Path, charsmap: bytes) -> None:
    path = tmp_path / "broken.model"
    path.write_bytes((FOLDER / "unigram.model").read_bytes() + field(3, field(2, charsmap)))
    with pytest.raises(EncoderError, match=r"broken\.model .*SentencePiece model"):
        SentencePieceModel.read(path)


def test_too_many_or_too_long_pieces_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.model"
    path.write_bytes(field(1, field(1, b"a" * 257)))
    with pytest.raises(EncoderError, match="a piece of 257 bytes"):
        SentencePieceModel.read(path)
    path.write_bytes(field(1, b"") * ((1 << 20) + 1))
    with pytest.raises(EncoderError, match="more than 1048576 pieces"):
        SentencePieceModel.read(path)
