"""The texts of chunks that are embedded, composed by whole columns. In: columns of chunks. Out: texts of three lines.

The recipe is that of `recipe`; here it is applied to thousands of rows at a time.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.embedding.recipe import LINE_END, MAX_FIELD_CHARS
from pipelines.word_columns import TEXT, text_column, word_lines

#: Columns that a text is composed of.
COMPOSED_FROM = ("name", "qualified_name", "path", "signature", "doc", "text")


def compose_rows(chunks: pa.RecordBatch) -> pa.LargeStringArray:
    """Return the text of each chunk that is embedded, "" if nothing but its path holds a word.

    :param chunks: rows with the columns COMPOSED_FROM.
    """
    names, signatures, docs, texts = (chunks[column].cast(TEXT) for column in ("name", "signature", "doc", "text"))
    own, body = _line(names), _line(signatures, docs, texts)
    place = _line(_containers(chunks), *_locations(chunks["path"]))
    blank = pc.equal(pc.add(pc.binary_length(own), pc.binary_length(body)), 0)
    return pc.if_else(blank, pa.scalar("", TEXT), _joined(own, place, body))


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
    return pc.binary_join_element_wise(*parts, pa.scalar(LINE_END, TEXT))
