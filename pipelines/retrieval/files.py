"""What a file as a whole says of its rows. In: candidate rows and their evidence. Out: support, places.

A question is often answered by a file, of which many rows are fair candidates and none is the best. Such rows support
one another; and once one of them is shown, another file says more than the next row of the same.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.fusion import Values
from pipelines.retrieval.rows import Rows

#: Share of the evidence of a file's best rows that each of its rows gets, and how many rows count. Worth .025 NDCG@10
#: on the benchmark, where files are judged; on the bundled judgments, where functions are, it costs .02, and more of it
#: costs more.
SUPPORT = 0.1
SUPPORTING_ROWS = 5
#: Flattening of ranks in that evidence: many fair rows shall count, so it is larger than that of the rows' own.
SUPPORT_K = 40
#: What each further row of one file keeps of its score. Worth .03 NDCG@10 on the benchmark.
REPEAT_FACTOR = 0.5


def file_numbers(corpus: Corpus, rows: Rows) -> npt.NDArray[np.int64]:
    """Return a number for the file of each row, equal for rows of one file of one repository."""
    found = np.zeros(len(rows), np.int64)
    for place, (generation, places, local) in enumerate(corpus.split(rows)):
        found[places] = generation.rows.labels["path"].codes[local].astype(np.int64) * len(corpus.generations) + place
    return found


def file_support(files: npt.NDArray[np.int64], evidence: Values) -> Values:
    """Return for each row the sum of the best evidence of its file's rows, its own included."""
    _, group = np.unique(files, return_inverse=True)
    places = places_in_file(files, evidence)
    counted = places < SUPPORTING_ROWS
    totals = np.bincount(group[counted], weights=evidence[counted], minlength=int(group.max(initial=-1)) + 1)
    return totals[group].astype(np.float64, copy=False)


def places_in_file(files: npt.NDArray[np.int64], scores: Values) -> npt.NDArray[np.int64]:
    """Return how many rows of the same file stand before each row, by score, then row."""
    order = np.lexsort((-scores, files))
    ordered = files[order]
    first = np.searchsorted(ordered, ordered)
    places = np.empty(len(files), np.int64)
    places[order] = np.arange(len(files)) - first
    return places
