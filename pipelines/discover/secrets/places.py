"""Places that hold secrets: after a name such as `api_key`, in a connection string, in a header, behind an option.

In: a text and a place where a trigger begins. Out: spans of values that do not read as placeholders. A probe reads at
most some hundred bytes on either side of its place.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from pipelines.discover.secrets.tokens import Found
from pipelines.discover.secrets.values import is_placeholder, looks_chosen, looks_like_password, looks_random

# --- names that say: what is given to me is secret. `tokens`, `token_url`, `tokenizer` do not say so
_PASSWORDS = "pass(?:word|wd|phrase|code)?|pswd|pwd"
_KEY_KINDS = (
    "api|access|account|admin|app|auth|client|consumer|deploy|encrypt(?:ion)?|hmac|jwt|license|master|private|secret|service"
    "|shared|sign(?:ing)?|storage|subscription|webhook"
)
_SECRETS = f"(?:{_KEY_KINDS})[_.-]?key(?:[_-]?base)?|secret|token|credentials?|_auth"
_SUFFIXES = "prod(?:uction)?|dev|staging|live|default|value|val|str(?:ing)?|old|new|base64|b64|hex|plain|raw"
_SUFFIX = f"(?:[_-]?(?:{_SUFFIXES}))?_?[0-9]?"
_CLOSERS = r"""(?:\\{0,2}["'\]]|\[[0-9]{0,6}\]){0,3}"""
_NAME = re.compile(f"(?i:(?P<password>{_PASSWORDS})|{_SECRETS})(?i:{_SUFFIX})".encode())

# --- how a value is given to a name
_STRING_OF = r"(?:[A-Za-z_][\w.:]{0,24})?(?:from|[Ss]tring|Some|bytes|str|[Ss]ecret)\("
_QUOTED = (
    rf"(?:{_STRING_OF})?[@$]?[A-Za-z]{{0,2}}"
    r"(?P<quote>\\{0,2}[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\r\n]){6,300}+)(?P=quote)"
)
_BARE = r"(?P<bare>[^\s\"'`,;<>(){}\[\]$|\\]{8,300}+)"
_TYPE = r"(?:[ \t]{0,8}:[ \t]{0,4}[A-Za-z_&][\w.|&?'<>\[\] ]{0,40}(?=[ \t]{0,8}=))?"
_OPERATOR = r"[ \t]{0,16}(?:=>|:=|===?|!==?|\?\?=|\|\|=|=|:)[ \t]{0,16}"
_BREAK = r"(?:\\?\r?\n[ \t]{0,60})?"
#: Ways to give a value, the first that fits: with an operator, as the next argument, as a macro, as the text of an
#: element, as `value` or `default` beside the name, as a block of YAML.
_VALUE = re.compile(
    (
        rf"(?:{_CLOSERS}{_TYPE}{_OPERATOR}\(?{_BREAK}{_QUOTED}"
        rf"|{_CLOSERS}{_OPERATOR}{_BARE}"
        r"|[\"'][ \t]{0,4},[ \t]{0,4}[@$]?(?P<quote2>[\"'])(?P<argument>[^\"'\r\n]{6,300}+)(?P=quote2)"
        r"|[ \t]{1,40}\"(?P<defined>[^\"\r\n]{6,300}+)\""
        r"|>[ \t]{0,8}(?P<element>[^<>\s]{6,300}+)[ \t]{0,8}</"
        r"|[\"']?[ \t,]{0,8}(?:\r?\n[ \t]{0,60})?[\"']?(?:value|Value)[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
        r"(?P<quote3>[\"']?)(?P<beside>[^\s\"',;<>]{6,300}+)(?P=quote3)"
        r"|[\"'][ \t]{0,4}\{[^{}]{0,300}?default[ \t]{0,16}=[ \t]{0,16}\"(?P<variable>[^\"\r\n]{6,300}+)\""
        r"|:[ \t]{0,4}[|>][+-]?[ \t]{0,8}\r?\n[ \t]{1,60}(?P<block>[^\s\"'`,;<>(){}\[\]$|\\]{8,300}+))"
    ).encode()
)
_GROUPS = ("quoted", "bare", "argument", "defined", "element", "beside", "variable", "block")
_UNQUOTED = frozenset({"bare", "block"})
#: What may follow a value without quotes; after anything else it is code, or longer than any secret.
_BARE_ENDS = b" \t\r\n\f\v\"'`,;<\\"
#: Where the next field of a query string begins.
_NEXT_FIELD = re.compile(rb"&[A-Za-z_][\w-]{0,40}=")
_DEFINE = re.compile(rb"#[ \t]{0,4}define[ \t]{1,8}\w{0,60}\Z")
_CALL = re.compile(
    rb"(?i:set|put|add|def|with|define|header|append|env|export|property)\w{0,20}\([ \t]{0,4}[@$]?[\"'][\w.:-]{0,60}\Z"
)
#: How far before a name to look for its beginning, or for that of a macro's definition.
_BEFORE_BYTES = 80
_AWS_SECRET = re.compile(rb"[A-Za-z0-9/+]{40}")
_AWS_NAME = re.compile(rb"(?i)aws|secret[_.-]?access")


def named(data: bytes, place: int) -> Iterator[Found]:
    """Find a value that is given to a telling name."""
    name = _NAME.match(data, place)
    if not name or not _is_whole(data, name):
        return
    match = _VALUE.match(data, name.end())
    if not match:
        return
    group = next(item for item in _GROUPS if match[item] is not None)
    start, end = match.span(group)
    if group == "defined" and not _DEFINE.search(data, max(0, place - _BEFORE_BYTES), place):
        return
    if group == "argument" and not _CALL.search(data, max(0, place - _BEFORE_BYTES), place):
        return
    if group == "bare" and data[end : end + 1] not in _BARE_ENDS:
        return
    before = data[max(0, place - _BEFORE_BYTES) : name.end()]
    if group == "bare" and (next_field := _NEXT_FIELD.search(data, start, end)):
        end = next_field.start()
    detector = _judge(data[start:end], before, bool(name["password"]), quoted=group not in _UNQUOTED)
    if detector:
        yield start, end, detector


def _is_whole(data: bytes, name: re.Match[bytes]) -> bool:
    """Tell whether a short name is a word of its own: DB_PASS, dbPass, not bypass; _auth, not sleep_auth."""
    before = data[name.start() - 1 : name.start()] if name.start() else b""
    if name[0] == b"_auth":
        return not before.isalnum()
    if name["password"] is None or len(name["password"]) > len(b"pass"):
        return True
    return not before.isalpha() or (before.islower() and name["password"][:1].isupper())


def _judge(value: bytes, name: bytes, is_password: bool, *, quoted: bool) -> str:
    """Return the name of the detector if a value that is given to a name is a secret, else ""."""
    if _AWS_SECRET.fullmatch(value) and _AWS_NAME.search(name) and not is_placeholder(value, words=False):
        return "aws-secret-key"
    if is_password:
        return "password" if looks_like_password(value, quoted=quoted) else ""
    return "assigned-secret" if looks_random(value, quoted=quoted) else ""


_CONNECTION = re.compile(rb"://(?P<user>[^\s:/@\"'`<>{}$%]{0,64}):(?P<value>[^\s/@\"'`<>]{3,128})@[A-Za-z0-9_.\[-]")
_BEARER = re.compile(
    rb"(?i:bearer|authorization[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"']?token)[ \t]{1,4}"
    rb"(?P<value>[A-Za-z0-9._~+/-]{20,512}=?=?)"
)
_BASIC = re.compile(rb"(?i:basic)[ \t]{1,4}(?P<value>[A-Za-z0-9+/]{8,400}={0,2})")
_ACCOUNT = re.compile(
    rb"(?:\"auth\"[ \t]{0,8}:[ \t]{0,8}\"|_auth[ \t]{0,4}=[ \t]{0,4}\"?)(?P<value>[A-Za-z0-9+/]{8,400}={0,2})"
)
_JWK = re.compile(rb"\"d\"[ \t]{0,8}:[ \t]{0,8}\"(?P<value>[A-Za-z0-9_-]{40,1500})\"")
#: A value that the shell takes as it stands.
_PLAIN = r"[^\s\"'`$<>(){}|;-][^\s\"'`$<>(){}|;]{7,300}"
_OPTION = re.compile(
    rb"--(?:[a-z0-9]{1,12}-){0,3}(?P<name>password|passwd|pass|token|secret|key)[ \t]{1,4}[\"']?"
    rb"(?P<value>" + _PLAIN.encode() + rb")"
)
_ENV = re.compile(
    rf"(?:ENV|ARG|setenv)[ \t]{{1,4}}\w{{0,60}}?(?i:{_PASSWORDS}|{_SECRETS})[ \t]{{1,8}}(?P<value>{_PLAIN})".encode()
)
_LOGIN = re.compile(rb"login[ \t]{1,8}[^\s]{1,64}\s{1,60}password[ \t]{1,8}(?P<value>[^\s\"'`\\()<>]{4,128})")
_SQL = re.compile(
    rb"(?i:password|identified[ \t]{1,8}by)(?i:[ \t]{1,4}password)?[ \t]{1,8}'(?P<value>[^'\r\n]{6,128})'"
)
_USER = re.compile(rb"(?:-u|--user)[ \t=]{1,4}[\"']?[\w.@+-]{1,64}:(?P<value>[^\s\"'`$<>{}:/@]{4,128})")
_CURL = re.compile(rb"\b(?:curl|wget|http|https)\b")
_CURL_BYTES = 200


def connection(data: bytes, place: int) -> Iterator[Found]:
    """Find the password of a URL: scheme://user:password@host."""
    match = _CONNECTION.match(data, place)
    if match and match["value"] != match["user"] and looks_chosen(match["value"]):
        yield *match.span("value"), "connection-string"


def header(data: bytes, place: int) -> Iterator[Found]:
    """Find what an Authorization header carries."""
    match = _BEARER.match(data, place)
    if match and looks_random(match["value"]):
        yield *match.span("value"), "bearer-token"
    match = _BASIC.match(data, place)
    if match and _is_account(match["value"]):
        yield *match.span("value"), "basic-auth"


def account(data: bytes, place: int) -> Iterator[Found]:
    """Find user and password in base64, as registries keep them."""
    match = _ACCOUNT.match(data, place)
    if match and _is_account(match["value"]):
        yield *match.span("value"), "registry-auth"


def json_web_key(data: bytes, place: int) -> Iterator[Found]:
    """Find the private member of a JSON Web Key."""
    match = _JWK.match(data, place)
    if match and looks_random(match["value"]):
        yield *match.span("value"), "private-key"


def option(data: bytes, place: int) -> Iterator[Found]:
    """Find the value of a command's option or of a variable that is set with a blank: --password x, ENV TOKEN x."""
    match = _OPTION.match(data, place)
    if match and not _judge(match["value"], match["name"], match["name"].startswith(b"pass"), quoted=False):
        match = None
    match = match or _ENV.match(data, place)
    if match and (looks_random(match["value"]) or looks_like_password(match["value"], quoted=False)):
        yield *match.span("value"), "password" if b"pass" in match[0].lower() else "assigned-secret"


def login(data: bytes, place: int) -> Iterator[Found]:
    """Find the password of a .netrc entry, of a new database user, of `curl -u`."""
    match = _LOGIN.match(data, place) or _SQL.match(data, place)
    if match and looks_chosen(match["value"]) and b" " not in match["value"]:
        yield *match.span("value"), "password"
    match = _USER.match(data, place)
    if match and looks_chosen(match["value"]) and not match["value"].isdigit():
        line = data[max(0, data.rfind(b"\n", 0, place), place - _CURL_BYTES) : place]
        if _CURL.search(line):
            yield *match.span("value"), "password"


def _is_account(value: bytes) -> bool:
    """Tell whether a value is base64 of user:password."""
    try:
        text = base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    user, colon, password = text.partition(b":")
    return bool(colon) and user.isascii() and text.decode("latin-1").isprintable() and looks_chosen(password)


_BEGIN = f"(?i:{_PASSWORDS}|{_SECRETS})"
#: What looks at a place, the bytes that the place may begin with, and how it goes on, as RE2 reads it.
TRIGGERS: tuple[tuple[Callable[[bytes, int], Iterator[Found]], str, str], ...] = (
    (named, "pPsStTcC_aAdDeEhHjJlLmMwW", rf"{_BEGIN}(?i:{_SUFFIX}){_CLOSERS}[ \t]{{0,16}}[=:!?>\",]"),
    (named, "pPsStTcC_aAdDeEhHjJlLmMwW", rf"{_BEGIN}(?i:{_SUFFIX})[\"']? ?\r?\n[ \t]+[\"']?value"),
    (connection, ":", r"://[^\s/@]{0,40}:"),
    (header, "bB", r"(?i:bearer)[ \t]+[A-Za-z0-9._~+/-]{8}|(?i:basic)[ \t]+[A-Za-z0-9+/]{8}"),
    (header, "aA", r"(?i:authorization)[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"']?(?i:token)[ \t]"),
    (account, '"_', r"(?:\"auth\"[ \t]{0,8}:|_auth[ \t]{0,4}=)"),
    (json_web_key, '"', r"\"d\"[ \t]{0,8}:[ \t]{0,8}\"[A-Za-z0-9_-]{8}"),
    (option, "-", r"--[a-z0-9-]{0,40}(?:pass|passwd|password|token|secret|key)[ \t]"),
    (option, "EAs", rf"(?:ENV|ARG|setenv)[ \t]+\w{{0,40}}{_BEGIN}[ \t]"),
    (login, "l", r"login[ \t]+[^\s]+\s+password[ \t]"),
    (login, "pPiI", r"(?i:password|identified[ \t]+by)[ \t]+(?i:password[ \t]+)?'"),
    (login, "-", r"(?:-u|--user)[ \t=]+[\"']?[\w.@+-]{1,64}:"),
)
