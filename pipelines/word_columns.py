"""The words of whole columns of text: what `tokens.words` yields, at a tenth of its cost. In: Arrow texts. Out: words.

A column is one run of bytes. All that is not a letter, digit or underscore is blanked in one pass, each distinct
identifier of the column is cut into its parts once, and Arrow puts the parts back in the order of the text. Only what
is not ASCII goes through Python text by text. Columns are of `large_string`, whose offsets have no limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.tokens import MAX_WORD_CHARS, find_words, split_identifier

TEXT = pa.large_string()
_SPACE = " "
_OTHER, _LOWER, _UPPER, _DIGIT = range(4)


def _kind(byte: int) -> int:
    letter = chr(byte)
    if not letter.isascii():
        return _OTHER
    return _LOWER if letter.islower() else _UPPER if letter.isupper() else _DIGIT if letter.isdigit() else _OTHER


_KIND = np.array([_kind(byte) for byte in range(256)], np.uint8)
#: Bytes of other scripts stay: where one occurs the words were found before.
_BLANKED = bytes(byte if _KIND[byte] or byte >= 0x80 or byte == ord("_") else ord(_SPACE) for byte in range(256))
_FOLDED = np.frombuffer(bytes(range(256)).lower(), np.uint8)


@dataclass(frozen=True, slots=True)
class Split:
    """The pieces of N texts: which of K distinct ones stand where."""

    distinct: pa.LargeStringArray  # (K)
    numbers: npt.NDArray[np.int32]  # places in `distinct`, text after text
    offsets: npt.NDArray[np.int64]  # (N + 1): where each text's numbers begin


def text_column(texts: Sequence[str]) -> pa.LargeStringArray:
    """Return texts as a column; a lone surrogate, which UTF-8 cannot hold, as U+FFFD: no part of any word either."""
    try:
        return pa.array(texts, TEXT)
    except UnicodeEncodeError:
        return pa.array([text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts], TEXT)


def word_lines(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return for each text its words, case-folded, with a space between two."""
    found = split_at_spaces(_blanked(_with_plain_words(texts)))
    parts = _parts(found.distinct)
    kept = (pc.binary_length(parts).to_numpy() > 0)[found.numbers]
    offsets = np.concatenate([[0], np.cumsum(kept)])[found.offsets]
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), parts.take(pa.array(found.numbers[kept])))
    return pc.binary_join(lists, pa.scalar(_SPACE, TEXT))


def split_at_spaces(texts: pa.LargeStringArray) -> Split:
    """Return the runs of each text between spaces; "" is one of an empty text, or of one that begins with a space."""
    lists = pc.ascii_split_whitespace(texts)
    encoded = lists.flatten().dictionary_encode()
    offsets = lists.offsets.to_numpy().astype(np.int64)
    return Split(encoded.dictionary, encoded.indices.to_numpy(), offsets - offsets[0])


def _with_plain_words(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Put the words of every text that is not ASCII in the place of it."""
    other = pc.invert(pc.string_is_ascii(texts))
    if not pc.any(other).as_py():
        return texts
    words = [_SPACE.join(find_words(text)) for text in texts.filter(other).to_pylist()]
    return pc.replace_with_mask(texts, other, pa.array(words, TEXT))


def _blanked(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    data, offsets = _content(texts)
    return _column(data.tobytes().translate(_BLANKED), offsets)


def _parts(words: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return the parts of each word with spaces between, "" for one that has none or is too long."""
    parts = _ascii_parts(words)
    other = pc.invert(pc.string_is_ascii(words))
    if not pc.any(other).as_py():
        return parts
    found = [
        _SPACE.join(split_identifier(word)) if len(word) <= MAX_WORD_CHARS else ""
        for word in words.filter(other).to_pylist()
    ]
    return pc.replace_with_mask(parts, other, pa.array(found, TEXT))


def _ascii_parts(words: pa.LargeStringArray) -> pa.LargeStringArray:
    """Do for a column what `tokens.split_identifier` does for a word; the bytes of other scripts are left out."""
    data, offsets = _content(words)
    lengths = np.diff(offsets)
    kinds = _KIND[data]
    kinds[np.repeat(lengths > MAX_WORD_CHARS, lengths)] = _OTHER
    first = np.zeros(len(data) + 1, np.bool_)
    first[offsets] = True
    before = np.concatenate([[_OTHER], kinds[:-1]]).astype(np.uint8)
    before[first[:-1]] = _OTHER
    after = np.concatenate([kinds[1:], [_OTHER]]).astype(np.uint8)
    after[first[1:]] = _OTHER
    kept = kinds != _OTHER
    # A capital begins a part unless it goes on with capitals; it also does where small letters follow the last one.
    begins = kept & (kinds != before) & ~((before == _UPPER) & (kinds == _LOWER))
    begins |= (kinds == _UPPER) & (before == _UPPER) & (after == _LOWER)
    starts = np.flatnonzero(begins)
    word_of = np.searchsorted(offsets, starts, "right")
    spaced = np.zeros(len(data), np.bool_)
    spaced[starts[1:][word_of[1:] == word_of[:-1]]] = True
    ends = np.cumsum(kept.astype(np.int64) + spaced)
    result = np.full(int(ends[-1]) if len(ends) else 0, ord(_SPACE), np.uint8)
    result[ends[kept] - 1] = _FOLDED[data[kept]]
    return _column(result.tobytes(), np.concatenate([[0], ends])[offsets])


def _content(texts: pa.LargeStringArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the bytes of a column, and where each text begins in them."""
    _, places, data = texts.buffers()
    offsets = np.frombuffer(places, np.int64, len(texts) + 1, 8 * texts.offset) if len(texts) else np.zeros(1, np.int64)
    size = int(offsets[-1] - offsets[0])
    content = np.frombuffer(data, np.uint8, size, int(offsets[0])) if size else np.zeros(0, np.uint8)
    return content, offsets - offsets[0]


def _column(data: bytes, offsets: npt.NDArray[np.int64]) -> pa.LargeStringArray:
    return pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(data)
    )
