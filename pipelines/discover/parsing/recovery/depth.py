"""Texts that would keep the patterns of a table busy for minutes. In: bytes, an error of a tree. Out: whether they do.

Nobody writes them, but a repository may hold them. A pattern that waits for a later sibling waits at every level, so
the time grows with the square of the depth; and where a grammar makes one long error of a text, the query looks from
each sign for a later name. Such a file is read as text, like one that a tool wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from tree_sitter import Node

#: Signs and keywords in a row in one error, without a name between them: 25,000 take one to two seconds, 40,000 five.
MAX_SIGNS = 25_000
#: Times that innermost pairs are taken out before levels are counted one by one; few files have so many levels.
_PASSES = 12
_OPENING, _CLOSING = b"([{", b")]}"
_OTHERS = bytes(set(range(256)) - {*_OPENING, *_CLOSING})
_ROUND = bytes.maketrans(_OPENING + _CLOSING, b"((()))")


class NestedTooDeeply(Exception):
    """A text that is not asked for its constructs."""


def is_deeper(data: bytes, levels: int) -> bool:
    """Tell whether brackets, of any kind and also in strings and comments, stand in more than some levels."""
    brackets = data.translate(_ROUND, _OTHERS)
    for _ in range(_PASSES):
        if brackets.count(b"(") <= levels:
            return False
        brackets = brackets.replace(b"()", b"")
    level = 0
    for bracket in brackets:
        level = level + 1 if bracket == ord("(") else max(0, level - 1)
        if level > levels:
            return True
    return False


def is_tangle(children: Iterable[Node]) -> bool:
    """Tell whether rows of nodes without a name cost as much as one of MAX_SIGNS, or more."""
    runs = groupby(children, key=lambda child: child.is_named)
    return sum(sum(1 for _ in run) ** 2 for named, run in runs if not named) > MAX_SIGNS**2
