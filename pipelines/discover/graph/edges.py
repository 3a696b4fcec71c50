"""Call edges as flat arrays. In: bound calls, one by one. Out: a CSR matrix with one edge per pair of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pipelines.discover.graph.binding import Binding, Bound


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


class EdgeList:
    """Collects the edges of bound calls, parallel ones included."""

    def __init__(self) -> None:
        self._parts: list[tuple[npt.NDArray[Any], ...]] = [_NO_EDGES]

    def add(self, calls: Bound) -> None:
        """Add the edges of the calls of a bucket: one to each definition that a call may mean."""
        bindings = [outcome if isinstance(outcome, Binding) else None for outcome in calls.kinds]
        counts = np.array([len(item.nodes) if item else 0 for item in bindings], np.int64)
        first = np.cumsum(counts) - counts
        nodes = np.array([node for item in bindings if item for node in item.nodes], np.int32)
        confidence = np.array([item.confidence if item else 0 for item in bindings], np.float32)
        strategy = np.array([item.strategy if item else 0 for item in bindings], np.uint8)
        many = counts[calls.place]
        rows = np.repeat(np.arange(len(calls.place)), many)
        inside = np.arange(len(rows)) - np.repeat(np.cumsum(many) - many, many)
        kind = calls.place[rows]
        self.append(
            calls.caller[rows],
            nodes[first[kind] + inside],
            confidence[kind],
            strategy[kind],
            calls.sites[rows].astype(np.int32),
        )

    def append(self, *columns: npt.NDArray[Any]) -> None:
        """Add edges as columns: callers, callees, confidence, strategy, sites."""
        self._parts.append(columns)

    def graph(self, nodes: int) -> CallGraph:
        """Return the graph of `nodes` nodes; of parallel edges the surest stays, with the sites of all."""
        columns: list[npt.NDArray[Any]] = [np.concatenate(column) for column in zip(*self._parts, strict=True)]
        callers, callees, confidence, strategy, sites = columns
        order = np.lexsort((strategy, -confidence, callees, callers))
        pairs = callers[order].astype(np.int64) * nodes + callees[order]
        first = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1]))) if len(pairs) else np.empty(0, int)
        surest = order[first]
        return CallGraph(
            np.concatenate(([0], np.cumsum(np.bincount(callers[surest], minlength=nodes)))).astype(np.int64),
            callees[surest].astype(np.int32),
            confidence[surest].astype(np.float32),
            strategy[surest].astype(np.uint8),
            np.add.reduceat(sites[order], first).astype(np.int32) if len(first) else sites,
        )


_NO_EDGES: tuple[npt.NDArray[Any], ...] = tuple(
    np.empty(0, kind) for kind in (np.int32, np.int32, np.float32, np.uint8, np.int32)
)
