"""Which words of a text answer a query. In: a text, the query's words. Out: the text in pieces, each marked or not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from pipelines.tokens import normalise, split_identifier

_WORD = re.compile(r"\w+")


def marked(text: str, wanted: Set[str]) -> Iterator[tuple[str, bool]]:
    """Yield the text in pieces, and whether each is a word that has a part which was asked for.

    :param wanted: words as `tokens.words` gives them.
    """
    end = 0
    for match in _WORD.finditer(text):
        if not wanted.isdisjoint(split_identifier(normalise(match[0]))):
            if match.start() > end:
                yield text[end : match.start()], False
            yield match[0], True
            end = match.end()
    if end < len(text):
        yield text[end:], False
