"""int8 rows: how near they stay to the vectors, and the scores they give."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipelines.quantization import asymmetric_scores, rescore
from pipelines.quantization.rescoring import to_int8

rows_of_16 = arrays(np.float16, st.tuples(st.integers(0, 5), st.just(16)), elements=st.floats(-100, 100, width=16))


@given(rows_of_16)
def test_a_row_is_restored_to_within_half_a_step(vectors: np.typing.NDArray[np.float16]) -> None:
    exact = vectors.astype(np.float32)
    steps, scales = to_int8(exact)
    assert [str(item.dtype) for item in (steps, scales)] == ["int8", "float32"]
    assert (np.abs(steps.astype(np.int16)) <= 127).all()
    assert (np.abs(steps * scales[:, None] - exact) <= scales[:, None] * 0.5001).all()


def test_a_zero_row_has_no_scale() -> None:
    steps, scales = to_int8(np.zeros((1, 8), np.float32))
    assert not steps.any()
    assert scales.tolist() == [0]


def test_scores_are_cosines_and_keep_the_true_order() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((300, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    steps, scales = to_int8(vectors)
    query = rng.standard_normal(64).astype(np.float32)
    rows = np.array([5, 250, 17, 5], np.int64)
    scores = rescore(steps, scales, rows, query)
    assert scores.dtype == np.float32
    assert np.allclose(scores, vectors[rows] @ query / np.linalg.norm(query), atol=0.01)
    assert np.allclose(scores, rescore(steps, scales, rows, query * 10))
    assert rescore(steps, scales, np.arange(300), vectors[42]).argmax() == 42


def test_a_query_without_direction_and_an_empty_pool_score_nothing() -> None:
    steps, scales = to_int8(np.ones((2, 8), np.float32))
    assert rescore(steps, scales, np.arange(2), np.zeros(8, np.float32)).tolist() == [0, 0]
    assert rescore(steps, scales, np.empty(0, np.int64), np.ones(8, np.float32)).tolist() == []


def test_asymmetric_scores_are_cosines_with_the_signs() -> None:
    rng = np.random.default_rng(6)
    values = rng.standard_normal((40, 72)).astype(np.float32)
    query = rng.standard_normal(72).astype(np.float32)
    codes = np.packbits(values > 0, axis=1, bitorder="little")
    rows = np.array([7, 3, 39, 7], np.int64)
    scores = asymmetric_scores(codes, rows, query)
    signs = np.where(values > 0, 1, -1)
    assert scores.dtype == np.float32
    assert np.allclose(scores, signs[rows] @ query / np.linalg.norm(query) / np.sqrt(72), atol=1e-6)
    assert asymmetric_scores(codes, rows[:0], query).tolist() == []
    assert asymmetric_scores(codes, rows, np.zeros(72, np.float32)).tolist() == [0, 0, 0, 0]


def test_asymmetric_scores_part_rows_of_equal_distance() -> None:
    codes = np.packbits(np.array([[1, 1, 1, 0] * 2, [0, 1, 1, 1] * 2]), axis=1, bitorder="little")
    query = np.array([5, 1, 1, 1] * 2, np.float32)
    scores = asymmetric_scores(codes, np.arange(2), query)
    assert scores[0] > scores[1]
