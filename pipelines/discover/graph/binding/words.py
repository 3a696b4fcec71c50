"""Strings as numbers, and groups of rows by two numbers. In: columns. Out: codes; for every key the rows that have it.

Calls and definitions are many, the words in them few. Comparing numbers instead of words lets numpy answer all calls
of a repository at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]

#: Code of a null.
NULL = -1
_HALF = 32


def joined(high: npt.NDArray[Any] | int, low: npt.NDArray[Any]) -> Ints:
    """Return pairs of codes as one key each; both are below 2 ** 31 and none is negative."""
    return (np.asarray(high, np.int64) << _HALF) | np.asarray(low, np.int64)


class Words:
    """Every string once; its code is its place."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._codes: dict[str, int] = {}
        self.code("")

    def code(self, text: str) -> int:
        """Return the code of a string, a new one where it is new."""
        code = self._codes.setdefault(text, len(self.texts))
        if code == len(self.texts):
            self.texts.append(text)
        return code

    def known(self, text: str) -> int:
        """Return the code of a string, NULL for one that no column holds."""
        return self._codes.get(text, NULL)

    def codes(self, column: pa.ChunkedArray) -> npt.NDArray[np.int32]:
        """Return the codes of a column of strings; NULL for null."""
        encoded = column.combine_chunks().dictionary_encode()
        known, texts = self._codes, self.texts
        table = np.empty(len(encoded.dictionary), np.int32)
        for place, text in enumerate(encoded.dictionary.to_pylist()):
            code = known.get(text)
            if code is None:
                code = known[text] = len(texts)
                texts.append(text)
            table[place] = code
        indices = pc.fill_null(encoded.indices, NULL).to_numpy(zero_copy_only=False)
        return np.where(indices >= 0, table[indices], NULL).astype(np.int32) if len(table) else indices.astype(np.int32)


class Groups:
    """Rows by key. Rows of one key keep their order."""

    def __init__(self, keys: Ints, rows: npt.NDArray[Any]) -> None:
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if len(keys) else order
        self.keys: Ints = ordered[first]
        self.starts: Ints = np.append(first, len(keys)).astype(np.int64)
        self.rows: npt.NDArray[np.int32] = rows[order].astype(np.int32)

    def find(self, keys: Ints) -> Ints:
        """Return the group of each key, -1 for a key without rows."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1)

    def sizes(self, groups: Ints) -> Ints:
        """Return how many rows each group has; 0 for group -1."""
        return np.where(groups >= 0, self.starts[groups + 1] - self.starts[groups], 0)

    def first(self, groups: Ints) -> Ints:
        """Return the first row of each group; -1 for group -1."""
        if not len(self.rows):
            return np.full(len(groups), -1, np.int64)
        return np.where(groups >= 0, self.rows[self.starts[np.maximum(groups, 0)]], -1)

    def group(self, number: int) -> list[int]:
        """Return the rows of a group."""
        rows: list[int] = self.rows[self.starts[number] : self.starts[number + 1]].tolist()
        return rows

    def get(self, high: int, low: int) -> list[int]:
        """Return the rows of one key, none where a code is unknown."""
        if high < 0 or low < 0 or not len(self.keys):
            return []
        key = (high << _HALF) | low
        place = int(np.searchsorted(self.keys, key))
        return self.group(place) if place < len(self.keys) and self.keys[place] == key else []


def unique_rows(*columns: Iterable[int] | npt.NDArray[Any]) -> tuple[list[npt.NDArray[Any]], Ints]:
    """Return the distinct rows of some columns of codes, and for each row its place among them."""
    arrays = [np.asarray(column) for column in columns]
    order = np.lexsort(arrays[::-1])
    new = np.zeros(len(order), bool)
    new[:1] = True
    for array in arrays:
        ordered = array[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    places = np.empty(len(order), np.int64)
    places[order] = np.cumsum(new) - 1
    first = order[new]
    return [array[first] for array in arrays], places
