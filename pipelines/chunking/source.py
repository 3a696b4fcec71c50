"""One file as the chunkers see it: UTF-8 bytes with line starts, and the spans in it that hold a secret.

All spans are half-open byte ranges of the UTF-8 form, as in the symbols table; lines are 1-based and end at LF only.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

_LF = re.compile(b"\n")


class Source:
    """The text of one file."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8")
        self.starts = [0, *(match.end() for match in _LF.finditer(self.data))]

    def __len__(self) -> int:
        return len(self.data)

    def text(self, start: int, end: int) -> str:
        """Return the text of a span."""
        return self.data[start:end].decode("utf-8")

    def line(self, offset: int) -> int:
        """Return the number of the line that holds a byte."""
        return bisect_right(self.starts, offset)

    def line_bounds(self, start: int, end: int) -> list[int]:
        """Return where each line of a span of whole lines begins, and where the last one ends."""
        return [*self.starts[self.line(start) - 1 : bisect_left(self.starts, end)], end]

    def line_start(self, offset: int) -> int:
        """Return where the line that holds a byte begins."""
        return self.starts[self.line(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Return where the line that holds a byte ends, its LF included."""
        line = self.line(offset)
        return self.starts[line] if line < len(self.starts) else len(self.data)


class SecretSpans:
    """The spans of one file that hold a secret, with the detector that found each."""

    def __init__(self, spans: Iterable[tuple[int, int, str]] = ()) -> None:
        self._spans = sorted(spans)
        self._starts = [start for start, _, _ in self._spans]
        self._reach = list(accumulate((end for _, end, _ in self._spans), max))

    def moved(self, move: Callable[[int, int], tuple[int, int]]) -> SecretSpans:
        """Return the spans at other places, without those that are empty there."""
        spans = [(*move(start, end), detector) for start, end, detector in self._spans]
        return SecretSpans((start, end, detector) for start, end, detector in spans if start < end)

    def detectors(self, start: int, end: int) -> list[str]:
        """Name the detectors of the secrets that a span touches, each once."""
        if not self._spans:
            return []
        first, last = bisect_right(self._reach, start), bisect_left(self._starts, end)
        return sorted({detector for _, stop, detector in self._spans[first:last] if stop > start})

    def touch(self, start: int, end: int) -> bool:
        """Tell whether a span touches a secret."""
        return bool(self.detectors(start, end))
