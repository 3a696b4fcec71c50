"""Where a text holds secrets: keys, tokens, passwords. In: a text. Out: spans in its UTF-8 form, never their text.

Four kinds of evidence, surest first: a block of key material; a token with a form that only its issuer uses; a password
in a place that holds nothing else, such as a connection string; a literal that looks random, given to a name such as
`api_key`. A random-looking string without such a name is no evidence: hashes, ids and test data look the same.

One pass over the text finds every place where some detector may have something; only there the detectors look. The
pass is an automaton (RE2) made from the detectors' own beginnings, so what it costs does not depend on their number,
and a text without any of them costs nothing else. Each detector reads a bounded number of bytes at a place, so the time
is linear in the length of the text, whatever stands in it.

A line with `strata: allow-secret` (or `pragma: allowlist secret`) is left alone, and so is the line after one with
`strata: allow-secret-below` (or `pragma: allowlist nextline secret`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import re2  # type: ignore[import-untyped]  # ships no type information

from pipelines.discover import secret_blocks, secret_places
from pipelines.discover.secret_kinds import KEYS, TOKENS, Token
from pipelines.discover.secret_values import is_placeholder


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """One secret. Byte offsets are half-open, into the UTF-8 form of the text; lines are 1-based and inclusive."""

    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    detector: str


_Found = tuple[int, int, str]
#: Looks at one place of a text.
_Probe = Callable[[bytes, int], Iterable[_Found]]

#: Comments that excuse a secret of their own line, or of the line below.
_ALLOW = re.compile(rb"strata: allow-secret(?!-)|pragma: allowlist secret")
_ALLOW_BELOW = re.compile(rb"strata: allow-secret-below|pragma: allowlist nextline secret")
#: The longest lead of a token, in bytes.
_LEAD_BYTES = 32
_BARE_KEY = re.compile(rb"[A-Za-z0-9+/=\\\"' \t\r\n,]{0,16384}")


def find_secrets(text: str) -> list[SecretSpan]:
    """Return the secrets in a text, in order, without overlaps."""
    data = text.encode("utf-8", "surrogatepass")
    spans: list[SecretSpan] = []
    line, counted = 1, 0
    allowed: dict[int, bool] = {}  # by line, since a line may be long and hold many secrets
    for start, found_end, detector in _joined(_scan(data)):
        end = _character_end(data, found_end)
        line += data.count(b"\n", counted, start)
        counted = start
        if line not in allowed:
            allowed[line] = _is_allowed(data, start)
        if not allowed[line]:
            spans.append(SecretSpan(start, end, line, line + data.count(b"\n", start, end - 1), detector))
    return spans


def _character_end(data: bytes, place: int) -> int:
    """Return the place, or the end of the character that it cuts: a pattern that ends at its limit may cut one."""
    while place < len(data) and data[place] & 0xC0 == 0x80:
        place += 1
    return place


def _is_allowed(data: bytes, place: int) -> bool:
    """Tell whether a comment excuses a secret that begins at a place."""
    begin = data.rfind(b"\n", 0, place) + 1
    end = data.find(b"\n", place)
    if _ALLOW.search(data, begin, end if end >= 0 else len(data)):
        return True
    return begin > 0 and _ALLOW_BELOW.search(data, data.rfind(b"\n", 0, begin - 1) + 1, begin) is not None


def _scan(data: bytes) -> list[_Found]:
    """Return what the detectors found, the surest kind first."""
    tokens: list[_Found] = []
    placed: list[_Found] = []
    readers: list[secret_blocks.Reader] = []
    done = 0  # a key without head and end is read once, however often its first bytes stand in it
    hit = _ANY.search(data, 0)
    while hit:
        place = hit.start()
        for literal, reader in secret_blocks.READERS.items():
            if reader not in readers and data.startswith(literal, place):
                readers.append(reader)
        if place >= done:
            for probe in _TOKENS_AT.get(data[place], ()):
                for item in probe(data, place):
                    tokens.append(item)
                    done = item[1] if item[2] == "private-key" else done
        for probe in _PLACES_AT.get(data[place], ()):
            placed.extend(probe(data, place))
        hit = _ANY.search(data, place + 1)
    return [*(item for reader in readers for item in reader(data)), *tokens, *placed]


def _joined(found: Iterable[_Found]) -> list[_Found]:
    """Join spans that overlap; the one found by the surest detector, which comes first, gives the name."""
    joined: list[_Found] = []
    for start, end, detector in sorted(found, key=lambda item: item[0]):  # stable: surest first at equal starts
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]), joined[-1][2])
        else:
            joined.append((start, end, detector))
    return joined


def _token_probe(token: Token) -> _Probe:
    """Return what looks for one form of token."""
    before = "" if token.lead or not token.literal[0].isalnum() else f"(?<!{token.before})"
    after = f"(?!{token.after})" if token.after else ""
    pattern = re.compile((before + re.escape(token.literal) + f"(?:{token.body})" + after).encode())
    lead = re.compile(f"(?<![A-Za-z0-9_-])(?:{token.lead})\\Z".encode()) if token.lead else None

    def probe(data: bytes, place: int) -> Iterator[_Found]:
        match = pattern.match(data, place)
        if not match or is_placeholder(match[0], words=False):
            return
        start, end = match.span()
        if lead:
            before = lead.search(data, max(0, start - _LEAD_BYTES), start)
            if not before:
                return
            start = before.start()
        if token in KEYS:
            body = _BARE_KEY.match(data, end)
            end = body.end() if body else end
        yield start, end, token.detector

    return probe


def _by_first_byte(probes: Iterable[tuple[str, _Probe]]) -> dict[int, tuple[_Probe, ...]]:
    """Return, for each byte that a trigger may begin with, what looks there."""
    found: dict[int, list[_Probe]] = defaultdict(list)
    for letters, probe in probes:
        for byte in letters.encode():
            found[byte].append(probe)
    return {byte: tuple(items) for byte, items in found.items()}


def _trigger() -> re2._Regexp:
    """Compile the beginnings of all detectors into one automaton."""
    tokens = (re.escape(token.literal) + token.needs for token in (*TOKENS, *KEYS))
    places = (pattern for _, _, pattern in secret_places.TRIGGERS)
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # bytes are what is read
    options.never_capture = True
    return re2.compile("|".join((*secret_blocks.TRIGGERS, *places, *tokens)).encode(), options)


_ANY = _trigger()
_TOKENS_AT = _by_first_byte((token.literal[0], _token_probe(token)) for token in (*TOKENS, *KEYS))
_PLACES_AT = _by_first_byte(dict.fromkeys((letters, probe) for probe, letters, _ in secret_places.TRIGGERS))
