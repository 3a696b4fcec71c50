"""What a file as a whole says of its rows. In: candidate rows and a value of each. Out: values, places.

A question is often answered by a file, of which many rows are fair candidates and none is the best. Such rows support
one another; and once one of them is shown, another file says more than the next row of the same.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.fusion import Values
from pipelines.retrieval.rows import Rows


def file_numbers(corpus: Corpus, rows: Rows) -> npt.NDArray[np.int64]:
    """Return a number for the file of each row, equal for rows of one file of one repository."""
    found = np.zeros(len(rows), np.int64)
    for place, (generation, places, local) in enumerate(corpus.split(rows)):
        found[places] = generation.rows.labels["path"].codes[local].astype(np.int64) * len(corpus.generations) + place
    return found


def best_of_file(files: npt.NDArray[np.int64], values: Values) -> Values:
    """Return for each row the greatest value among the rows of its file."""
    _, group = np.unique(files, return_inverse=True)
    best = np.zeros(int(group.max(initial=-1)) + 1, np.float64)
    np.maximum.at(best, group, values)
    return best[group]


def sum_of_file(files: npt.NDArray[np.int64], values: Values, most: int) -> Values:
    """Return for each row the sum of the `most` greatest values among the rows of its file."""
    _, group = np.unique(files, return_inverse=True)
    counted = places_in_file(files, values) < most
    totals = np.bincount(group[counted], weights=values[counted], minlength=int(group.max(initial=-1)) + 1)
    return totals[group].astype(np.float64, copy=False)


def rows_of_file(files: npt.NDArray[np.int64]) -> Values:
    """Return for each row how many of the rows are of its file."""
    _, group, counts = np.unique(files, return_inverse=True, return_counts=True)
    return counts[group].astype(np.float64)


def places_in_file(files: npt.NDArray[np.int64], scores: Values) -> npt.NDArray[np.int64]:
    """Return how many rows of the same file stand before each row, by score, then row."""
    order = np.lexsort((-scores, files))
    ordered = files[order]
    first = np.searchsorted(ordered, ordered)
    places = np.empty(len(files), np.int64)
    places[order] = np.arange(len(files)) - first
    return places
