"""How central a function is. In: the call graph. Out: PageRank, strongly connected components, percentile ranks.

PageRank as Page and Brin define it, on the graph whose edges run from caller to callee with the confidence as weight:

    x' = d (P^T x + m / N) + (1 - d) / N,   d = .85

where P has rows of sum 1 and m is the mass of the nodes that call nothing, spread evenly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

DAMPING = 0.85
#: Largest change of one step, summed over all nodes, as a share of the whole mass (which is 1). The result is then
#: within d / (1 - d), about six times as much, of the limit.
TOLERANCE = 1e-10
#: .85 ** 200 is below 1e-14: the tolerance is always reached before.
MAX_ITERATIONS = 200


def pagerank(
    weights: sp.csr_array,
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> tuple[npt.NDArray[np.float64], int]:
    """Return (V,) PageRank, summing to 1, and how many steps it took.

    :param weights: (V, V) from caller to callee, positive, without self-loops.
    """
    nodes = weights.shape[0]
    if nodes == 0:
        return np.empty(0), 0
    given = np.asarray(weights.sum(axis=1)).ravel()
    dangling = given == 0
    share = np.divide(damping, given, out=np.zeros(nodes), where=~dangling)
    taken_from = weights.T.tocsr()  # rows are callees, so that one step reads memory in order
    rank = np.full(nodes, 1 / nodes)
    steps, change = 0, np.inf
    while change > tolerance and steps < max_iterations:
        spread = (1 - damping + damping * rank[dangling].sum()) / nodes
        after = taken_from @ (rank * share)
        after += spread
        change = np.abs(after - rank).sum()
        rank = after
        steps += 1
    return rank / rank.sum(), steps


def components(weights: sp.csr_array) -> npt.NDArray[np.int32]:
    """Return the (V,) strongly connected component of each node, named by its least node."""
    if weights.shape[0] == 0:
        return np.empty(0, np.int32)
    _, labels = connected_components(weights, directed=True, connection="strong")
    _, least, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return least[inverse].astype(np.int32)


def percentile_ranks(values: npt.NDArray[Any], among: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """Return, for each node of `among`, the share of the others there whose value is smaller; 0 for all other nodes.

    Equal values get equal ranks, so a value that all share gets 0.
    """
    ranks = np.zeros(len(values), np.float32)
    counted = values[among]
    if len(counted) > 1:
        ranks[among] = np.searchsorted(np.sort(counted), counted, side="left") / (len(counted) - 1)
    return ranks
