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
from pipelines.discover.binding import Binding, Definitions, Imports, Resolver
from pipelines.discover.blast import CAP, DEPTH, blast_radius
from pipelines.discover.edges import CallGraph, EdgeList
from pipelines.discover.metrics import TOLERANCE, components, pagerank, percentile_ranks
from pipelines.errors import ArtifactMismatch
from pipelines.formats import METRICS_TABLE, NODES_TABLE, SYMBOLS
from pipelines.progress import Progress
from pipelines.records import CALLABLE_KINDS, CallStrategy, UnresolvedCall
from pipelines.report import StageReport
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore

#: Edges that count for the blast radius: a guess among several definitions must not make one of them look dangerous.
_SURE = 0.5
_SYMBOL_COLUMNS = ["path", "kind", "name", "qualified_name", "start_byte", "signature"]
_SITE_COLUMNS = ["path", "caller", "name", "receiver"]


@dataclass(slots=True)
class _Outcomes:
    """What became of the call sites."""

    edges: EdgeList = field(default_factory=EdgeList)
    bound: Counter[str] = field(default_factory=Counter)
    unresolved: Counter[str] = field(default_factory=Counter)

    def count(self, caller: int, outcome: Binding | UnresolvedCall, sites: int) -> None:
        if isinstance(outcome, Binding):
            self.bound[outcome.strategy.name.lower()] += sites
            self.edges.add(caller, outcome.nodes, outcome.confidence, outcome.strategy, sites)
        else:
            self.unresolved[str(outcome)] += sites


def build_graph(store: ArtifactStore, target: Target, progress: Progress) -> StageReport:
    """Make graph_snapshot.

    :param store: the store. :param target: its inputs are the symbols of all buckets, in order.
    :param progress: told the buckets as their calls are resolved.
    :raises ArtifactMismatch: if the symbols are not in order of their id, or a call names a caller that is not there.
    """

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        buckets = [store.open(ref) for ref in target.inputs if ref.asset == SYMBOLS.name]
        nodes = _nodes(buckets)
        outcomes = _resolve(buckets, progress)
        graph = outcomes.edges.graph(nodes.num_rows)
        outcomes.edges = EdgeList()  # its arrays are as large as the graph's
        writer.table("nodes.parquet", nodes, NODES_TABLE)
        for name in ("indptr", "indices", "confidence", "strategy", "sites"):
            writer.array(f"{name}.npy", getattr(graph, name))
        metrics, figures = _metrics(graph, nodes["kind"])
        writer.table("metrics.parquet", metrics, METRICS_TABLE)
        figures |= {
            "edges": len(graph.indices),
            "calls": outcomes.bound.total() + outcomes.unresolved.total(),
            "resolved_by": _in_order(outcomes.bound, [item.name.lower() for item in CallStrategy]),
            "unresolved": _in_order(outcomes.unresolved, list(UnresolvedCall)),
        }
        writer.counts |= {"rows": nodes.num_rows, **figures}
        report.rows = report.computed = nodes.num_rows
        report.skipped.update({f"call_{reason}": count for reason, count in figures["unresolved"].items()})
        report.extra |= figures

    return run_stage(store, target, work)


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
    definitions = Definitions()
    for bucket in buckets:
        files = bucket.table("files.parquet", columns=["path", "language"])
        definitions.add_files(files["path"].to_pylist(), files["language"].to_pylist())
        symbols = bucket.table("symbols.parquet", columns=_SYMBOL_COLUMNS)
        definitions.add_symbols({name: _strings(symbols[name]) for name in _SYMBOL_COLUMNS})
    imports = Imports(definitions)
    for bucket in buckets:
        rows = bucket.table("imports.parquet", columns=["path", "module", "name", "alias"])
        columns = [_strings(rows[name]) for name in rows.column_names]
        imports.add(columns[0], zip(*columns[1:], strict=True))
    resolver = Resolver(definitions, imports)
    outcomes = _Outcomes()
    progress.begin("resolve calls", len(buckets))
    first_node = 0
    for bucket in buckets:
        first_node += _resolve_bucket(bucket, first_node, definitions, resolver, outcomes)
        progress.advance()
    progress.end()
    return outcomes


def _resolve_bucket(
    bucket: Artifact, first_node: int, definitions: Definitions, resolver: Resolver, outcomes: _Outcomes
) -> int:
    """Resolve the calls of a bucket; return how many symbols it has."""
    ids = bucket.table("symbols.parquet", columns=["symbol_id"])["symbol_id"].combine_chunks()
    calls = bucket.table("calls.parquet", columns=_SITE_COLUMNS)
    sites = calls.group_by(_SITE_COLUMNS, use_threads=False).aggregate([([], "count_all")])
    callers = pc.index_in(sites["caller"], value_set=ids, skip_nulls=True)
    lost = pc.and_(pc.is_valid(sites["caller"]), pc.is_null(callers))
    if pc.any(lost).as_py():
        path = sites.filter(lost)["path"][0]
        raise ArtifactMismatch(f"a call in {path} names a caller that is not among the symbols of {bucket.ref}")
    rows = zip(
        _strings(sites["path"]),
        callers.to_pylist(),
        _strings(sites["name"]),
        _strings(sites["receiver"]),
        sites["count_all"].to_pylist(),
        strict=True,
    )
    for path, caller, name, receiver, count in rows:
        if caller is None:
            outcomes.unresolved[UnresolvedCall.MODULE_LEVEL] += count
        else:
            node = first_node + caller
            outcomes.count(node, resolver.resolve(definitions.file_of_path[path], node, name, receiver), count)
    return len(ids)


def _metrics(graph: CallGraph, kinds: pa.ChunkedArray) -> tuple[pa.Table, dict[str, Any]]:
    weights = graph.matrix()
    rank, steps = pagerank(weights)
    blast = blast_radius(graph.matrix(_SURE))
    callable_ = np.asarray(pc.is_in(kinds, pa.array(sorted(CALLABLE_KINDS), pa.string())))
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


def _strings(column: pa.ChunkedArray) -> list[Any]:
    """Return the values as a list in which equal strings are one object: names and paths repeat a lot."""
    if not pa.types.is_string(column.type):
        return list(column.to_pylist())
    encoded = column.combine_chunks().dictionary_encode()
    words = [*encoded.dictionary.to_pylist(), None]
    indices: npt.NDArray[np.int64] = pc.fill_null(encoded.indices, -1).to_numpy()
    return [words[index] for index in indices]


def _in_order(counts: Counter[str], names: Sequence[str]) -> dict[str, int]:
    return {str(name): counts[name] for name in names if counts[name]}
