"""Call edges as flat arrays. In: bound calls, one by one. Out: a CSR matrix with one edge per pair of nodes."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


@dataclass(frozen=True, slots=True)
class CallGraph:
    """Rows are callers, columns callees; both ascend. Self-loops are kept: they are the edges i to i."""

    indptr: npt.NDArray[np.int64]  # (V + 1,)
    indices: npt.NDArray[np.int32]  # (E,)
    confidence: npt.NDArray[np.float32]  # (E,) of the surest site
    strategy: npt.NDArray[np.uint8]  # (E,) records.CallStrategy of the surest site
    sites: npt.NDArray[np.int32]  # (E,) call sites between the two

    @property
    def callers(self) -> npt.NDArray[np.int64]:
        """The (E,) caller of each edge."""
        return np.repeat(np.arange(len(self.indptr) - 1, dtype=np.int64), np.diff(self.indptr))

    def matrix(self, min_confidence: float = 0.0) -> sp.csr_array:
        """Return the (V, V) confidence matrix, without self-loops and without edges below `min_confidence`."""
        nodes = len(self.indptr) - 1
        callers = self.callers
        kept = (callers != self.indices) & (self.confidence >= np.float32(min_confidence))
        indptr = np.concatenate(([0], np.cumsum(np.bincount(callers[kept], minlength=nodes))))
        return sp.csr_array((self.confidence[kept].astype(np.float64), self.indices[kept], indptr), (nodes, nodes))


@dataclass(slots=True)
class EdgeList:
    """Collects edges in any order, parallel ones included."""

    callers: array[int] = field(default_factory=lambda: array("i"))
    callees: array[int] = field(default_factory=lambda: array("i"))
    confidence: array[float] = field(default_factory=lambda: array("f"))
    strategy: array[int] = field(default_factory=lambda: array("B"))
    sites: array[int] = field(default_factory=lambda: array("i"))

    def add(self, caller: int, callees: Sequence[int], confidence: float, strategy: int, sites: int) -> None:
        """Add one edge to each of the callees."""
        for callee in callees:
            self.callers.append(caller)
            self.callees.append(callee)
            self.confidence.append(confidence)
            self.strategy.append(strategy)
            self.sites.append(sites)

    def graph(self, nodes: int) -> CallGraph:
        """Return the graph of `nodes` nodes; of parallel edges the surest stays, with the sites of all."""
        callers = np.frombuffer(self.callers, np.int32)
        callees = np.frombuffer(self.callees, np.int32)
        confidence = np.frombuffer(self.confidence, np.float32)
        strategy = np.frombuffer(self.strategy, np.uint8)
        order = np.lexsort((strategy, -confidence, callees, callers))
        pairs = callers[order].astype(np.int64) * nodes + callees[order]
        first = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1]))) if len(pairs) else np.empty(0, int)
        sites = np.frombuffer(self.sites, np.int32)[order]
        surest = order[first]
        return CallGraph(
            np.concatenate(([0], np.cumsum(np.bincount(callers[surest], minlength=nodes)))).astype(np.int64),
            callees[surest],
            confidence[surest],
            strategy[surest],
            np.add.reduceat(sites, first).astype(np.int32) if len(first) else sites,
        )
