"""The text recipe: which words of a chunk, and of a question, an encoder is given.

In: the columns of a chunk. Out: one line of lower-case words, and the key under which its vector is known. Words are
those of `pipelines.tokens`, so "parseHTTP2Response" and "parse http 2 response" give the same line on both sides.

    name x3 | containers | folder and file stem | signature | doc | text

The important words come first: a transformer that cuts a long text off keeps them.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from pipelines.fingerprint import digest_bytes
from pipelines.tokens import words

#: Part of every encoder's digest: a change of this module that changes any composed text must raise it.
RECIPE_VERSION = 1
#: How often the name stands in the text, besides its place in the signature. One, three, five and eight times are a tie
#: with the vocab encoder on Python functions (.226 to .229 MRR@10); BM25 and pretrained static tables gain .03 to .05
#: by three. The containers and path words are worth .016.
NAME_REPEATS = 3
#: Characters of each of signature, doc and text that are read. A chunk has at most 3,000 unless the user raises
#: `chunking.max_chars`; what stands further down is found by the lexical index.
MAX_FIELD_CHARS = 4_000
_SEPARATOR = " "


def compose(name: str, qualified_name: str, path: str, signature: str, doc: str, text: str) -> str:
    """Return the text of a chunk that is embedded, "" if nothing but its path holds a word."""
    own = list(words(name[:MAX_FIELD_CHARS]))
    body = [word for field in (signature, doc, text) for word in words(field[:MAX_FIELD_CHARS])]
    if not own and not body:
        return ""
    return _SEPARATOR.join([*(own * NAME_REPEATS), *_place(name, qualified_name, path), *body])


def compose_query(text: str) -> str:
    """Return the text of a question that is embedded."""
    return _SEPARATOR.join(words(text[:MAX_FIELD_CHARS]))


def embed_key(composed: str) -> bytes:
    """Return the 16-byte key of a composed text: equal keys of equal encoders have equal vectors."""
    return digest_bytes(composed.encode("utf-8", "surrogatepass"))


def _place(name: str, qualified_name: str, path: str) -> list[str]:
    """Return the words of where a chunk stands: its containers, the folder and the file, without the extension."""
    location = PurePosixPath(path)
    containers = qualified_name.removesuffix(name)
    return [
        word for part in (containers, location.parent.name, location.stem) for word in words(part[:MAX_FIELD_CHARS])
    ]
