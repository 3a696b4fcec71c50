"""The calls of a repository, bound. In: the tables of all buckets. Out: for each bucket its calls, with outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.discover.graph.binding.calls import CallBinder, Calls, Outcomes
from pipelines.discover.graph.binding.definitions import Definitions, Files
from pipelines.discover.graph.binding.imports import Imports
from pipelines.discover.graph.binding.resolver import Outcome, Resolver
from pipelines.discover.graph.binding.statements import NO_OWNER, Typings
from pipelines.discover.graph.binding.types import Types
from pipelines.discover.graph.binding.words import Ints, Words
from pipelines.errors import ArtifactMismatch

_SYMBOL_COLUMNS = ["symbol_id", "path", "kind", "name", "qualified_name", "start_byte", "signature"]
_SITE_COLUMNS = ["path", "caller", "name", "receiver"]
#: What a C declaration says when its name ends at the end of the file; in a header it is everyone's.
_STATIC = r"\bstatic\b"


class Bucket(Protocol):
    """The tables of one bucket, as an artifact has them."""

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """Return a table by its file name."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The distinct calls of one bucket that stand in a function, and what each means."""

    caller: npt.NDArray[np.int32]  # node
    sites: Ints  # how many equal calls a row stands for
    kinds: list[Outcome]
    place: Ints  # the place of each row's outcome in `kinds`
    columns: pa.Table  # path, name and receiver of each row
    outside: int  # calls in no function


def bind_calls(buckets: Sequence[Bucket], done: Callable[[], None]) -> Iterator[Bound]:
    """Bind the calls of all buckets, one bucket after the other.

    :param buckets: the symbols of all buckets, in order. :param done: called after each bucket.
    :raises ArtifactMismatch: if a call names a caller that is not among the symbols.
    """
    words = Words()
    files, first_nodes, definitions, ids = _definitions(buckets, words)
    imports = Imports(definitions)
    typings = []
    for bucket, first, known in zip(buckets, first_nodes, ids, strict=True):
        rows = bucket.table("imports.parquet", columns=["path", "module", "name", "alias"])
        columns = [_strings(rows[name]) for name in rows.column_names]
        imports.add(columns[0], zip(*columns[1:], strict=True))
        typings.append(_typings(bucket, files, first, known))
    imports.complete()
    for bucket, first, known in zip(buckets, first_nodes, ids, strict=True):
        callers = pc.unique(bucket.table("calls.parquet", columns=["caller"])["caller"])
        rows = pc.index_in(callers, value_set=known, skip_nulls=True).drop_null()
        definitions.silent[rows.to_numpy().astype(np.int64) + first] = False
    types = Types(definitions, imports, Typings(words, *_joined(typings)))
    binder = CallBinder(definitions, imports, Resolver(definitions, imports, types))
    for bucket, first, known in zip(buckets, first_nodes, ids, strict=True):
        yield _bind_bucket(bucket, files, words, binder, first, known)
        done()


def _definitions(buckets: Sequence[Bucket], words: Words) -> tuple[Files, list[int], Definitions, list[pa.Array]]:
    """Return files, the first node of each bucket, all definitions, and the symbol ids of each bucket."""
    listed = [bucket.table("files.parquet", columns=["path", "language"]) for bucket in buckets]
    paths = [path for table in listed for path in table["path"].to_pylist()]
    files = Files(paths, [language for table in listed for language in _strings(table["language"])])
    tables, ids, first_nodes, count = [], [], [], 0
    for bucket in buckets:
        table = bucket.table("symbols.parquet", columns=_SYMBOL_COLUMNS)
        first_nodes.append(count)
        count += table.num_rows
        ids.append(table["symbol_id"].combine_chunks())
        tables.append(
            pa.table(
                {
                    "file": _file_numbers(table["path"], files),
                    "kind": table["kind"],
                    "name": table["name"],
                    "qualified_name": table["qualified_name"],
                    "start_byte": table["start_byte"],
                    "static": pc.match_substring_regex(table["signature"], _STATIC),
                }
            )
        )
    return files, first_nodes, Definitions(files, words, pa.concat_tables(tables)), ids


def _file_numbers(paths: pa.ChunkedArray, files: Files) -> npt.NDArray[np.int32]:
    encoded = paths.combine_chunks().dictionary_encode()
    numbers = np.array([files.number[path] for path in encoded.dictionary.to_pylist()], np.int32)
    found: npt.NDArray[np.int32] = numbers[encoded.indices.to_numpy()] if len(numbers) else np.empty(0, np.int32)
    return found


def _typings(
    bucket: Bucket, files: Files, first_node: int, ids: pa.Array
) -> tuple[pa.Table, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    rows = bucket.table("typings.parquet", columns=["path", "owner", "role", "name", "type", "start_byte"])
    owners = pc.fill_null(pc.index_in(rows["owner"], value_set=ids, skip_nulls=True), NO_OWNER).to_numpy()
    nodes = np.where(owners >= 0, owners + first_node, NO_OWNER).astype(np.int32)
    return rows.select(["role", "name", "type", "start_byte"]), _file_numbers(rows["path"], files), nodes


def _joined(parts: list[tuple[pa.Table, Any, Any]]) -> tuple[pa.Table, Any, Any]:
    tables, file, owner = zip(*parts, strict=True)
    return pa.concat_tables(tables), np.concatenate(file), np.concatenate(owner)


def _bind_bucket(
    bucket: Bucket, files: Files, words: Words, binder: CallBinder, first_node: int, ids: pa.Array
) -> Bound:
    calls = bucket.table("calls.parquet", columns=_SITE_COLUMNS)
    sites = calls.group_by(_SITE_COLUMNS, use_threads=False).aggregate([([], "count_all")])
    callers = pc.index_in(sites["caller"], value_set=ids, skip_nulls=True)
    lost = pc.and_(pc.is_valid(sites["caller"]), pc.is_null(callers))
    if pc.any(lost).as_py():
        path = sites.filter(lost)["path"][0]
        raise ArtifactMismatch(f"a call in {path} names a caller that is not among the symbols of its bucket")
    inside = pc.is_valid(callers)
    outside = int(pc.sum(sites["count_all"].filter(pc.invert(inside))).as_py() or 0)
    sites, callers = sites.filter(inside), callers.filter(inside)
    nodes = (callers.to_numpy().astype(np.int64) + first_node).astype(np.int32)
    columns = Calls(
        _file_numbers(sites["path"], files), nodes, words.codes(sites["name"]), words.codes(sites["receiver"])
    )
    outcomes: Outcomes = binder.bind(columns)
    return Bound(
        nodes,
        sites["count_all"].to_numpy().astype(np.int64),
        outcomes.kinds,
        outcomes.place,
        sites.select(["path", "name", "receiver"]),
        outside,
    )


def _strings(column: pa.ChunkedArray) -> list[Any]:
    """Return the values as a list in which equal strings are one object: names and paths repeat a lot."""
    encoded = column.combine_chunks().dictionary_encode()
    table = [*encoded.dictionary.to_pylist(), None]
    indices: npt.NDArray[np.int64] = pc.fill_null(encoded.indices, -1).to_numpy()
    return [table[index] for index in indices.tolist()]
