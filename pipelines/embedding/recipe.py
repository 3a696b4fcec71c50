"""The text recipe: which words of a chunk, and of a question, an encoder is given.

In: the columns of chunks. Out: lower-case words in three lines, and the key under which their vector is known. Words
are those of `pipelines.tokens`, so "parseHTTP2Response" and "parse http 2 response" give the same words on both sides.

    name
    containers, folder and file stem
    signature, doc, text

The important words come first: a transformer that cuts a long text off keeps them. How much more a name weighs than a
body is for each encoder to say.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.fingerprint import digest_bytes
from pipelines.tokens import MAX_WORD_CHARS
from pipelines.word_columns import TEXT, text_column, word_lines

#: A change of this module, or of what a word is, that changes any composed text must raise it.
RECIPE_VERSION = 2
#: Characters of each of signature, doc and text that are read. A chunk has at most 3,000 unless the user raises
#: `chunking.max_chars`; what stands further down is found by the lexical index.
MAX_FIELD_CHARS = 4_000
#: Part of every encoder's digest.
RECIPE = (RECIPE_VERSION, MAX_FIELD_CHARS, MAX_WORD_CHARS)
#: Columns that a text is composed of.
COMPOSED_FROM = ("name", "qualified_name", "path", "signature", "doc", "text")
_LINES = 3
_LINE_END = "\n"


def compose_rows(chunks: pa.RecordBatch) -> pa.LargeStringArray:
    """Return the text of each chunk that is embedded, "" if nothing but its path holds a word.

    :param chunks: rows with the columns COMPOSED_FROM.
    """
    names, signatures, docs, texts = (chunks[column].cast(TEXT) for column in ("name", "signature", "doc", "text"))
    own, body = _line(names), _line(signatures, docs, texts)
    place = _line(_containers(chunks), *_locations(chunks["path"]))
    blank = pc.equal(pc.add(pc.binary_length(own), pc.binary_length(body)), 0)
    return pc.if_else(blank, pa.scalar("", TEXT), _joined(own, place, body))


def compose_query(text: str) -> str:
    """Return the text of a question that is embedded: one line."""
    composed: str = _line(text_column([text]))[0].as_py()
    return composed


def fields(composed: str) -> tuple[str, str, str]:
    """Return name, place and body of a composed text; a question, or any other text of one line, is all body."""
    lines = composed.split(_LINE_END, _LINES - 1)
    return (lines[0], lines[1], lines[2]) if len(lines) == _LINES else ("", "", composed)


def embed_key(composed: bytes) -> bytes:
    """Return the 16-byte key of a composed text in UTF-8: equal keys of equal encoders have equal vectors."""
    return digest_bytes(composed)


def _containers(chunks: pa.RecordBatch) -> pa.LargeStringArray:
    """Return what each chunk's definition stands in."""
    names = zip(chunks["qualified_name"].to_pylist(), chunks["name"].to_pylist(), strict=True)
    return text_column([qualified.removesuffix(name) for qualified, name in names])


def _locations(paths: pa.Array) -> tuple[pa.LargeStringArray, pa.LargeStringArray]:
    """Return the folder and the file of each path, without the extension."""
    encoded = paths.dictionary_encode()
    located = [PurePosixPath(path) for path in encoded.dictionary.to_pylist()]
    folders, stems = text_column([path.parent.name for path in located]), text_column([path.stem for path in located])
    return folders.take(encoded.indices), stems.take(encoded.indices)


def _line(*parts: pa.LargeStringArray) -> pa.LargeStringArray:
    return word_lines(_joined(*map(_cut, parts)))


def _cut(part: pa.LargeStringArray) -> pa.LargeStringArray:
    longest = pc.max(pc.binary_length(part)).as_py() or 0  # bytes, of which a character has at least one
    return part if longest <= MAX_FIELD_CHARS else pc.utf8_slice_codeunits(part, 0, MAX_FIELD_CHARS)


def _joined(*parts: pa.LargeStringArray) -> pa.LargeStringArray:
    return pc.binary_join_element_wise(*parts, pa.scalar(_LINE_END, TEXT))
