"""Where a text holds secrets: keys, tokens, passwords. In: a text. Out: spans in its UTF-8 form, never their text.

Three kinds of evidence, surest first: a key block, or a token with a prefix that only its issuer uses; a password in a
connection string; a literal that looks random, assigned to a name such as `api_key`. A random-looking string without
such a name is no evidence: hashes, ids and test data look the same. A line with `strata: allow-secret` (or `pragma:
allowlist secret`) is left alone.

Every pattern is bounded and starts at a fixed text, and no position is read by one pattern more than a bounded number
of times, so the time is linear in the length of the text, whatever stands in it.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipelines.discover.secret_values import is_placeholder, looks_chosen, looks_like_password, looks_random


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """One secret. Byte offsets are half-open, into the UTF-8 form of the text; lines are 1-based and inclusive."""

    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    detector: str


_Pattern = re.Pattern[bytes]


def _token(literal: str, body: bytes, before: bytes = rb"(?<![A-Za-z0-9])") -> _Pattern:
    """Compile a token. The literal comes first and what must not stand before it second: that makes a fast search.

    The look-behind keeps a pattern from starting inside a run of its own letters: else a run would be read many times.
    """
    start = re.escape(literal.encode("ascii"))
    return re.compile(start + before.replace(b")", start + b")") + body)


_NOT_IN_WORD = rb"(?<![A-Za-z0-9_-])"
#: Tokens that their own form gives away.
_TOKENS: tuple[tuple[str, _Pattern], ...] = (
    ("aws-access-key", _token("AKIA", rb"[0-9A-Z]{16}(?![A-Za-z0-9])")),
    ("aws-access-key", _token("ASIA", rb"[0-9A-Z]{16}(?![A-Za-z0-9])")),
    ("github-token", _token("gh", rb"[pousr]_[A-Za-z0-9]{36,255}")),
    ("github-token", _token("github_pat_", rb"[A-Za-z0-9_]{22,255}")),
    ("gitlab-token", _token("gl", rb"(?:pat|dt|rt|ptt|ft|soat|cbt|agent)-[A-Za-z0-9_-]{20,255}", _NOT_IN_WORD)),
    ("slack-token", _token("xox", rb"[abeoprs]-[A-Za-z0-9-]{12,255}")),
    ("slack-token", _token("xapp-", rb"[A-Za-z0-9-]{12,255}")),
    ("slack-webhook", _token("hooks.slack.com/", rb"(?:services|workflows)/[A-Z0-9]{6,20}/[A-Za-z0-9/]{20,200}")),
    ("discord-webhook", _token("/api/webhooks/", rb"[0-9]{15,22}/[A-Za-z0-9_-]{40,200}", b"")),
    ("stripe-key", _token("sk_live_", rb"[A-Za-z0-9]{16,255}")),
    ("stripe-key", _token("rk_live_", rb"[A-Za-z0-9]{16,255}")),
    ("stripe-key", _token("whsec_", rb"[A-Za-z0-9]{24,255}")),
    ("google-key", _token("AIza", rb"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", _NOT_IN_WORD)),
    ("google-key", _token("GOCSPX-", rb"[A-Za-z0-9_-]{24,64}", _NOT_IN_WORD)),
    ("google-key", _token("ya29.", rb"[A-Za-z0-9_-]{30,512}", _NOT_IN_WORD)),
    ("npm-token", _token("npm_", rb"[A-Za-z0-9]{36}(?![A-Za-z0-9])")),
    ("pypi-token", _token("pypi-AgE", rb"[A-Za-z0-9_-]{40,1024}", _NOT_IN_WORD)),
    ("anthropic-key", _token("sk-ant-", rb"[A-Za-z0-9_-]{24,255}", _NOT_IN_WORD)),
    (
        "openai-key",
        _token("sk-", rb"(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{24,255}|[A-Za-z0-9]{32,128})", _NOT_IN_WORD),
    ),
    ("hugging-face-token", _token("hf_", rb"[A-Za-z0-9]{32,64}(?![A-Za-z0-9])")),
    ("sendgrid-key", _token("SG.", rb"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}", _NOT_IN_WORD)),
    ("shopify-token", _token("shp", rb"(?:at|ca|pa|ss)_[a-fA-F0-9]{32}")),
    ("digitalocean-token", _token("dop_v1_", rb"[a-f0-9]{64}")),
    ("docker-token", _token("dckr_pat_", rb"[A-Za-z0-9_-]{24,64}")),
    ("azure-key", _token("AccountKey=", rb"[A-Za-z0-9+/]{86}==")),
    ("age-key", _token("AGE-SECRET-KEY-1", rb"[0-9A-Z]{58}")),
    (
        "jwt",
        _token("eyJ", rb"[A-Za-z0-9_-]{10,4096}+\.eyJ[A-Za-z0-9_-]{10,4096}+\.[A-Za-z0-9_-]{20,1024}", _NOT_IN_WORD),
    ),
)
_KEY_BEGIN = re.compile(rb"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(rb"-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
#: A key's first base64 run stands within this many bytes of its head, else the head is only mentioned.
_KEY_HEAD_BYTES = 400
_KEY_CONTENT = re.compile(rb"[A-Za-z0-9+/]{32}")
#: The longest keys (16384-bit RSA, PGP) have about 13 kB.
_MAX_KEY_BYTES = 32_768
_KEY_BODY = re.compile(rb"[A-Za-z0-9+/=,:\-\\\"' \t\r\n]{0,32768}")

_CONNECTION = re.compile(
    rb"://(?P<user>[^\s:/@\"'`<>{}$%]{0,64}):(?P<value>[^\s/@\"'`<>]{3,128})@[A-Za-z0-9_.\[-]", re.ASCII
)
_BEARER = re.compile(rb"bearer[ \t]{1,4}(?P<value>[a-z0-9._~+/-]{20,512}=?=?)")
#: What stands between name and value: a closing quote or bracket, a type, an operator.
_OPERATOR = (
    rb"\d?[\"'\]]{0,2}(?:[ \t]{0,8}:[ \t]{0,4}[a-z_&][\w.|&]{0,30}(?=[ \t]{0,8}=))?[ \t]{0,16}"
    rb"(?:=>|:=|===?|!==?|\?\?=|=|:)[ \t]{0,16}"
)
_QUOTED = rb"[a-z]{0,2}(?P<quote>[\"'`])(?P<quoted>[^\"'`\r\n]{6,300}+)(?P=quote)"
_BARE = rb"(?P<bare>[^\s\"'`,;<>(){}\[\]$|]{8,300}+)"
#: What may follow a value without quotes; after anything else it is code, or longer than any secret.
_BARE_ENDS = b" \t\r\n\f\v\"'`,;<"
#: In C a macro has no operator, in XML an element's end is one.
_DEFINED = rb"\d?[ \t]{1,40}\"(?P<defined>[^\"\r\n]{6,300}+)\""
_ELEMENT = rb">(?P<element>[^<>\s]{6,300}+)</"
_VALUE = re.compile(
    rb"(?:" + _OPERATOR + rb"(?:" + _QUOTED + rb"|" + _BARE + rb")|" + _DEFINED + rb"|" + _ELEMENT + rb")"
)
_GROUPS = ("quoted", "bare", "defined", "element")
_DEFINE = re.compile(rb"#[ \t]{0,4}define[ \t]{1,8}\w{0,60}\Z")
#: Ends of names that say: what is assigned to me is secret. `tokens`, `token_url`, `tokenizer` do not say so.
_ASSIGNED = rb"(?=\d?[\"'\]]{0,2}[ \t]{0,16}[=:!?>\"])"
_NAMES = tuple(
    re.compile(ending + _ASSIGNED)
    for ending in (b"password", b"passwd", b"passphrase", b"pwd", b"secret", b"token", b"credential")
)
_KEY = re.compile(rb"key" + _ASSIGNED)
_KEY_KINDS = (
    b"api", b"access", b"account", b"auth", b"encryption", b"master", b"private", b"secret", b"shared", b"signing",
)  # fmt: skip
_PASSWORD_NAMES = (b"password", b"passwd", b"passphrase", b"pwd")
#: How far before the word to look for its kind, or for the beginning of a macro's definition.
_KIND_BYTES = 40
_DEFINE_BYTES = 80
_AWS_SECRET = re.compile(rb"[A-Za-z0-9/+]{40}")
_AWS_NAME = re.compile(rb"aws|secret[_.-]?access")

_ALLOW = re.compile(rb"strata: allow-secret|pragma: allowlist secret")
_Found = tuple[int, int, str]


def find_secrets(text: str) -> list[SecretSpan]:
    """Return the secrets in a text, in order, without overlaps."""
    data = text.encode("utf-8", "surrogatepass")
    found = [*_key_blocks(data), *_tokens(data), *_connections(data), *_assignments(data)]
    if not found:
        return []
    line_ends = [match.start() for match in re.finditer(rb"\n", data)]
    allowed = {bisect.bisect_left(line_ends, match.start()) for match in _ALLOW.finditer(data)}
    spans: list[SecretSpan] = []
    for start, end, detector in _joined(found):
        first = bisect.bisect_left(line_ends, start)
        if first not in allowed:
            spans.append(SecretSpan(start, end, first + 1, bisect.bisect_left(line_ends, end - 1) + 1, detector))
    return spans


def _joined(found: Iterable[_Found]) -> list[_Found]:
    """Join spans that overlap; the one found by the surest detector, which comes first, gives the name."""
    joined: list[_Found] = []
    for start, end, detector in sorted(found, key=lambda item: item[0]):  # stable: surest first at equal starts
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]), joined[-1][2])
        else:
            joined.append((start, end, detector))
    return joined


def _key_blocks(data: bytes) -> Iterator[_Found]:
    if b"PRIVATE KEY" not in data:
        return
    ends = [match.end() for match in _KEY_END.finditer(data)]
    done = 0
    for begin in _KEY_BEGIN.finditer(data):
        if begin.start() < done:
            continue
        following = bisect.bisect_right(ends, begin.end())
        stop = ends[following] if following < len(ends) else len(data)
        if not _KEY_CONTENT.search(data, begin.end(), min(stop, begin.end() + _KEY_HEAD_BYTES)):
            continue  # a parser or a document that mentions the head
        if stop - begin.start() > _MAX_KEY_BYTES or following == len(ends):
            body = _KEY_BODY.match(data, begin.end())
            stop = body.end() if body else begin.end()
        done = stop
        yield begin.start(), stop, "private-key"


def _tokens(data: bytes) -> Iterator[_Found]:
    for detector, pattern in _TOKENS:
        for match in pattern.finditer(data):
            if not is_placeholder(match[0], words=False):
                yield match.start(), match.end(), detector


def _connections(data: bytes) -> Iterator[_Found]:
    if b"://" not in data:
        return
    for match in _CONNECTION.finditer(data):
        value = match["value"]
        if value != match["user"] and looks_chosen(value):
            yield match.start("value"), match.end("value"), "connection-string"


def _assignments(data: bytes) -> Iterator[_Found]:
    lower = data.lower()  # of ASCII letters alone, so every offset stays
    for bearer in _BEARER.finditer(lower):
        start, end = bearer.span("value")
        if looks_random(data[start:end]):
            yield start, end, "bearer-token"
    for pattern in (*_NAMES, _KEY):
        done = 0
        for word in pattern.finditer(lower):
            if word.start() < done or (pattern is _KEY and not _is_key_kind(lower, word.start())):
                continue
            group, start, end = _assigned(lower, word.start(), word.end())
            if group == "bare":
                done = end  # what stands inside is read once: "token=token=token=.."
            if group and (group != "bare" or lower[end : end + 1] in _BARE_ENDS):
                name = lower[max(0, word.start() - _KIND_BYTES) : word.end()]
                detector = _judge(data[start:end], name, quoted=group != "bare")
                if detector:
                    yield start, end, detector


def _is_key_kind(lower: bytes, place: int) -> bool:
    """Tell whether the kind of key stands before the word, at most a separator between: api_key, not sort_key."""
    return lower[max(0, place - _KIND_BYTES) : place].rstrip(b"_.-").endswith(_KEY_KINDS)


def _assigned(lower: bytes, place: int, end: int) -> tuple[str, int, int]:
    """Return how and where a value is given to the name whose last word stands at `place`, ("", 0, 0) if none is."""
    match = _VALUE.match(lower, end)
    if not match:
        return "", 0, 0
    group = next(name for name in _GROUPS if match[name] is not None)
    if group == "defined" and not _DEFINE.search(lower, max(0, place - _DEFINE_BYTES), place):
        return "", 0, 0
    return group, *match.span(group)


def _judge(value: bytes, name: bytes, *, quoted: bool) -> str:
    """Return the name of the detector if a value that is assigned to a name is a secret, else ""."""
    if _AWS_SECRET.fullmatch(value) and _AWS_NAME.search(name) and not is_placeholder(value, words=False):
        return "aws-secret-key"
    if name.endswith(_PASSWORD_NAMES):
        return "password" if looks_like_password(value, quoted=quoted) else ""
    return "assigned-secret" if looks_random(value) else ""
