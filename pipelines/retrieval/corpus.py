"""Several generations as one row space. In: generations. Out: values of any rows, and one order for ties.

A row of the corpus is the generation's base plus its own row. Ties are broken by chunk id, never by row, so the order
in which repositories are named changes no ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.retrieval.generation import Generation
from pipelines.retrieval.rows import Rows


class Corpus:
    """The rows of one or more generations."""

    def __init__(self, generations: Sequence[Generation]) -> None:
        self.generations = tuple(generations)
        self.bases = np.concatenate([[0], np.cumsum([item.count for item in generations])]).astype(np.int64)

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.bases[-1])

    def locate(self, row: int) -> tuple[Generation, int]:
        """Return the generation of a row, and the row in it."""
        place = int(np.searchsorted(self.bases, row, side="right")) - 1
        return self.generations[place], row - int(self.bases[place])

    def split(self, rows: Rows) -> Iterator[tuple[Generation, npt.NDArray[np.int64], Rows]]:
        """Yield for each generation concerned the places in `rows` that are its own, and its rows there."""
        if len(self.generations) == 1:
            if len(rows):
                yield self.generations[0], np.arange(len(rows)), rows
            return
        owners = np.searchsorted(self.bases, rows, side="right") - 1
        for place in np.flatnonzero(np.bincount(owners, minlength=1)).tolist():
            places = np.flatnonzero(owners == place)
            yield self.generations[place], places, rows[places] - self.bases[place]

    def numbers(self, rows: Rows, column: str) -> npt.NDArray[np.float64]:
        """Return a number column of the rows."""
        found = np.zeros(len(rows), np.float64)
        for generation, places, local in self.split(rows):
            found[places] = generation.rows.numbers[column][local]
        return found

    def have_vectors(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Tell which rows have a vector."""
        found = np.zeros(len(rows), np.bool_)
        for generation, places, local in self.split(rows):
            found[places] = generation.codes.valid[local]
        return found

    def tests(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Tell which rows are tests."""
        found = np.zeros(len(rows), np.bool_)
        for generation, places, local in self.split(rows):
            found[places] = generation.rows.is_test(local)
        return found

    def text_bytes(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Return the length of the text of each row, in bytes."""
        found = np.zeros(len(rows), np.float64)
        for generation, places, local in self.split(rows):
            found[places] = generation.rows.text_bytes(local)
        return found

    def blooms(self, rows: Rows) -> npt.NDArray[np.uint8]:
        """Return the (n, 32) token blooms of the rows."""
        found = np.zeros((len(rows), 32), np.uint8)
        for generation, places, local in self.split(rows):
            found[places] = generation.rows.blooms[local]
        return found

    def strings(self, rows: Rows, column: str) -> list[str]:
        """Return a string column of the rows."""
        found = [""] * len(rows)
        for generation, places, local in self.split(rows):
            for place, text in zip(places.tolist(), generation.rows.strings(column, local), strict=True):
                found[place] = text
        return found

    def label_values(self, rows: Rows, column: str, value_of: Callable[[str], float]) -> npt.NDArray[np.float64]:
        """Return a number for the label that each row has in a dictionary-coded column, asked once per label."""
        return self.label_rows(rows, column, lambda label: (value_of(label),), 1)[:, 0]

    def label_rows(
        self, rows: Rows, column: str, values_of: Callable[[str], tuple[float, ...]], width: int
    ) -> npt.NDArray[np.float64]:
        """Return (n, width) numbers for the labels of the rows, asked once per label."""
        found = np.zeros((len(rows), width), np.float64)
        for generation, places, local in self.split(rows):
            labels = generation.rows.labels[column]
            codes, inverse = np.unique(labels.codes[local], return_inverse=True)
            values = [values_of(labels.value(code)) for code in codes.tolist()]
            found[places] = np.array(values, np.float64).reshape(len(codes), width)[inverse]
        return found

    def order(self, rows: Rows, *keys: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the places of the rows sorted by the keys, the first deciding first, ascending, then by chunk id."""
        ids = np.zeros((len(rows), 16), np.uint8)
        for generation, places, local in self.split(rows):
            ids[places] = generation.rows.ids[local]
        halves = ids.view(">u8")
        return np.lexsort((halves[:, 1], halves[:, 0], *reversed(keys)))
