"""The text of one file as the walker sees it: bytes of its UTF-8 form, in which no secret can be read."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from pipelines.offsets import Span

_NOT_LINE_END = re.compile(rb"[^\r\n]")
#: Stands for each byte of a secret: valid inside strings and names, and no word to any tokenizer.
_MASK = b"_"
_BLANK = b" \t\r\n\f\v"


def blanked(text: bytes | bytearray, sign: bytes = b" ") -> bytes:
    """Return as many signs as a text has bytes; its line ends stay."""
    return _NOT_LINE_END.sub(sign, text) if b"\n" in text or b"\r" in text else sign * len(text)


def longer_first(span: Span) -> tuple[int, int]:
    """Return the key that sorts spans by start, the longer before the shorter."""
    return span[0], -span[1]


class Source:
    """A file's bytes. `data` has the secrets masked, byte for byte, so that offsets and lines stay what they are."""

    def __init__(self, text: str, secrets: Sequence[Span] = ()) -> None:
        data = text.encode()
        if secrets:
            masked = bytearray(data)
            for start, end in secrets:
                masked[start:end] = blanked(masked[start:end], _MASK)
            data = bytes(masked)
        self._secrets = _merged(secrets)
        self.data = data
        #: The same as text where each character is one byte: then a part of it need not be decoded.
        self._ascii = data.decode("ascii") if data.isascii() else None
        #: Where the file's first character stands that is no white space.
        self.first = len(data) - len(data.lstrip(_BLANK))

    def text(self, start: int, end: int) -> str:
        """Return a span as text; a span that cuts a character loses that character."""
        return self._ascii[start:end] if self._ascii is not None else self.data[start:end].decode("utf-8", "ignore")

    def is_blank(self, start: int, end: int) -> bool:
        """Tell whether a span holds white space alone."""
        return not self.data[start:end].strip(_BLANK)

    def opens_line(self, position: int) -> bool:
        """Tell whether nothing but white space stands before a position on its line."""
        return self.is_blank(self.data.rfind(b"\n", 0, position) + 1, position)

    def column(self, position: int) -> int:
        """Return how many bytes stand before a position on its line."""
        return position - self.data.rfind(b"\n", 0, position) - 1

    def indentation(self, position: int) -> int:
        """Return how many bytes of white space begin the line of a position."""
        line = self.data.rfind(b"\n", 0, position) + 1
        before = self.data[line:position]
        return len(before) - len(before.lstrip(_BLANK))

    def trimmed_end(self, start: int, end: int) -> int:
        """Return the end of a span without the white space that it ends with."""
        while end > start and self.data[end - 1] in _BLANK:
            end -= 1
        return end

    def line_breaks(self, start: int, end: int) -> int:
        """Count the LF of a span."""
        return self.data.count(b"\n", start, end)

    def holds_secret(self, start: int, end: int) -> bool:
        """Tell whether a span overlaps a secret."""
        if not self._secrets:
            return False
        following = bisect_left(self._secrets, (end, end))
        return following > 0 and self._secrets[following - 1][1] > start


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Return spans in order, those that touch as one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
