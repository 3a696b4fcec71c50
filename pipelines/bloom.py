"""A 256-bit sketch of the words of a definition. In: text or words. Out: 32 bytes, which never deny a word they hold.

Each word sets two bits whose positions come from separate bytes of one hash, so that they are independent of each
other; a word may be held only if all its bits are set. The sketch is a prefilter and a term of the ranking: exact
postings decide what is found.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from pipelines.tokens import MAX_WORD_CHARS, normalise, split_ascii, words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: As formats.BLOOM_BYTES, which a parser process would load pyarrow for; a test compares the two.
_BYTES = 32
_RUN = re.compile(r"\w+")
#: Turns every ASCII character that stands in no word into a space: splitting then is five times as fast as matching.
_TO_SPACE = bytes(code if code > 127 or _RUN.match(chr(code)) else 32 for code in range(256))
#: Distinct runs and parts of words whose bits are remembered: about 50 MB of runs; of parts there are far fewer.
_REMEMBERED = 1 << 18
_SPACE = 32


class _PartBits(dict[bytes, int]):
    """The bits of each part of a word: bit n of the number is bit n % 8 of byte n // 8 of the sketch."""

    def __missing__(self, part: bytes) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        digest = hashlib.blake2b(part.lower(), digest_size=2).digest()  # of ASCII letters: others come folded
        bits = self[part] = (1 << digest[0]) | (1 << digest[1])
        return bits


class _RunBits(dict[bytes, int]):
    """The bits of each run of word characters, which holds one word or several."""

    def __missing__(self, run: bytes) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        if run.isascii():
            parts = split_ascii(run) if len(run) <= MAX_WORD_CHARS else []
        else:
            parts = list(map(_encoded, words(run.decode("utf-8", "surrogatepass"))))
        bits = self[run] = _united(_PARTS, parts)
        return bits


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _united(bits: dict[bytes, int], keys: Iterable[bytes]) -> int:
    """Return the bits of several words or runs together."""
    return reduce(or_, map(bits.__getitem__, keys), 0)


_PARTS = _PartBits()
_RUNS = _RunBits()


def make_bloom(items: Iterable[str]) -> bytes:
    """Return the sketch of a set of words, as `tokens.words` yields them."""
    return bloom_of_bits(_united(_PARTS, map(_encoded, items)))


def bloom_of_bits(bits: int) -> bytes:
    """Return the sketch with the bits of a number."""
    return bits.to_bytes(_BYTES, "little")


def text_bits(text: str) -> int:
    """Return the bits of the sketch of a text's words, looking at each distinct run of word characters once."""
    if text.isascii():
        return _united(_RUNS, set(text.encode().translate(_TO_SPACE).split()))
    return _united(_RUNS, set(map(_encoded, _RUN.findall(normalise(text)))))


class SpanBits:
    """The bits of parts of one text, given in its UTF-8 form."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._spaced = data.translate(_TO_SPACE)
        self._ascii = data.isascii()

    def of(self, start: int, end: int) -> int:
        """Return the bits of the words in a span."""
        spaced = self._spaced[start:end]
        if self._ascii or spaced.isascii():
            return _united(_RUNS, set(spaced.split()))
        return text_bits(self._data[start:end].decode("utf-8", "ignore"))

    def of_all(self, spans: Sequence[tuple[int, int]]) -> list[int]:
        """Return the bits of each span; what stands in spans inside each other is read once."""
        if not self._ascii:  # where two characters can be normalised to one, the bits of the parts are not those of all
            return [self.of(start, end) for start, end in spans]
        bits = [0] * len(spans)
        done = [start for start, _ in spans]  # up to where each span is read
        around: list[int] = []  # the spans that are open, each inside the one before it

        def close() -> None:
            inner = around.pop()
            end = spans[inner][1]
            bits[inner] |= self.of(done[inner], end)
            if around:
                bits[around[-1]] |= bits[inner]
                done[around[-1]] = end

        for index, (start, end) in enumerate(spans):
            while around and spans[around[-1]][1] <= start:
                close()
            if around:
                outer = around[-1]
                crosses = start < done[outer] or spans[outer][1] < end
                if crosses or self._cuts_a_run(start) or self._cuts_a_run(end):
                    bits[index] = self.of(start, end)
                    continue
                bits[outer] |= self.of(done[outer], start)
                done[outer] = start
            around.append(index)
        while around:
            close()
        return bits

    def _cuts_a_run(self, position: int) -> bool:
        return _SPACE not in self._spaced[position - 1 : position + 1]


def rows_that_may_hold(blooms: npt.NDArray[np.uint8], items: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Return, for (N, 32) sketches, an (N,) mask of the rows that may hold every one of the words."""
    import numpy as np  # not above: a parser process makes sketches, and compares none

    wanted = np.frombuffer(make_bloom(items), dtype=np.uint8)
    held: npt.NDArray[np.bool_] = ((blooms & wanted) == wanted).all(axis=1)
    return held
