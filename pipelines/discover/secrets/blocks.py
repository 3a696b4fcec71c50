"""Blocks of key material: private keys in PEM, PGP and PuTTY form, the same in base64, manifests of kind Secret.

In: a text that holds the head of such a block. Out: the span of each block, or of each value of a manifest. A head that
is only mentioned, in a parser or a document, is none.
"""

from __future__ import annotations

import base64
import binascii
import bisect
import re
from collections.abc import Callable, Iterator

from pipelines.discover.secrets.tokens import Found
from pipelines.discover.secrets.values import looks_chosen

Reader = Callable[[bytes], Iterator[Found]]

_KIND = rb"(?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?"
_BEGIN = re.compile(rb"----[- ]BEGIN " + _KIND + rb"[- ]----")
_END = re.compile(rb"----[- ]END " + _KIND + rb"[- ]----")
#: A key's first base64 stands within this many bytes of its head, else the head is only mentioned.
_HEAD_BYTES = 400
#: One run, or two short ones with no more than line ends and quotes between them.
_CONTENT = re.compile(rb"[A-Za-z0-9+/]{32}|(?:[A-Za-z0-9+/]{16,31}(?:\\[nr]|[\s\"'+,]){1,40}){2}")
#: What has no more different characters than this, or small letters alone, is no base64 of a key.
_FEW_CHARACTERS = 8
#: The longest keys (16384-bit RSA, PGP) have about 13 kB.
_MAX_BYTES = 32_768
_BODY = re.compile(rb"[A-Za-z0-9+/=,:\-\\\"' \t\r\n]{0,32768}")

_PUTTY = re.compile(
    rb"Private-Lines:[ \t]{0,4}[0-9]{1,4}\r?\n(?:[A-Za-z0-9+/=]{1,128}\r?\n){1,200}"
    rb"(?:Private-MAC:[ \t]?[0-9a-f]{40,64})?"
)
_ENCODED = re.compile(rb"LS0tLS1CRUdJTi[A-Za-z0-9+/]{60,32768}={0,2}")
_ENCODED_HEAD = 64

_MANIFEST = re.compile(rb"(?m)^[ \t]{0,16}[\"']?kind[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?Secret[\"']?[ \t]{0,8},?\r?$")
_DOCUMENT = re.compile(rb"(?m)^---")
_DATA = re.compile(rb"(?m)^(?P<indent>[ \t]{0,16})[\"']?(?:data|stringData)[\"']?[ \t]{0,4}:[ \t]{0,4}\{?\r?\n")
_ENTRY = re.compile(
    rb"(?P<indent>[ \t]{1,32})[\"']?[\w.-]{1,128}[\"']?[ \t]{0,4}:[ \t]{1,4}[\"']?"
    rb"(?P<value>[^\s\"']{4,8192})[\"']?,?[ \t]{0,8}\r?\n?"
)
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{4,8192}={0,2}")


def key_blocks(data: bytes) -> Iterator[Found]:
    """Find private keys between their head and end lines; one without end reaches as far as it reads like a key."""
    ends = [match.end() for match in _END.finditer(data)]
    done = 0
    for begin in _BEGIN.finditer(data):
        if begin.start() < done:
            continue
        following = bisect.bisect_right(ends, begin.end())
        stop = ends[following] if following < len(ends) else len(data)
        content = _CONTENT.search(data, begin.end(), min(stop, begin.end() + _HEAD_BYTES))
        if not content or content[0].islower() or len(set(content[0])) <= _FEW_CHARACTERS:
            continue
        if stop - begin.start() > _MAX_BYTES or following == len(ends):
            body = _BODY.match(data, begin.end())
            stop = body.end() if body else begin.end()
        done = stop
        yield begin.start(), stop, "private-key"


def putty_keys(data: bytes) -> Iterator[Found]:
    """Find the private part of PuTTY key files."""
    for match in _PUTTY.finditer(data):
        yield *match.span(), "private-key"


def encoded_keys(data: bytes) -> Iterator[Found]:
    """Find key blocks in base64, as kubeconfig files and environment variables hold them; certificates look alike."""
    for match in _ENCODED.finditer(data):
        if _BEGIN.match(base64.b64decode(match[0][:_ENCODED_HEAD])):
            yield *match.span(), "private-key"


def manifests(data: bytes) -> Iterator[Found]:
    """Find the values of Kubernetes manifests of kind Secret, whatever their names are."""
    bounds = [0, *(match.start() for match in _DOCUMENT.finditer(data)), len(data)]
    for place in sorted({bisect.bisect_right(bounds, match.start()) for match in _MANIFEST.finditer(data)}):
        first, last = bounds[place - 1], bounds[min(place, len(bounds) - 1)]
        for block in _DATA.finditer(data, first, last):
            yield from _entries(data, block.end(), last, len(block["indent"]))


def _entries(data: bytes, place: int, last: int, indent: int) -> Iterator[Found]:
    while entry := _ENTRY.match(data, place, last):
        if len(entry["indent"]) <= indent:
            return
        if looks_chosen(_decoded(entry["value"])):
            yield *entry.span("value"), "manifest-secret"
        place = entry.end()


def _decoded(value: bytes) -> bytes:
    if not _BASE64.fullmatch(value):
        return value
    try:
        return base64.b64decode(value)
    except binascii.Error:
        return value


#: Literals in the text that call for a reader.
READERS: dict[bytes, Reader] = {
    b"----- BEGIN": key_blocks,
    b"-----BEGIN": key_blocks,
    b"---- BEGIN": key_blocks,
    b"Private-Lines:": putty_keys,
    b"LS0tLS1CRUdJTi": encoded_keys,
    b"kind": manifests,
    b'"kind': manifests,
}
#: The same as RE2 reads it.
TRIGGERS = (
    "----[- ]BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY",
    "Private-Lines:",
    "LS0tLS1CRUdJTi",
    '"?kind"?[ \\t]*:[ \\t]*["\']?Secret(?:["\', \\t\\r\\n]|\\z)',
)
