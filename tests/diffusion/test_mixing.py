"""The mixing matrix: who takes how much from whom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from pipelines.diffusion.mixing import Edges, mixing_matrix
from pipelines.records import CALL_CONFIDENCE, CallStrategy
from pipelines.settings import DiffusionSettings

SETTINGS = DiffusionSettings(enabled=True)


def make_edges(*edges: tuple[int, int, CallStrategy]) -> Edges:
    return Edges(
        np.array([caller for caller, _, _ in edges], np.int64),
        np.array([callee for _, callee, _ in edges], np.int64),
        np.array([CALL_CONFIDENCE[strategy] for _, _, strategy in edges], np.float32),
        np.array([strategy for _, _, strategy in edges], np.uint8),
    )


def dense(edges: Edges, nodes: int, settings: DiffusionSettings = SETTINGS) -> npt.NDArray[np.float32]:
    matrix: npt.NDArray[np.float32] = mixing_matrix(edges, np.arange(nodes), nodes, settings).toarray()
    return matrix


def test_weights_are_confidence_over_the_root_of_the_degree_and_sum_to_one() -> None:
    same, own = CallStrategy.SAME_FILE, CallStrategy.OWN_CLASS
    matrix = dense(make_edges((0, 1, same), (0, 2, own), (3, 2, same)), 4)
    first, second = CALL_CONFIDENCE[same], CALL_CONFIDENCE[own] / np.sqrt(2)
    assert matrix[0] == pytest.approx([0, first / (first + second), second / (first + second), 0])
    assert matrix[3].tolist() == [0, 0, 1, 0]
    assert not matrix[[1, 2]].any()


def test_self_loops_and_unsure_edges_have_no_weight() -> None:
    edges = make_edges((0, 0, CallStrategy.SAME_FILE), (0, 1, CallStrategy.AMBIGUOUS), (0, 2, CallStrategy.UNIQUE_NAME))
    shared = replace(edges, confidence=np.array([0.9, 0.45, 0.5], np.float32))
    assert dense(shared, 3)[0].tolist() == [0, 0, 1]
    assert not dense(shared, 3, replace(SETTINGS, min_confidence=0.6)).any()


def test_both_ways_a_pair_that_calls_each_other_is_one_neighbour() -> None:
    edges = make_edges((0, 1, CallStrategy.SAME_FILE), (1, 0, CallStrategy.UNIQUE_NAME), (2, 1, CallStrategy.SAME_FILE))
    matrix = dense(edges, 3, replace(SETTINGS, bidirectional=True))
    assert matrix[0].tolist() == [0, 1, 0]
    assert matrix[2].tolist() == [0, 1, 0]
    assert matrix[1] == pytest.approx([0.5, 0, 0.5])


def test_a_hub_that_only_its_name_makes_gives_nothing() -> None:
    nodes = 40
    by_name = [(caller, 0, CallStrategy.UNIQUE_METHOD) for caller in range(2, nodes)]
    proven = (1, 0, CallStrategy.IMPORTED)
    matrix = dense(make_edges(*by_name, proven), nodes)
    assert np.flatnonzero(matrix.any(axis=1)).tolist() == [1]
    assert dense(make_edges(*by_name[:10], proven), nodes).any(axis=1).sum() == 11


def test_a_node_without_a_valid_row_neither_gives_nor_takes() -> None:
    same = CallStrategy.SAME_FILE
    edges = make_edges((0, 1, same), (1, 2, same), (2, 0, same))
    matrix = mixing_matrix(edges, np.array([1, -1, 0]), 3, SETTINGS).toarray()
    assert matrix.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
