"""Packed columns as Arrow tables, without a Python object for any value. In: what `packing` made. Out: tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.discover.processes.packing import OR_NULL
from pipelines.formats import CALLS_TABLE, IMPORTS_TABLE, SECRETS_TABLE, SYMBOLS_TABLE, TYPINGS_TABLE

#: The tables whose rows the parser processes make.
TABLES: Mapping[str, pa.Schema] = {
    "symbols": SYMBOLS_TABLE,
    "calls": CALLS_TABLE,
    "imports": IMPORTS_TABLE,
    "secrets": SECRETS_TABLE,
    "typings": TYPINGS_TABLE,
}
#: What a parser process must know of them: the type of each column but `path`, which the parent knows.
COLUMN_TYPES: Mapping[str, Sequence[str]] = {
    name: [f"{field.type}{OR_NULL if field.nullable else ''}" for field in schema if field.name != "path"]
    for name, schema in TABLES.items()
}


def unpack_rows(
    schema: pa.Schema, paths: pa.Array, counts: Sequence[int], buffers: Sequence[memoryview]
) -> pa.RecordBatch:
    """Return the rows of some files.

    :param schema: their table's. :param paths: the files. :param counts: how many rows each file has.
    :param buffers: three for each column but `path`.
    """
    rows = sum(counts)
    remaining = iter(buffers)
    columns = [
        paths.take(pa.array(np.repeat(np.arange(len(counts)), counts)))
        if field.name == "path"
        else _unpack(field.type, rows, next(remaining), next(remaining), next(remaining))
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _unpack(kind: pa.DataType, rows: int, validity: memoryview, offsets: memoryview, values: memoryview) -> pa.Array:
    parts = [pa.py_buffer(_bits(validity, rows)) if validity else None]
    if pa.types.is_string(kind):
        parts.append(pa.py_buffer(offsets))
    parts.append(pa.py_buffer(_bits(values, rows) if pa.types.is_boolean(kind) else values))
    return pa.Array.from_buffers(kind, rows, parts)


def _bits(flags: memoryview, count: int) -> npt.NDArray[np.uint8]:
    return np.packbits(np.frombuffer(flags, np.uint8, count), bitorder="little")
