"""Who takes how much from whom: the mixing matrix. In: call edges, which row shows which node. Out: a sparse matrix.

For a row i with neighbours N(i), the functions it calls (or, both ways, calls or is called by), the weight of j is

    w_ij = c_ij / sqrt(d_j)  divided by the sum of these over N(i)

with c_ij the confidence of the edge and d_j the number of rows that have j for a neighbour: that a function calls a
logger which everyone calls says little about it. Left out are self-loops, edges below the confidence threshold, edges
of a name-only strategy into a node that many of them meet in, and rows without a valid vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pipelines.records import NAME_ONLY_STRATEGIES
from pipelines.settings import DiffusionSettings

#: Callers that may meet in one node by its name alone. Real helpers are mostly called from fewer places without an
#: import, class or scope that proves it; a false hub (`get`, `run`) gathers hundreds.
_NAME_ONLY_CALLERS = 32


@dataclass(frozen=True, slots=True)
class Edges:
    """Call edges between nodes, one per pair."""

    callers: npt.NDArray[np.int64]
    callees: npt.NDArray[np.int64]
    confidence: npt.NDArray[np.float32]
    strategy: npt.NDArray[np.uint8]

    def select(self, mask: npt.NDArray[np.bool_]) -> Edges:
        """Return the edges where `mask` is True."""
        return Edges(self.callers[mask], self.callees[mask], self.confidence[mask], self.strategy[mask])


def mixing_matrix(
    edges: Edges, row_of_node: npt.NDArray[np.int64], rows: int, settings: DiffusionSettings
) -> sp.csr_array:
    """Return the (rows, rows) matrix of weights; each row sums to 1, or holds nothing.

    :param row_of_node: the row that shows a node, -1 where none does or its vector is not valid.
    """
    kept = _trusted(edges, settings.min_confidence, len(row_of_node))
    takers, givers = row_of_node[kept.callers], row_of_node[kept.callees]
    shown = (takers >= 0) & (givers >= 0)
    weights = kept.confidence[shown].astype(np.float64)
    matrix = sp.csr_array((weights, (takers[shown], givers[shown])), shape=(rows, rows))
    if settings.bidirectional:
        matrix = matrix.maximum(matrix.T).tocsr()
    takers_of = np.bincount(matrix.indices, minlength=rows)
    matrix.data /= np.sqrt(takers_of[matrix.indices])
    totals = np.asarray(matrix.sum(axis=1)).ravel()
    matrix.data /= np.repeat(totals, np.diff(matrix.indptr))
    matrix.sort_indices()
    small = np.int32 if max(rows, matrix.nnz) < 2**31 else np.int64  # half the memory to walk through
    parts = (matrix.data.astype(np.float32), matrix.indices.astype(small), matrix.indptr.astype(small))
    return sp.csr_array(parts, shape=matrix.shape)


def _trusted(edges: Edges, min_confidence: float, nodes: int) -> Edges:
    kept = edges.select((edges.confidence >= np.float32(min_confidence)) & (edges.callers != edges.callees))
    by_name = np.isin(kept.strategy, [int(item) for item in sorted(NAME_ONLY_STRATEGIES)])
    met = np.bincount(kept.callees[by_name], minlength=nodes)
    return kept.select(~by_name | (met[kept.callees] <= _NAME_ONLY_CALLERS))
