"""The text recipe: which words of a chunk, and of a question, an encoder is given.

In: a text. Out: lower-case words, in three lines for a chunk and one for a question, and the key under which their
vector is known. Words are those of `pipelines.tokens`, so "parseHTTP2Response" and "parse http 2 response" give the
same words on both sides.

    name
    containers, folder and file stem
    signature, doc, text

The important words come first: a transformer that cuts a long text off keeps them. How much more a name weighs than a
body is for each encoder to say.
"""

from __future__ import annotations

from pipelines.fingerprint import digest_bytes
from pipelines.tokens import MAX_WORD_CHARS, words

#: A change of this module, of `composition`, or of what a word is, that changes any composed text must raise it.
RECIPE_VERSION = 2
#: Characters of each of signature, doc and text that are read. A chunk has at most 3,000 unless the user raises
#: `chunking.max_chars`; what stands further down is found by the lexical index.
MAX_FIELD_CHARS = 4_000
#: Part of every encoder's digest.
RECIPE = (RECIPE_VERSION, MAX_FIELD_CHARS, MAX_WORD_CHARS)
LINE_END, SPACE = "\n", " "
_LINES = 3


def compose_query(text: str) -> str:
    """Return the text of a question that is embedded: one line."""
    return SPACE.join(words(text[:MAX_FIELD_CHARS]))


def fields(composed: str) -> tuple[str, str, str]:
    """Return name, place and body of a composed text; a question, or any other text of one line, is all body."""
    lines = composed.split(LINE_END, _LINES - 1)
    return (lines[0], lines[1], lines[2]) if len(lines) == _LINES else ("", "", composed)


def embed_key(composed: bytes) -> bytes:
    """Return the 16-byte key of a composed text in UTF-8: equal keys of equal encoders have equal vectors."""
    return digest_bytes(composed)
