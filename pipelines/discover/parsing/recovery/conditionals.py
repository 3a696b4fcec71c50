"""Conditional compilation that cuts through a block. In: source bytes of C or C++. Out: the same as one variant reads.

A grammar sees all branches of `#if` at once. Where each branch is whole, it reads them all; where a branch opens a
block that it does not close, or closes one that it did not open, everything after it would be read wrongly. There one
branch stays, and the others are blank with the directives between them; the compiler sees no more either. Conditions
that are equal choose equally, so that a block that one group opens and another one closes is whole. Offsets and lines
stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pipelines.discover.parsing.source import blanked
from pipelines.offsets import Span

_DIRECTIVE = re.compile(
    rb"\n[ \t]*+#[ \t]*+(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b((?:[^\\\n]++|\\(?:\r?\n|[^\n]))*+)",
    re.MULTILINE,
)
#: What hides braces: comments, strings, characters. An unclosed string ends with its line.
_TOKEN = re.compile(
    rb"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/|//[^\n]*+|\"(?:[^\"\\\n]++|\\.)*+\"?|'(?:[^'\\\n]++|\\.)*+'?|[{}]", re.DOTALL
)
_COMMENT = re.compile(rb"/\*.*?(?:\*/|$)|//.*", re.DOTALL)
_BODY = re.compile(rb"\s*+\{")
_OPENING = (b"if", b"ifdef", b"ifndef")
#: How often the text of a file is read for braces, on average: groups stand in groups, and each is read for itself.
#: What is over the limit stays as it is.
_MAX_READINGS = 8
#: The condition under which one language is compiled, true for no other.
_LANGUAGE_CONDITION = b"__cplusplus"


@dataclass(slots=True)
class _Branch:
    directive: Span
    start: int  # of its text
    end: int
    condition: bytes  # without blanks and negations; empty for #else
    positive: bool


@dataclass(slots=True)
class _Group:
    branches: list[_Branch] = field(default_factory=list)
    closing: Span = (0, 0)


def choose_branches(data: bytes, *, cplusplus: bool) -> bytes:
    """Return the source with every group of branches that cuts through a block read as one of them."""
    truths = {_LANGUAGE_CONDITION: cplusplus}
    seen = bytearray(data)
    allowance = _MAX_READINGS * len(data)
    for group in _groups(data):
        allowance -= group.closing[0] - group.branches[0].start
        if allowance < 0:
            break
        if _is_whole(seen, group):
            continue
        kept = _chosen(group, truths)
        hidden = [(branch.start, branch.end) for branch in group.branches if branch is not kept]
        for start, end in [*hidden, *(branch.directive for branch in group.branches), group.closing]:
            seen[start:end] = blanked(seen[start:end])
    return bytes(seen)


def _groups(data: bytes) -> Iterator[_Group]:
    """Yield the groups whose end is found, an inner one before the one around it."""
    open_groups: list[_Group] = []
    # a line feed before each line is found ten times as fast as the start of a line
    for match in _DIRECTIVE.finditer(b"\n" + data):
        word, start, end = match[1], match.start(), match.end() - 1
        if word in _OPENING:
            open_groups.append(_Group())
        elif not open_groups:
            continue
        group = open_groups[-1]
        if group.branches:
            group.branches[-1].end = start
        if word == b"endif":
            group.closing = start, end
            yield open_groups.pop()
            continue
        condition, positive = _condition(word, match[2])
        group.branches.append(_Branch((start, end), end, len(data), condition, positive))


def _condition(word: bytes, text: bytes) -> tuple[bytes, bool]:
    text = _COMMENT.sub(b"", text).replace(b"defined", b"").strip()
    negations = len(text) - len(text.lstrip(b"! \t("))
    positive = text[:negations].count(b"!") % 2 == 0
    if word.endswith(b"ndef"):
        positive = not positive
    return b"".join(text.lstrip(b"! \t").replace(b"(", b"").replace(b")", b"").split()), positive


def _is_whole(data: bytearray, group: _Group) -> bool:
    if _BODY.match(data, group.closing[1]):  # the branches are heads, the body is that of each
        return False
    return all(_closes_what_it_opens(data, branch.start, branch.end) for branch in group.branches)


def _closes_what_it_opens(data: bytearray, start: int, end: int) -> bool:
    opening, closing = data.find(b"{", start, end), data.find(b"}", start, end)
    if opening < 0 and closing < 0:
        return True
    if 0 <= opening < closing and data.count(b"{", start, end) == data.count(b"}", start, end):
        return True
    depth = 0
    for match in _TOKEN.finditer(data, start, end):
        if match[0] in b"{}":
            depth += 1 if match[0] == b"{" else -1
            if depth < 0:
                return False
    return depth == 0


def _chosen(group: _Group, truths: dict[bytes, bool]) -> _Branch | None:
    """Return the branch that is compiled as far as the conditions are decided; an undecided one is taken to be true."""
    for branch in group.branches:
        if not branch.condition or branch.condition == b"1":
            return branch
        if branch.condition == b"0":
            continue
        if truths.setdefault(branch.condition, branch.positive) is branch.positive:
            return branch
    return None
