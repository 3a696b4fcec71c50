"""From words to rows of the `code` encoder's table. In: case-folded words of `pipelines.tokens`. Out: row numbers.

A word of the vocabulary is one token. Any other word of ASCII letters is cut into tokens, each the longest that the
vocabulary has at that place: single letters and digits are in it, so nothing is lost. Of a long number only its length
is told. A word of another script gives its letters and pairs too, and each has a row by its hash, shared by chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property, lru_cache

from pipelines.tokens import terms

#: Part of the encoder's digest: equal vocabularies and rules give equal rows.
PIECES_VERSION = 1
#: A number of more digits is an id or a hash; it stands for all of its length, and that up to this many digits.
_MAX_NUMBER_DIGITS, _MAX_NUMBER_LENGTH = 4, 12
_CACHED_WORDS = 1 << 16
_CACHED_HASHES = 1 << 14


class Pieces:
    """A vocabulary: rows 0 to len(tokens) - 1 are its tokens', the `buckets` rows after them belong to hashes."""

    #: Longest token, in characters: no common word of code is longer.
    longest = 24

    def __init__(self, tokens: Sequence[str], buckets: int) -> None:
        self._rows = {token: row for row, token in enumerate(tokens)}
        self._buckets = buckets
        self.size = len(tokens) + buckets
        #: The rows of one word, () for one without a letter or digit that the vocabulary has.
        self.rows = lru_cache(maxsize=_CACHED_WORDS)(self._find)
        self._hashed = lru_cache(maxsize=_CACHED_HASHES)(self._hash)

    def __contains__(self, word: str) -> bool:
        """Tell whether a word is one token."""
        return word in self._rows

    def _find(self, word: str) -> tuple[int, ...]:
        row = self._rows.get(word)
        if row is not None:
            return (row,)
        if not word.isascii():
            return tuple(self._hashed(term) for term in terms(word))
        if word.isdigit() and len(word) > _MAX_NUMBER_DIGITS:
            return (self._hashed(f"#{min(len(word), _MAX_NUMBER_LENGTH)}"),)
        return tuple(self._cut(word))

    def _cut(self, word: str) -> list[int]:
        found: list[int] = []
        start = 0
        while start < len(word):
            longest = self._longest_from.get(word[start : start + 2], 1)
            for end in range(min(len(word), start + longest), start, -1):
                row = self._rows.get(word[start:end])
                if row is not None:
                    found.append(row)
                    break
            else:
                end = start + 1
            start = end
        return found

    @cached_property
    def _longest_from(self) -> dict[str, int]:
        """The length of the longest token that begins with two letters."""
        return {token[:2]: len(token) for token in sorted(self._rows, key=len)}

    def _hash(self, term: str) -> int:
        digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return len(self._rows) + int.from_bytes(digest, "little") % self._buckets
