"""Which words of a text answer a query. In: a text, the query's words. Out: the text in pieces, each marked or not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from pipelines.tokens import normalise, split_ascii, split_identifier

_WORD = re.compile(r"\w+")


def marked(text: str, wanted: Set[str]) -> Iterator[tuple[str, bool]]:
    """Yield the text in pieces, and whether each was asked for: a word, or those parts of it that were.

    :param wanted: words and parts of words, folded: `Query.marks`.
    """
    end = 0
    for match in _WORD.finditer(text):
        for start, stop in _found(match[0], wanted):
            if match.start() + start > end:
                yield text[end : match.start() + start], False
            end = match.start() + stop
            yield text[match.start() + start : end], True
    if end < len(text):
        yield text[end:], False


def _found(word: str, wanted: Set[str]) -> Iterator[tuple[int, int]]:
    """Yield where the parts of a word begin and end that were asked for; parts side by side are one."""
    if word.casefold() in wanted:
        yield 0, len(word)
    elif not word.isascii():  # folding may change its length, so its parts have no places in it
        if not wanted.isdisjoint(split_identifier(normalise(word))):
            yield 0, len(word)
    else:
        yield from _joined(word, wanted)


def _joined(word: str, wanted: Set[str]) -> Iterator[tuple[int, int]]:
    first, end = -1, 0
    for part in map(bytes.decode, split_ascii(word.encode())):
        start = word.index(part, end)
        if part.lower() not in wanted:
            if first >= 0:
                yield first, end
            first, end = -1, start + len(part)
        else:
            first, end = (start if first < 0 else first), start + len(part)
    if first >= 0:
        yield first, end
