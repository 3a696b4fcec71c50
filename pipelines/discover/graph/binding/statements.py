"""What the source says of types. In: the typings of all buckets. Out: the statements of each file.

A row's owner is a node, or NO_OWNER at the top level of its file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.discover.graph.binding.words import Words
from pipelines.records import TypingRole

_ROLES = {str(role): number for number, role in enumerate(TypingRole)}
BASE, DECLARED, VALUE, RETURNS = range(len(TypingRole))
#: The node that owns what is said at the top level of a file.
NO_OWNER = -1


class Row(NamedTuple):
    """One statement about a type."""

    owner: int
    role: int
    name: str
    text: str
    start: int


class Typings:
    """The rows of all typings tables, looked up file by file."""

    def __init__(
        self, words: Words, table: pa.Table, file: npt.NDArray[np.int32], owner: npt.NDArray[np.int32]
    ) -> None:
        """Sort the rows by file.

        :param table: role, name, type, start_byte. :param file: number of each row's file.
        :param owner: node, or NO_OWNER.
        """
        self._words = words
        order = np.argsort(file, kind="stable")
        self._file = file[order]
        self._owner = owner[order]
        roles = table["role"].combine_chunks().dictionary_encode()
        numbers = np.array([_ROLES[role] for role in roles.dictionary.to_pylist()], np.uint8)
        self._role = numbers[roles.indices.to_numpy()][order] if len(numbers) else np.empty(0, np.uint8)
        self._name = words.codes(table["name"])[order]
        self._type = words.codes(table["type"])[order]
        self._start = table["start_byte"].to_numpy()[order]

    def of(self, file: int) -> Iterator[Row]:
        """Yield the rows of a file."""
        first, last = np.searchsorted(self._file, [file, file + 1])
        texts = self._words.texts
        part = slice(int(first), int(last))
        for owner, role, name, written, start in zip(
            self._owner[part].tolist(),
            self._role[part].tolist(),
            self._name[part].tolist(),
            self._type[part].tolist(),
            self._start[part].tolist(),
            strict=True,
        ):
            yield Row(owner, role, texts[name], texts[written], start)


class Said:
    """What one file says of types."""

    __slots__ = ("bases", "fields", "owners", "returns", "scopes", "variables")

    def __init__(self) -> None:
        self.variables: dict[tuple[int, str], list[Row]] = {}  # by owner and name
        self.owners: set[int] = set()  # of variables
        self.scopes: dict[int, tuple[int, ...]] = {}  # the owners around a node, once they are asked for
        self.fields: dict[tuple[str, str], list[Row]] = {}  # by class and name
        self.returns: dict[int, str] = {}
        self.bases: dict[int, list[str]] = {}
