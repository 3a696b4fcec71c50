"""Rows as packed columns, as they travel from a parser process. In: rows of plain values. Out: buffers.

A column travels as three buffers that Arrow takes as they are: which values there are (a byte each, none if all are),
offsets (of texts), values. Each ends at a multiple of eight bytes. `unpacking` is the other side; it loads Arrow, which
would cost each parser process memory and time, so this side does without.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

#: One row: the columns of a table of `formats` in their order, `path` apart.
Row = tuple[Any, ...]
#: Validity, offsets, values.
Buffers = tuple[bytes, bytes, bytes]
#: Ends the name of a type that may be null.
OR_NULL = "?"
#: Bytes that a buffer's length is a multiple of.
ALIGNMENT = 8


def pack_rows(rows: Iterable[Row], types: Sequence[str]) -> list[bytes]:
    """Return the buffers of all columns, one after the other.

    :param rows: the rows of a table. :param types: the type of each column, as Arrow names it, with OR_NULL.
    """
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    packed: list[bytes] = []
    for values, kind in zip(columns, types, strict=True):
        packed += map(_padded, _pack(values, kind))
    return packed


def _pack(values: tuple[Any, ...], kind: str) -> Buffers:
    validity = b""
    pack, empty = _PACKERS[kind.removesuffix(OR_NULL)]
    if kind.endswith(OR_NULL) and None in values:
        validity = bytes([value is not None for value in values])
        values = tuple([empty if value is None else value for value in values])
    return validity, *pack(values)


def _texts(values: tuple[str, ...]) -> tuple[bytes, bytes]:
    text = "".join(values)
    lengths = map(len, values if text.isascii() else [value.encode() for value in values])
    return array("i", accumulate(lengths, initial=0)).tobytes(), text.encode()


def _padded(buffer: bytes) -> bytes:
    return buffer + bytes(-len(buffer) % ALIGNMENT)


#: By the name that Arrow has for a type: what packs its values, and what stands for one that is not there.
_PACKERS: dict[str, tuple[Callable[[tuple[Any, ...]], tuple[bytes, bytes]], Any]] = {
    "string": (_texts, ""),
    "int32": (lambda values: (b"", array("i", values).tobytes()), 0),
    "int64": (lambda values: (b"", array("q", values).tobytes()), 0),
    "bool": (lambda values: (b"", bytes(values)), False),
    "fixed_size_binary[16]": (lambda values: (b"", b"".join(values)), bytes(16)),
    "fixed_size_binary[32]": (lambda values: (b"", b"".join(values)), bytes(32)),
}
