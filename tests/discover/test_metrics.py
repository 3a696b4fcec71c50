"""Metrics of the call graph, with networkx as the oracle."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from pipelines.discover.graph import blast
from pipelines.discover.graph.blast import blast_radius
from pipelines.discover.graph.edges import EdgeList
from pipelines.discover.graph.metrics import components, pagerank, percentile_ranks

NODES = 12
pairs = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(lambda pair: pair[0] != pair[1])
graphs = st.dictionaries(pairs, st.sampled_from([0.18, 0.45, 0.5, 0.9, 0.95]), max_size=40)


def matrix(edges: dict[tuple[int, int], float], nodes: int = NODES) -> sp.csr_array:
    rows, columns = zip(*edges, strict=True) if edges else ((), ())
    return sp.csr_array((list(edges.values()), (np.array(rows, int), np.array(columns, int))), shape=(nodes, nodes))


def digraph(edges: dict[tuple[int, int], float], nodes: int = NODES) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_weighted_edges_from((a, b, weight) for (a, b), weight in edges.items())
    return graph


@given(graphs)
def test_pagerank_equals_networkx(edges: dict[tuple[int, int], float]) -> None:
    rank, _ = pagerank(matrix(edges))
    expected = nx.pagerank(digraph(edges), alpha=0.85, tol=1e-14, max_iter=1000)
    assert rank == pytest.approx([expected[node] for node in range(NODES)], abs=1e-8)
    assert rank.sum() == pytest.approx(1, abs=1e-12)


def test_pagerank_of_no_node_and_of_no_edge() -> None:
    assert pagerank(matrix({}, 0))[0].tolist() == []
    assert pagerank(matrix({}, 4))[0].tolist() == [0.25] * 4


@given(graphs)
def test_components_equal_networkx_and_are_named_by_their_least_node(edges: dict[tuple[int, int], float]) -> None:
    expected = {node: min(group) for group in nx.strongly_connected_components(digraph(edges)) for node in group}
    assert components(matrix(edges)).tolist() == [expected[node] for node in range(NODES)]


@given(graphs, st.integers(1, 5))
def test_blast_radius_counts_the_callers_within_the_depth(edges: dict[tuple[int, int], float], depth: int) -> None:
    reverse = digraph(edges).reverse()
    expected = [len(nx.single_source_shortest_path_length(reverse, node, depth)) - 1 for node in range(NODES)]
    assert blast_radius(matrix(edges), depth=depth).tolist() == expected


@given(graphs)
def test_blast_radius_without_a_depth_counts_all_ancestors(edges: dict[tuple[int, int], float]) -> None:
    graph = digraph(edges)
    assert blast_radius(matrix(edges), depth=NODES).tolist() == [
        len(nx.ancestors(graph, node)) for node in range(NODES)
    ]


@given(graphs, st.integers(1, 6))
def test_blast_radius_stops_at_the_cap(edges: dict[tuple[int, int], float], cap: int) -> None:
    whole = blast_radius(matrix(edges), depth=NODES)
    assert blast_radius(matrix(edges), depth=NODES, cap=cap).tolist() == np.minimum(whole, cap).tolist()


@given(st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=60))
def test_self_loops_and_parallel_edges_count_once_or_not_at_all(calls: list[tuple[int, int]]) -> None:
    edges = EdgeList()
    callers, callees = (np.array([pair[side] for pair in calls], np.int32) for side in (0, 1))
    ones = np.ones(len(calls))
    edges.append(callers, callees, 0.9 * ones, ones, ones)
    weights = edges.graph(NODES).matrix()
    graph = nx.DiGraph(nx.MultiDiGraph(calls))  # of parallel edges one
    graph.add_nodes_from(range(NODES))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    expected = nx.pagerank(graph, alpha=0.85, tol=1e-14, max_iter=1000)
    groups = {node: min(group) for group in nx.strongly_connected_components(graph) for node in group}
    assert pagerank(weights)[0] == pytest.approx([expected[node] for node in range(NODES)], abs=1e-8)
    assert components(weights).tolist() == [groups[node] for node in range(NODES)]
    assert blast_radius(weights, depth=NODES).tolist() == [len(nx.ancestors(graph, node)) for node in range(NODES)]


def test_of_a_ring_beside_a_chain_everything_in_the_ring_is_one_component() -> None:
    ring = {(0, 1): 0.9, (1, 2): 0.9, (2, 0): 0.9}
    chain = {(5, 6): 0.9, (6, 7): 0.9}
    weights = matrix(ring | chain, 9)
    assert components(weights).tolist() == [0, 0, 0, 3, 4, 5, 6, 7, 8]
    assert blast_radius(weights, depth=9).tolist() == [2, 2, 2, 0, 0, 0, 1, 2, 0]
    assert blast_radius(weights, depth=1).tolist() == [1, 1, 1, 0, 0, 0, 1, 1, 0]


def test_blast_radius_does_not_depend_on_how_the_work_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    nodes = 300
    edges = {(int(a), int(b)): 1.0 for a, b in rng.integers(0, nodes, (900, 2)) if a != b}
    whole = blast_radius(matrix(edges, nodes))
    monkeypatch.setattr(blast, "_MAX_STEP_EDGES", 16)
    assert blast_radius(matrix(edges, nodes)).tolist() == whole.tolist()


def test_percentile_ranks_are_shares_of_smaller_values_among_the_chosen() -> None:
    values = np.array([5, 1, 1, 9, 7])
    among = np.array([True, True, True, True, False])
    assert percentile_ranks(values, among).tolist() == pytest.approx([2 / 3, 0, 0, 1, 0])


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20))
def test_percentile_ranks_keep_order_and_ties_and_bounds(values: list[int]) -> None:
    ranks = percentile_ranks(np.array(values), np.ones(len(values), bool))
    assert ((ranks >= 0) & (ranks <= 1)).all()
    for value, rank in zip(values, ranks, strict=True):
        for other, other_rank in zip(values, ranks, strict=True):
            assert (value < other) == (rank < other_rank)


def test_a_constant_value_has_rank_zero_everywhere() -> None:
    assert not percentile_ranks(np.full(4, 3.0), np.ones(4, bool)).any()
