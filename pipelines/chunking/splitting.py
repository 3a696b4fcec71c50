"""Where a text that is too long is cut: at blank lines, else at line ends, else between the words of one long line.

Pure functions on text. Nothing is lost: the pieces joined are the text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
#: How far before the cap a long line may be cut, in characters: as long as the longest term of the lexical index, so
#: that a cut goes through no word that can be searched for.
_LOOK_BACK = 80
#: A piece is filled at least to this share of its aim before a blank line near by may end it.
_LEAST_FILL = 0.7
_JOINER = "\u200d"


def split_lines(text: str, cap: int) -> Iterator[str]:
    """Yield the lines of a text with their ends; a line above `cap` characters comes in several pieces."""
    for line in _LINE.findall(text):
        position = 0
        while len(line) - position > cap:
            cut = _cut_in_line(line, position, position + cap)
            yield line[position:cut]
            position = cut
        yield line[position:]


def _cut_in_line(line: str, start: int, limit: int) -> int:
    """Return the best place to cut in (start, limit]: after white space, after punctuation, beside a word, anywhere."""
    candidates = [
        place for place in range(limit, max(start, limit - _LOOK_BACK), -1) if not _inseparable(line, place)
    ] or [limit]
    for separates in _SEPARATORS:
        for place in candidates:
            if separates(line[place - 1], line[place]):
                return place
    return candidates[0]


def _inseparable(line: str, place: int) -> bool:
    """Tell whether what a reader sees as one sign or one line end stands across a place."""
    before, after = line[place - 1], line[place]
    return (
        (before == "\r" and after == "\n")
        or _JOINER in (before, after)
        or (not after.isascii() and unicodedata.category(after)[0] == "M")
    )


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


#: In order of preference. A dot, colon or hyphen may stand inside a compound ("os.path", "a::b"), so it comes last.
_SEPARATORS: tuple[Callable[[str, str], bool], ...] = (
    lambda before, after: before.isspace(),
    lambda before, after: not _is_word(before) and before not in ".:-",
    lambda before, after: not (_is_word(before) and _is_word(after)),
)


def pack(costs: Sequence[int], blank: Sequence[bool], cap: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last) ranges of lines whose costs sum to at most `cap`.

    A piece ends at the blank line nearest to its aim, else at the nearest line end. The aim is the cap, and half of
    what is left for the last two pieces, so that the last one is no crumb; cuts before an edit stay where they were.

    :param costs: the cost of each line, at most `cap`. :param blank: whether each line is blank.
    """
    total = list(accumulate(costs, initial=0))
    first = 0
    while first < len(costs):
        last = _last_line(total, blank, first, cap)
        yield first, last
        first = last


def _last_line(total: Sequence[int], blank: Sequence[bool], first: int, cap: int) -> int:
    rest = total[-1] - total[first]
    if rest <= cap:
        return len(blank)
    aim = cap if rest > 2 * cap else math.ceil(rest / 2)
    most = bisect_right(total, total[first] + cap) - 1
    least = max(first + 1, bisect_left(total, total[first] + math.ceil(aim * _LEAST_FILL)))
    places = range(least, most + 1) or range(most, most + 1)
    at_blank = [place for place in places if blank[place - 1]]
    return min(at_blank or places, key=lambda place: abs(total[place] - total[first] - aim))
