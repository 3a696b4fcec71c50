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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import re2  # type: ignore[import-untyped]  # ships no type information

from pipelines.discover.secrets import blocks, places
from pipelines.discover.secrets.tokens import KEYS, TOKENS, Found, Token
from pipelines.discover.secrets.values import is_placeholder


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """One secret. Byte offsets are half-open, into the UTF-8 form of the text; lines are 1-based and inclusive."""

    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    detector: str


#: Looks at one place of a text.
_Probe = Callable[[bytes, int], Iterable[Found]]

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


def _scan(data: bytes) -> list[Found]:
    """Return what the detectors found, the surest kind first."""
    tokens: list[Found] = []
    placed: list[Found] = []
    readers: list[blocks.Reader] = []
    done: dict[_TokenPattern, int] = {}  # a token is read once, however often its first bytes stand in it
    hit = _ANY.search(data, 0)
    while hit:
        place = hit.start()
        for length in _LITERAL_BYTES:
            for token in _TOKENS_AT.get(data[place : place + length], ()):
                if place >= done.get(token, 0) and (item := token.at(data, place)):
                    tokens.append(item)
                    done[token] = item[1]
        for probe in _PLACES_AT.get(data[place], ()):
            placed.extend(probe(data, place))
        readers += [reader for head, reader in blocks.READERS.items() if data.startswith(head, place)]
        hit = _ANY.search(data, place + 1)
    return [*(item for reader in dict.fromkeys(readers) for item in reader(data)), *tokens, *placed]


def _joined(found: Iterable[Found]) -> list[Found]:
    """Join spans that overlap; the one found by the surest detector, which comes first, gives the name."""
    joined: list[Found] = []
    for start, end, detector in sorted(found, key=lambda item: item[0]):  # stable: surest first at equal starts
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]), joined[-1][2])
        else:
            joined.append((start, end, detector))
    return joined


class _TokenPattern:
    """One form of token, ready to be looked for."""

    def __init__(self, token: Token) -> None:
        self._token = token
        self._is_key = token in KEYS

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        """Compiled when its literal is first met: most of the forms never are."""
        token = self._token
        before = "" if token.lead or not token.literal[0].isalnum() else f"(?<!{token.before})"
        after = f"(?!{token.after})" if token.after else ""
        return re.compile(f"{before}{re.escape(token.literal)}(?:{token.body}){after}".encode())

    @cached_property
    def _lead(self) -> re.Pattern[bytes] | None:
        lead = self._token.lead
        return re.compile(f"(?<![A-Za-z0-9_-])(?:{lead})\\Z".encode()) if lead else None

    def at(self, data: bytes, place: int) -> Found | None:
        """Return the token whose literal stands at a place, if one does."""
        match = self._pattern.match(data, place)
        if not match or is_placeholder(match[0], words=False):
            return None
        start, end = match.span()
        if self._lead:
            lead = self._lead.search(data, max(0, start - _LEAD_BYTES), start)
            if not lead:
                return None
            start = lead.start()
        if self._is_key and (body := _BARE_KEY.match(data, end)):
            end = body.end()
        return start, end, self._token.detector


def _trigger() -> re2._Regexp:
    """Compile the beginnings of all detectors into one automaton."""
    tokens = (re.escape(token.literal) + token.needs for token in (*TOKENS, *KEYS))
    placed = (pattern for _, _, pattern in places.TRIGGERS)
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # bytes are what is read
    options.never_capture = True
    return re2.compile("|".join((*blocks.TRIGGERS, *placed, *tokens)).encode(), options)


def _tokens_by_literal() -> dict[bytes, list[_TokenPattern]]:
    """Return the forms of tokens by the first bytes of their literals."""
    found: dict[bytes, list[_TokenPattern]] = defaultdict(list)
    for token in (*TOKENS, *KEYS):
        found[token.literal.encode()[: _LITERAL_BYTES[-1]]].append(_TokenPattern(token))
    return dict(found)


def _places_by_byte() -> dict[int, list[_Probe]]:
    """Return what looks at a place, by each byte that the place may begin with."""
    found: dict[int, list[_Probe]] = defaultdict(list)
    for probe, letters in dict.fromkeys((probe, letters) for probe, letters, _ in places.TRIGGERS):
        for byte in letters.encode():
            found[byte].append(probe)
    return dict(found)


_ANY = _trigger()
#: How many bytes of a literal lead to its form: literals may be as short as one byte.
_LITERAL_BYTES = (1, 2, 3)
_TOKENS_AT = _tokens_by_literal()
_PLACES_AT = _places_by_byte()
