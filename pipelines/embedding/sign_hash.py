"""The `hash` encoder: no table and no model, for tests and as the least that any other encoder must beat.

A token's FNV-1a hash starts a SplitMix64 sequence, and each bit of that is the sign of one dimension. Place and sign
are thus independent: FNV's own low bit is the parity of the token's bytes and must decide neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pipelines.embedding.accumulate import accumulate
from pipelines.embedding.recipe import RECIPE, compose_query
from pipelines.fingerprint import fingerprint
from pipelines.tokens import words

_REVISION = 1
_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_MASK = (1 << 64) - 1
#: SplitMix64: the increment, then two rounds of shift and multiply.
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST_SHIFT = np.uint64(31)
_WORD_BITS = 64


class HashEncoder:
    """Sums of hashed token vectors, each token as often as it occurs, scaled to length 1."""

    name = "hash"

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    @property
    def digest(self) -> str:
        """Fingerprint of the rules of this module and of the text."""
        return fingerprint([self.name, _REVISION, RECIPE, self.dimensions])

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return (len(texts), dimensions) unit vectors; a zero row for a text without a word."""
        return accumulate([Counter(words(text)) for text in texts], self._signs, self.dimensions)

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the (dimensions,) vector of a question."""
        vector: npt.NDArray[np.float32] = self.encode([compose_query(text)])[0]
        return vector

    def _signs(self, tokens: Sequence[str]) -> npt.NDArray[np.int8]:
        seeds = np.array([_fnv1a(token) for token in tokens], np.uint64)
        steps = np.arange(1, -(-self.dimensions // _WORD_BITS) + 1, dtype=np.uint64) * _GAMMA
        mixed = seeds[:, None] + steps  # wraps around at 2^64, as it should
        for shift, factor in _ROUNDS:
            mixed = (mixed ^ (mixed >> shift)) * factor
        mixed ^= mixed >> _LAST_SHIFT
        bits = np.unpackbits(mixed.astype("<u8").view(np.uint8), axis=1, bitorder="little")[:, : self.dimensions]
        return bits.view(np.int8) * np.int8(2) - np.int8(1)


@lru_cache(maxsize=1 << 17)
def _fnv1a(token: str) -> int:
    """Return FNV-1a, 64 bits."""
    value = _FNV_OFFSET
    for byte in token.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * _FNV_PRIME) & _MASK
    return value
