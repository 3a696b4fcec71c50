"""SentencePiece `.model` files, read as what they are: a protobuf of scored pieces and of rules for the text.

In: a file. Out: a tokenizer of the `tokenizers` package that gives the ids which the transformer was trained with.
Only what tokenising takes is read, by the wire format; the sentencepiece package is not needed. Models of the XLM-R
family number their pieces in fairseq's way: four special tokens go first and everything else moves up by one.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.errors import EncoderError

if TYPE_CHECKING:
    import tokenizers

#: Names of such files beside a model, as the tools that save them choose; the first is that of the XLM-R family.
FAIRSEQ_NAME = "sentencepiece.bpe.model"
NAMES = (FAIRSEQ_NAME, "spiece.model", "spm.model", "tokenizer.model")
#: Larger than any of them: multilingual ones of 250,000 pieces have 5 MB.
_MOST_BYTES = 64 << 20
#: Four times as many as the largest vocabularies have.
_MOST_PIECES = 1 << 20
#: In UTF-8; trainers stop at 16 characters unless told otherwise. Bounds what splitting pieces into pairs takes.
_MOST_PIECE_BYTES = 256
#: What stands for a space inside a piece.
_SPACE = "\u2581"
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_UNIGRAM, _BPE = 1, 2
_FAIRSEQ_FIRST = ("<s>", "<pad>", "</s>", "<unk>")
_FAIRSEQ_LAST = "<mask>"
_HINT = "save it as tokenizer.json, as its transformers tokenizer does, and give that with --tokenizer"
# Wire types of protobuf.
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Fields = Iterator[tuple[int, Any]]


@dataclass(slots=True)
class SentencePieceModel:
    """The content of a file."""

    pieces: list[tuple[str, float, int]] = field(default_factory=list)  # text, score, type; in order of their ids
    kind: int = _UNIGRAM
    unknown: int = 0
    begin: int = 1  # -1: there is none
    end: int = 2
    byte_fallback: bool = False
    space_after: bool = False  # spaces belong to the word before them
    charsmap: bytes = b""
    leading_space: bool = True
    single_spaces: bool = True

    @classmethod
    def read(cls, path: Path) -> SentencePieceModel:
        """Read a file.

        :raises EncoderError: if it is not such a file, or of a kind that no tokenizer is made of here.
        """
        data = path.read_bytes()
        model = cls()
        try:
            if len(data) > _MOST_BYTES:
                raise ValueError(f"{len(data)} bytes")
            model._fill(data)
        except (ValueError, TypeError, IndexError, struct.error) as error:
            raise EncoderError(f"tokenizer {path} is not a SentencePiece model: {error}", hint=_HINT) from error
        if not model.pieces or model.kind not in (_UNIGRAM, _BPE) or model.space_after:
            raise EncoderError(f"tokenizer {path} is a SentencePiece model of a kind that is not read", hint=_HINT)
        return model

    def _fill(self, data: bytes) -> None:
        for number, value in _fields(data):
            if number == 1:
                if len(self.pieces) == _MOST_PIECES:
                    raise ValueError(f"more than {_MOST_PIECES} pieces")
                self.pieces.append(_piece(value))
            elif number == 2:
                self._train(value)
            elif number == 3:
                self._normalise(value)

    def _train(self, data: bytes) -> None:
        for number, value in _fields(data):
            if number == 3:
                self.kind = value
            elif number == 24:
                self.space_after = bool(value)
            elif number == 35:
                self.byte_fallback = bool(value)
            elif number == 40:
                self.unknown = _signed(value)
            elif number == 41:
                self.begin = _signed(value)
            elif number == 42:
                self.end = _signed(value)

    def _normalise(self, data: bytes) -> None:
        for number, value in _fields(data):
            if number == 2:
                self.charsmap = _charsmap(value)
            elif number == 3:
                self.leading_space = bool(value)
            elif number == 4:
                self.single_spaces = bool(value)


def sentencepiece_tokenizer(path: Path, about: Mapping[str, Any]) -> tokenizers.Tokenizer:
    """Return a tokenizer that gives the ids of a SentencePiece model, special tokens included.

    :param path: the .model file. :param about: the tokenizer_config.json beside it, empty without one.
    :raises EncoderError: if the file cannot be read.
    """
    import tokenizers
    from tokenizers import normalizers, pre_tokenizers

    model = SentencePieceModel.read(path)
    fairseq = _is_fairseq(path, about)
    vocabulary = _fairseq_order(model) if fairseq else [(text, score) for text, score, _ in model.pieces]
    tokenizer = tokenizers.Tokenizer(_model(model, vocabulary, fairseq))
    steps: list[Any] = [normalizers.Precompiled(model.charsmap)] if model.charsmap else []
    if model.single_spaces:
        steps += [
            normalizers.Replace(tokenizers.Regex(" {2,}"), " "),
            normalizers.Replace(tokenizers.Regex("^ | $"), ""),
        ]
    steps += [normalizers.Prepend(_SPACE)] if model.leading_space else []
    tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", _SPACE)])
    if not any(_SPACE in text[1:] for text, _, kind in model.pieces if kind == _NORMAL):
        # No piece reaches over a space, so words are looked up one by one, and remembered.
        tokenizer.pre_tokenizer = pre_tokenizers.Split(_SPACE, "merged_with_next")
    tokenizer.post_processor = _frame(tokenizer, model, about, fairseq)
    return tokenizer


def _is_fairseq(path: Path, about: Mapping[str, Any]) -> bool:
    named = str(about.get("tokenizer_class", ""))
    return named.startswith("XLMRoberta") if named else path.name == FAIRSEQ_NAME


def _fairseq_order(model: SentencePieceModel) -> list[tuple[str, float]]:
    own = [(text, score) for text, score, kind in model.pieces if kind not in (_UNKNOWN, _CONTROL)]
    return [*((text, 0.0) for text in _FAIRSEQ_FIRST), *own, (_FAIRSEQ_LAST, 0.0)]


def _model(model: SentencePieceModel, vocabulary: list[tuple[str, float]], fairseq: bool) -> Any:
    from tokenizers import models

    unknown = _FAIRSEQ_FIRST.index("<unk>") if fairseq else model.unknown
    if model.kind == _UNIGRAM:
        return models.Unigram(vocabulary, unk_id=unknown, byte_fallback=model.byte_fallback)
    ids = {text: row for row, (text, _) in enumerate(vocabulary)}
    return models.BPE(
        ids,
        _merges(model),
        unk_token=vocabulary[unknown][0],
        fuse_unk=True,
        byte_fallback=model.byte_fallback,
    )


def _merges(model: SentencePieceModel) -> list[tuple[str, str]]:
    """Return the pairs that join to a piece, in the order in which they are joined: the best score first."""
    scores = {text: score for text, score, kind in model.pieces if kind in (_NORMAL, _USER_DEFINED)}
    pairs = [
        (-score, text[:place], text[place:])
        for text, score in scores.items()
        for place in range(1, len(text))
        if text[:place] in scores and text[place:] in scores
    ]
    return [(left, right) for _, left, right in sorted(pairs, key=lambda pair: pair[0])]


def _frame(tokenizer: tokenizers.Tokenizer, model: SentencePieceModel, about: Mapping[str, Any], fairseq: bool) -> Any:
    """Return what puts the tokens of begin and end around a text."""
    from tokenizers import processors

    begin, end = _ends(model, about, fairseq)
    special = [(text, tokenizer.token_to_id(text)) for text in dict.fromkeys((begin, end)) if text]
    return processors.TemplateProcessing(
        single=" ".join(filter(None, (begin, "$A", end))),
        special_tokens=special,
    )


def _ends(model: SentencePieceModel, about: Mapping[str, Any], fairseq: bool) -> tuple[str, str]:
    if fairseq:
        return _FAIRSEQ_FIRST[0], _FAIRSEQ_FIRST[2]
    texts = [text for text, _, _ in model.pieces]
    if "[CLS]" in texts and "[SEP]" in texts:
        return "[CLS]", "[SEP]"
    begin = texts[model.begin] if 0 <= model.begin < len(texts) else ""
    end = texts[model.end] if 0 <= model.end < len(texts) else ""
    # Models that read only what stands before begin their texts; T5 and its kin, which have no begin, end them.
    with_begin = bool(about.get("add_bos_token", bool(begin)))
    with_end = bool(about.get("add_eos_token", not begin))
    return begin if with_begin else "", end if with_end else ""


def _piece(data: bytes) -> tuple[str, float, int]:
    text, score, kind = "", 0.0, _NORMAL
    for number, value in _fields(data):
        if number == 1:
            if len(value) > _MOST_PIECE_BYTES:
                raise ValueError(f"a piece of {len(value)} bytes")
            text = bytes(value).decode("utf-8")
        elif number == 2:
            (score,) = struct.unpack("<f", value)
        elif number == 3:
            kind = value
    if not math.isfinite(score):
        raise ValueError(f"piece {text!r} has no finite score")
    return text, score, kind


def _charsmap(data: bytes) -> bytes:
    """Return the rules for characters: the size of a trie, the trie in units of four bytes, and what it leads to."""
    if data:
        (size,) = struct.unpack_from("<I", data)
        if size == 0 or size % 4 or 4 + size > len(data):
            raise ValueError(f"a charsmap of {len(data)} bytes has a trie of {size}")
    return bytes(data)


def _fields(data: bytes) -> Fields:
    """Yield number and value of each field of a protobuf message; of fixed width and text, the bytes."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        wire = key & 7
        if wire == _VARINT:
            value, place = _varint(data, place)
            yield key >> 3, value
            continue
        if wire == _BYTES:
            size, place = _varint(data, place)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise ValueError(f"unknown wire type {wire}")
        if place + size > len(data):
            raise ValueError("it is cut off")
        yield key >> 3, data[place : place + size]
        place += size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, and where the next byte stands."""
    value = shift = 0
    while shift < 70:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
    raise ValueError("a number of more than ten bytes")


def _signed(value: int) -> int:
    """Return a number of 64 bits as what it is where it may be negative."""
    return value - (1 << 64) if value >= 1 << 63 else value
