"""A 256-bit sketch of the words of a definition. In: text or words. Out: 32 bytes, which never deny a word they hold.

Each word sets two bits whose positions come from separate bytes of one hash, so that they are independent of each
other; a word may be held only if all its bits are set. The sketch is a prefilter and a term of the ranking: exact
postings decide what is found.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from pipelines.tokens import normalise, words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: As formats.BLOOM_BYTES, which a parser process would load pyarrow for; a test compares the two.
_BYTES = 32
_RUN = re.compile(r"\w+")
#: Turns every ASCII character that stands in no word into a space: splitting then is five times as fast as matching.
_TO_SPACE = {code: " " for code in range(128) if not _RUN.match(chr(code))}


@lru_cache(maxsize=1 << 17)
def _word_bits(word: str) -> int:
    """Return the bits of one word as a 256-bit number: bit n of the number is bit n % 8 of byte n // 8."""
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=2).digest()
    return (1 << digest[0]) | (1 << digest[1])


@lru_cache(maxsize=1 << 17)
def _run_bits(run: str) -> int:
    bits = 0
    for word in words(run):
        bits |= _word_bits(word)
    return bits


def make_bloom(items: Iterable[str]) -> bytes:
    """Return the sketch of a set of words, as `tokens.words` yields them."""
    bits = 0
    for word in items:
        bits |= _word_bits(word)
    return bits.to_bytes(_BYTES, "little")


def bloom_of_text(text: str) -> bytes:
    """Return `make_bloom(words(text))`, looking at each distinct run of word characters once."""
    bits = 0
    for run in set(text.translate(_TO_SPACE).split() if text.isascii() else _RUN.findall(normalise(text))):
        bits |= _run_bits(run)
    return bits.to_bytes(_BYTES, "little")


def may_hold(bloom: bytes, items: Iterable[str]) -> bool:
    """Tell whether a sketch may hold every one of the words; False is certain."""
    wanted = int.from_bytes(make_bloom(items), "little")
    return int.from_bytes(bloom, "little") & wanted == wanted


def rows_that_may_hold(blooms: npt.NDArray[np.uint8], items: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Return, for (N, 32) sketches, an (N,) mask of the rows that may hold every one of the words."""
    import numpy as np  # not above: a parser process makes sketches, and compares none

    wanted = np.frombuffer(make_bloom(items), dtype=np.uint8)
    held: npt.NDArray[np.bool_] = ((blooms & wanted) == wanted).all(axis=1)
    return held
