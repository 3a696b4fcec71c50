"""Places in a text and in the file that holds it. In: how the one was made of the other. Out: a map in both directions.

A text is made of its file piece by piece: characters of one width in both. For nearly all files the two are one, and
there is no map at all.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

#: Half-open, in bytes.
Span = tuple[int, int]


class Piece(NamedTuple):
    """Where characters of one width begin: in the UTF-8 form of a text, and in its file. Widths are bytes a character.

    A width of 0 stands for what is in one of the two alone; both are 0 in the last piece, which is where both end.
    """

    text: int
    file: int
    text_width: int = 1
    file_width: int = 1


class OffsetMap:
    """A monotone map between the offsets of a text's UTF-8 form and those of its file."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._pieces = list(pieces)
        self._texts = [piece.text for piece in self._pieces]
        self._files = [piece.file for piece in self._pieces]

    def to_file(self, start: int, end: int) -> Span:
        """Return the bytes of the file that a span of the text stands for; what lies between pieces stays outside."""
        first = self._file_place(start, bisect_right(self._texts, start) - 1, 0)
        return (first, first) if end <= start else (first, self._file_place(end - 1, self._at(self._texts, end), 1))

    def to_text(self, start: int, end: int) -> Span:
        """Return the span of the text that bytes of the file stand for, empty for bytes of which it has nothing."""
        first = self._text_place(start, bisect_right(self._files, start) - 1, 0)
        return (first, first) if end <= start else (first, self._text_place(end - 1, self._at(self._files, end), 1))

    @staticmethod
    def _at(starts: list[int], end: int) -> int:
        return bisect_right(starts, end - 1) - 1

    def _file_place(self, offset: int, place: int, after: int) -> int:
        """Return where the character at an offset of the text begins in the file, or with `after` = 1 where it ends."""
        piece = self._pieces[max(0, place)]
        characters = (offset - piece.text) // piece.text_width + after if piece.text_width else 0
        return piece.file + characters * piece.file_width

    def _text_place(self, offset: int, place: int, after: int) -> int:
        if place < 0:
            return 0
        piece = self._pieces[place]
        characters = (offset - piece.file) // piece.file_width + after if piece.file_width else 0
        limit = self._texts[min(place + 1, len(self._texts) - 1)]
        return min(piece.text + characters * piece.text_width, limit)


#: Runs of characters of one width, in UTF-8 and in UTF-16 alike.
_RUN = re.compile("[\0-\x7f]+|[\x80-\u07ff]+|[\u0800-\uffff]+|[\U00010000-\U0010ffff]+")


def encoding_map(text: str, encoding: str, mark: int) -> OffsetMap | None:
    """Return the map between a text and its file, None where they are one.

    :param encoding: of the file. :param mark: bytes of its byte order mark.
    """
    if encoding == "utf-8" or (encoding == "latin-1" and text.isascii()):
        size = len(text.encode()) if mark else 0
        return OffsetMap([Piece(0, mark), Piece(size, mark + size, 0, 0)]) if mark else None
    return OffsetMap(_runs(text, encoding, mark))


def _runs(text: str, encoding: str, mark: int) -> Iterator[Piece]:
    place, file = 0, mark
    for run in _RUN.finditer(text):
        first = run[0][0]
        piece = Piece(place, file, len(first.encode()), len(first.encode(encoding)))
        yield piece
        count = run.end() - run.start()
        place, file = place + count * piece.text_width, file + count * piece.file_width
    yield Piece(place, file, 0, 0)
