"""The asset graph_snapshot. In: symbols, calls and imports of all buckets. Out: nodes, resolved edges, metrics.

Every call site ends in one counted outcome: bound, with the strategy that bound it, or unresolved, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.artifacts import Artifact, ArtifactWriter, Target
from pipelines.discover.graph.binding import Binding, Bound, bind_calls
from pipelines.discover.graph.blast import CAP, DEPTH, blast_radius
from pipelines.discover.graph.edges import CallGraph, EdgeList
from pipelines.discover.graph.metrics import TOLERANCE, components, pagerank, percentile_ranks
from pipelines.errors import ArtifactMismatch
from pipelines.formats import METRICS_TABLE, NODES_TABLE, SYMBOLS
from pipelines.progress import Progress
from pipelines.records import CALLABLE_KINDS, CallStrategy, UnresolvedCall
from pipelines.report import StageReport
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore

#: Edges that count for the blast radius: a guess among several definitions must not make one of them look dangerous.
_SURE = 0.5


@dataclass(slots=True)
class _Outcomes:
    """What became of the call sites."""

    edges: EdgeList = field(default_factory=EdgeList)
    bound: Counter[str] = field(default_factory=Counter)
    unresolved: Counter[str] = field(default_factory=Counter)

    def add(self, calls: Bound) -> None:
        """Add the calls of a bucket."""
        if calls.outside:
            self.unresolved[UnresolvedCall.MODULE_LEVEL] += calls.outside
        sites = np.bincount(calls.place, calls.sites, len(calls.kinds)).astype(np.int64).tolist()
        for outcome, count in zip(calls.kinds, sites, strict=True):
            if isinstance(outcome, Binding):
                self.bound[outcome.strategy.name.lower()] += count
            else:
                self.unresolved[str(outcome)] += count
        self.edges.add(calls)


def build_graph(store: ArtifactStore, target: Target, progress: Progress) -> StageReport:
    """Make graph_snapshot.

    :param store: the store. :param target: its inputs are the symbols of all buckets, in order.
    :param progress: told the buckets as their calls are resolved.
    :raises ArtifactMismatch: if the symbols are not in order of their id, or a call names a caller that is not there.
    """

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        buckets = [store.open(ref) for ref in target.inputs if ref.asset == SYMBOLS.name]
        callable_ = _write_nodes(writer, buckets)
        outcomes = _resolve(buckets, progress)
        graph = outcomes.edges.graph(len(callable_))
        outcomes.edges = EdgeList()  # its arrays are as large as the graph's
        for name in ("indptr", "indices", "confidence", "strategy", "sites"):
            writer.array(f"{name}.npy", getattr(graph, name))
        metrics, figures = _metrics(graph, callable_)
        writer.table("metrics.parquet", metrics, METRICS_TABLE)
        figures |= {
            "edges": len(graph.indices),
            "calls": outcomes.bound.total() + outcomes.unresolved.total(),
            "resolved_by": _in_order(outcomes.bound, [item.name.lower() for item in CallStrategy]),
            "unresolved": _in_order(outcomes.unresolved, list(UnresolvedCall)),
        }
        writer.counts |= {"rows": len(callable_), **figures}
        report.rows = report.computed = len(callable_)
        report.skipped.update({f"call_{reason}": count for reason, count in figures["unresolved"].items()})
        report.extra |= figures

    return run_stage(store, target, work)


def _write_nodes(writer: ArtifactWriter, buckets: Sequence[Artifact]) -> npt.NDArray[np.bool_]:
    """Write all nodes, and return which of them are functions: the names are not kept in memory."""
    nodes = _nodes(buckets)
    writer.table("nodes.parquet", nodes, NODES_TABLE)
    return np.asarray(pc.is_in(nodes["kind"], pa.array(sorted(CALLABLE_KINDS), pa.string())))


def _nodes(buckets: Sequence[Artifact]) -> pa.Table:
    tables = [bucket.table("symbols.parquet", columns=NODES_TABLE.names) for bucket in buckets]
    nodes = pa.concat_tables(tables) if tables else NODES_TABLE.empty_table()
    words = np.frombuffer(b"".join(nodes["symbol_id"].to_pylist()), ">u8").reshape(-1, 2)
    high, low = words[:, 0], words[:, 1]
    ascending = (high[1:] > high[:-1]) | ((high[1:] == high[:-1]) & (low[1:] > low[:-1]))
    if not ascending.all():
        at = int(np.argmin(ascending)) + 1
        raise ArtifactMismatch(
            f"symbol {nodes['qualified_name'][at]} of {nodes['path'][at]} is not in order of its id",
            hint="materialise symbols of every bucket again",
        )
    return nodes


def _resolve(buckets: Sequence[Artifact], progress: Progress) -> _Outcomes:
    outcomes = _Outcomes()
    progress.begin("resolve calls", len(buckets))
    for calls in bind_calls(buckets, progress.advance) if buckets else ():
        outcomes.add(calls)
    progress.end()
    return outcomes


def _metrics(graph: CallGraph, callable_: npt.NDArray[np.bool_]) -> tuple[pa.Table, dict[str, Any]]:
    weights = graph.matrix()
    rank, steps = pagerank(weights)
    blast = blast_radius(graph.matrix(_SURE))
    # nodes whose PageRank differs by less than it is exact to are equal, not ordered by rounding
    columns: dict[str, npt.NDArray[Any]] = {"pagerank": np.round(rank / TOLERANCE), "blast": blast}
    ranks = {name: percentile_ranks(values, callable_) for name, values in columns.items()}
    table = pa.table(
        {
            "pagerank": rank,
            "pagerank_rank": ranks["pagerank"],
            "component": components(weights),
            "blast": blast,
            "blast_rank": ranks["blast"],
        }
    )
    figures = {
        "inactive": [name for name, values in ranks.items() if not values.any()],
        "pagerank_iterations": steps,
        "blast_depth": DEPTH,
        "blast_capped": int((blast >= CAP).sum()),
    }
    return table, figures


def _in_order(counts: Counter[str], names: Sequence[str]) -> dict[str, int]:
    return {str(name): counts[name] for name in names if counts[name]}
