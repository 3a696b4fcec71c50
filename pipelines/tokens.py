"""Words and terms of code and prose: one analyser for index, query, bloom and vectors, so that the sides always agree.

A word is a run of letters, digits and underscores. `split_identifier` gives its parts (camel, snake, acronyms, digits);
`terms` gives what the lexical index holds: every word whole, its parts, and the compound it stands in
("package-lock.json", "foo::bar"), so that the exact token and each part are all found. Case is folded after splitting.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

#: A longer run of word characters is data (base64, minified code), not something that is searched for.
MAX_WORD_CHARS = 64
#: A compound has at most this many characters; longer dotted chains are found by their words.
_MAX_COMPOUND_CHARS = 80
_WORD = re.compile(r"\w+")
#: Possessive, and begun at a word's edge alone: a long run of letters is read once, not from each of its letters.
_COMPOUND = re.compile(r"(?<!\w)\w++(?:(?:::|[.\-])\w++)++")
_ASCII_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_ASCII_PART_BYTES = re.compile(_ASCII_PART.pattern.encode())
#: Scripts written without spaces: Han, kana, Hangul, Thai. Their runs are indexed as single letters and pairs.
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")


def normalise(text: str) -> str:
    """Return the text in the one Unicode form (NFKC) that both sides use."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=1 << 17)
def split_identifier(word: str) -> tuple[str, ...]:
    """Return the parts of a word, case-folded: parseHTTP2Response -> parse, http, 2, response."""
    return tuple(_ascii_parts(word) if word.isascii() else _split_unicode(word))


def split_ascii(word: bytes) -> list[bytes]:
    """Return the parts of an ASCII word as they are written: parseHTTP2Response -> parse, HTTP, 2, Response."""
    return _ASCII_PART_BYTES.findall(word)


def _ascii_parts(text: str) -> list[str]:
    """Return the parts of all words of an ASCII text; folded together, which is twice as fast as one by one."""
    return " ".join(_ASCII_PART.findall(text)).lower().split()


def _split_unicode(word: str) -> Iterator[str]:
    for piece in word.split("_"):
        start = 0
        for index in range(1, len(piece)):
            lower_upper = piece[index - 1].islower() and piece[index].isupper()
            digit_edge = piece[index - 1].isdecimal() != piece[index].isdecimal()
            if lower_upper or digit_edge:
                yield piece[start:index].casefold()
                start = index
        if piece:
            yield piece[start:].casefold()


@lru_cache(maxsize=1 << 17)
def _terms_of_word(word: str) -> tuple[str, ...]:
    found = [word.casefold()]
    parts = split_identifier(word)
    if len(parts) > 1:
        found += parts
    elif parts and parts[0] != found[0]:  # "_name", "__init__": the underscores are no part of what one types
        found.append(parts[0])
    for run in _UNSPACED.findall(word):
        found += run
        found += (run[index : index + 2] for index in range(len(run) - 1))
    return tuple(found)


def find_words(text: str) -> list[str]:
    """Return the words of a text as they are written, those that are too long among them."""
    return _WORD.findall(normalise(text))


def words(text: str) -> Iterator[str]:
    """Yield the case-folded parts of every word in order: what vectors and blooms are made of.

    `word_columns` does the same for whole columns.
    """
    if len(text) <= MAX_WORD_CHARS and text.isascii():  # a name: no word of it is too long
        yield from _ascii_parts(text)
        return
    for word in find_words(text):
        if len(word) <= MAX_WORD_CHARS:
            yield from split_identifier(word)


def terms(text: str) -> Iterator[str]:
    """Yield every term of the text, repeated as often as it occurs: words, their parts, compounds."""
    text = normalise(text)
    for word in _WORD.findall(text):
        if len(word) <= MAX_WORD_CHARS:
            yield from _terms_of_word(word)
    for compound in _COMPOUND.findall(text):
        if len(compound) <= _MAX_COMPOUND_CHARS:
            yield compound.casefold()


def whole_terms(text: str) -> list[str]:
    """Return the terms that a query must hold with keyword AND: whole words and compounds, without their parts."""
    text = normalise(text)
    compounds = [item for item in _COMPOUND.findall(text) if len(item) <= _MAX_COMPOUND_CHARS]
    rest = _COMPOUND.sub(lambda match: " " if len(match[0]) <= _MAX_COMPOUND_CHARS else match[0], text)
    found = [*compounds, *(word for word in _WORD.findall(rest) if len(word) <= MAX_WORD_CHARS)]
    return list(dict.fromkeys(item.casefold() for item in found))


@lru_cache(maxsize=1 << 17)
def term_hash(term: str) -> int:
    """Return the 64-bit hash under which a term stands in the index (blake2b, little-endian)."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
