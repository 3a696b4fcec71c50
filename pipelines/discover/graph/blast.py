"""What a change of a function can reach: its distinct transitive callers. In: the call graph. Out: a count per node.

A search holds many starts at once, as the rows of a sparse boolean matrix: one product with the matrix of callers takes
all of them a step further. Time and memory follow what is reached, not nodes x nodes; a start that has reached CAP
callers stops, and a search that grows wide is halved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

#: Calls between a change and a caller that counts. Beyond five, most of a program reaches most of its foundations.
DEPTH = 5
#: Callers that are counted, at most. The measure orders functions, and above this many all are foundations; without a
#: limit the work grows with the square of the nodes.
CAP = 10_000
#: Edges that one product may follow: what it reaches then stays in a processor's cache, which halves the time.
_MAX_STEP_EDGES = 1_000_000


@dataclass(frozen=True, slots=True)
class _Search:
    """Starts, and by row what each has reached, at last in `frontier`; `depth` steps are left."""

    starts: npt.NDArray[np.int64]
    reached: sp.csr_array
    frontier: sp.csr_array
    depth: int

    def rows(self, which: slice | npt.NDArray[np.bool_]) -> _Search:
        """Return the search of some of the starts."""
        return _Search(self.starts[which], self.reached[which], self.frontier[which], self.depth)

    def step(self, callers: sp.csr_array) -> _Search:
        """Return the search one call further."""
        frontier = (self.frontier @ callers) > self.reached
        return _Search(self.starts, self.reached + frontier, frontier, self.depth - 1)

    def sizes(self) -> npt.NDArray[np.int64]:
        """Return how many nodes each start has reached, itself included."""
        sizes: npt.NDArray[np.int64] = np.diff(self.reached.indptr).astype(np.int64)
        return sizes


def blast_radius(calls: sp.csr_array, *, depth: int = DEPTH, cap: int = CAP) -> npt.NDArray[np.int32]:
    """Return (V,) from how many other nodes a path of at most `depth` calls leads to each node.

    :param calls: (V, V), an entry at [i, j] where i calls j. :param cap: the largest count that is told apart.
    """
    callers = (calls != 0).T.tocsr()
    direct = np.diff(callers.indptr)
    radius = np.zeros(calls.shape[0], np.int32)
    starts = np.flatnonzero(direct)
    themselves = sp.eye_array(len(direct), dtype=np.bool_, format="csr")[starts]
    pending = [_Search(starts, themselves, themselves, depth)]
    while pending:
        search = pending.pop()
        if search.depth == 0 or search.frontier.nnz == 0:
            radius[search.starts] = np.minimum(search.sizes() - 1, cap)
        elif len(search.starts) > 1 and direct[search.frontier.indices].sum() > _MAX_STEP_EDGES:
            middle = len(search.starts) // 2
            pending += search.rows(slice(middle, None)), search.rows(slice(middle))
        else:
            search = search.step(callers)
            full = search.sizes() > cap
            radius[search.starts[full]] = cap
            pending.append(search.rows(~full) if full.any() else search)
    return radius
