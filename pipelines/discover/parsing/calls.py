"""Call sites. In: the captures of a call pattern. Out: the called name and the text before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.discover.parsing.grammars import Captures, Constructs, Role, Rule
from pipelines.discover.parsing.naming import name_parts
from pipelines.discover.parsing.nesting import Nesting
from pipelines.discover.parsing.source import Source

#: A longer receiver is an expression, not something that a definition can be looked up by; in characters.
MAX_RECEIVER_CHARS = 80
#: What joins a receiver to the name.
_JOINTS = ("?->", "?.", "!!.", "!.", "&.", ".", "->", "::", ":")
#: The same, with the type arguments or the keyword that may stand between the two.
_LONG_JOINT = re.compile(r"\s*(?:->|::|[?!]?\.)\s*(?:<[^<>]*>|template)?$")
#: What may stand before a name in the tokens of a macro and make it a method or a path.
_TOKENS_BEFORE = re.compile(rb"[\w.:]*(?:\.|::)$")
#: A name before a parenthesis, with the path that leads to it, at most eight names long.
_TOKEN_CALL = re.compile(rb"(?<!\w)(?:\w+(?:\.|->|::)){0,8}(?P<name>[A-Za-z_]\w*)[ \t]*\(")

#: One call: the place of the enclosing callable among the file's definitions, the name, the receiver, line, start.
Call = tuple[int | None, str, str | None, int, int]


def read_calls(
    constructs: Constructs,
    rules: tuple[Rule, ...],
    source: Source,
    nesting: Nesting,
    named: set[int],
    reserved: frozenset[str],
) -> list[Call]:
    """Return the calls of a file in document order; `named` is where definitions and their names stand."""
    calls: list[Call] = []
    silent_until = 0  # calls before this place do not run
    last = -1
    for start, negative_end, order, captures in constructs.in_order(Role.INERT, Role.CALL, Role.TOKENS):
        role = rules[order].role
        if role is Role.INERT:
            silent_until = max(silent_until, -negative_end)
        elif role is Role.TOKENS:
            line = captures["node"][0].start_point.row + 1
            calls += _read_tokens(source, start, -negative_end, line, nesting.at(start).caller, reserved)
        elif start >= silent_until and start != last and start not in named:
            call = _read(captures, source, nesting.at(start).caller)
            if call is not None:
                calls.append(call)
                last = start
    return calls


def _read(captures: Captures, source: Source, caller: int | None) -> Call | None:
    """Return the call that a pattern matched, None where its tokens turn out to be none."""
    node = captures["name"][0]
    start, end = node.start_byte, node.end_byte
    if "arguments" in captures:
        opening = captures["arguments"][0].start_byte
        if opening != end or source.data[opening : opening + 1] != b"(":
            return None
        before = _TOKENS_BEFORE.search(source.data[max(0, start - MAX_RECEIVER_CHARS) : start])
        receiver = _receiver(source, start - len(before[0]), start) if before else None
    elif "callee" in captures:
        receiver = _receiver(source, captures["callee"][0].start_byte, start)
    else:
        receiver = None
    name = source.text(start, end)
    if not name.isidentifier():
        *path, name = name_parts(name)
        receiver = receiver or ".".join(path) or None
    return caller, name, receiver, node.start_point.row + 1, start


def _read_tokens(
    source: Source, start: int, end: int, line: int, caller: int | None, reserved: frozenset[str]
) -> Iterator[Call]:
    """Yield what looks like a call in text that the grammar leaves unparsed, the body of a macro of C."""
    for match in _TOKEN_CALL.finditer(source.data, start, end):
        name = match["name"].decode("utf-8", "ignore")
        if name not in reserved:
            here = match.start("name")
            receiver = _receiver(source, match.start(), here)
            yield caller, name, receiver, line + source.line_breaks(start, here), here


def _receiver(source: Source, start: int, end: int) -> str | None:
    if start == end or source.holds_secret(start, end):
        return None
    # A character has at most four bytes; beyond that nothing is looked at, since chains of calls can be very long.
    window = source.text(start, min(end, start + 4 * MAX_RECEIVER_CHARS))
    folded = " ".join(window.split())
    if len(folded) > MAX_RECEIVER_CHARS or end - start > 4 * MAX_RECEIVER_CHARS:
        return folded[: MAX_RECEIVER_CHARS - 1] + "…"
    for joint in _JOINTS:
        if folded.endswith(joint):
            return folded.removesuffix(joint).rstrip() or None
    return _LONG_JOINT.sub("", folded) or None
