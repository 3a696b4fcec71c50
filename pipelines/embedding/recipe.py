"""The text recipe: which words of a chunk, and of a question, an encoder is given.

In: the columns of a chunk. Out: lower-case words in three lines, and the key under which its vector is known. Words are
those of `pipelines.tokens`, so "parseHTTP2Response" and "parse http 2 response" give the same words on both sides.

    name
    containers, folder and file stem
    signature, doc, text

The important words come first: a transformer that cuts a long text off keeps them. How much more a name weighs than a
body is for each encoder to say.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from pipelines.fingerprint import digest_bytes
from pipelines.tokens import words

#: Part of every encoder's digest: a change of this module that changes any composed text must raise it.
RECIPE_VERSION = 2
#: Characters of each of signature, doc and text that are read. A chunk has at most 3,000 unless the user raises
#: `chunking.max_chars`; what stands further down is found by the lexical index.
MAX_FIELD_CHARS = 4_000
_LINES = 3
_SEPARATOR, _LINE_END = " ", "\n"


def compose(name: str, qualified_name: str, path: str, signature: str, doc: str, text: str) -> str:
    """Return the text of a chunk that is embedded, "" if nothing but its path holds a word."""
    own = _line(name)
    body = _line(signature, doc, text)
    return _LINE_END.join((own, _place(name, qualified_name, path), body)) if own or body else ""


def compose_query(text: str) -> str:
    """Return the text of a question that is embedded: one line."""
    return _line(text)


def fields(composed: str) -> tuple[str, str, str]:
    """Return name, place and body of a composed text; a question, or any other text of one line, is all body."""
    lines = composed.split(_LINE_END, _LINES - 1)
    return (lines[0], lines[1], lines[2]) if len(lines) == _LINES else ("", "", composed)


def embed_key(composed: str) -> bytes:
    """Return the 16-byte key of a composed text: equal keys of equal encoders have equal vectors."""
    return digest_bytes(composed.encode("utf-8", "surrogatepass"))


def _place(name: str, qualified_name: str, path: str) -> str:
    """Return the words of where a chunk stands: its containers, the folder and the file, without the extension."""
    location = PurePosixPath(path)
    return _line(qualified_name.removesuffix(name), location.parent.name, location.stem)


def _line(*parts: str) -> str:
    return _SEPARATOR.join(word for part in parts for word in words(part[:MAX_FIELD_CHARS]))
