"""The call graph for other tools. In: an opened graph_snapshot. Out: a networkx graph, a GraphML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pipelines.artifacts import Artifact
from pipelines.records import CallStrategy

if TYPE_CHECKING:
    import networkx as nx


def export_graph(artifact: Artifact) -> nx.DiGraph:
    """Return the call graph. Nodes are symbol ids in hexadecimal, with the columns of nodes and metrics as attributes.

    Edges have confidence, strategy (its name in lower case) and sites. Takes about ten times the artifact's memory.
    """
    import networkx as nx

    graph = nx.DiGraph()
    nodes = artifact.table("nodes.parquet").to_pylist()
    ids = [node.pop("symbol_id").hex() for node in nodes]
    for key, node, metrics in zip(ids, nodes, artifact.table("metrics.parquet").to_pylist(), strict=True):
        graph.add_node(key, **node, **metrics)
    indptr = artifact.array("indptr.npy")
    columns = [artifact.array(f"{name}.npy").tolist() for name in ("indices", "confidence", "strategy", "sites")]
    callers = np.repeat(np.arange(len(ids)), np.diff(indptr)).tolist()
    for caller, callee, confidence, strategy, sites in zip(callers, *columns, strict=True):
        name = CallStrategy(strategy).name.lower()
        graph.add_edge(ids[caller], ids[callee], confidence=confidence, strategy=name, sites=sites)
    return graph


def write_graphml(artifact: Artifact, path: Path) -> None:
    """Write the call graph as GraphML, for Gephi, yEd and the like."""
    import networkx as nx

    nx.write_graphml(export_graph(artifact), path)
