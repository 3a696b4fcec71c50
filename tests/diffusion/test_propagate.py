"""Jacobi steps, compared with the same formula on dense matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from pipelines.diffusion.propagate import Reader, propagate
from pipelines.settings import DiffusionSettings

ROWS, DIMENSIONS = 50, 24


def reader(vectors: npt.NDArray[np.float32]) -> Reader:
    def read(rows: npt.NDArray[np.int64], first: int, out: npt.NDArray[np.float32]) -> None:
        out[:] = vectors[rows, first : first + out.shape[1]]

    return read


def make_case(seed: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random((ROWS, ROWS)) < 0.06, rng.random((ROWS, ROWS)), 0)
    np.fill_diagonal(weights, 0)
    totals = weights.sum(axis=1, keepdims=True)
    weights = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    return weights.astype(np.float32), rng.standard_normal((ROWS, DIMENSIONS)).astype(np.float32)


@pytest.mark.parametrize("iterations", [1, 2, 5])
@pytest.mark.parametrize("columns", [1, 7, DIMENSIONS])
def test_blocks_of_columns_equal_the_dense_reference(tmp_path: Path, iterations: int, columns: int) -> None:
    weights, vectors = make_case(iterations)
    settings = DiffusionSettings(enabled=True, alpha=0.3, iterations=iterations)
    matrix = sp.csr_array(weights)
    mixed = propagate(
        matrix,
        reader(vectors),
        DIMENSIONS,
        settings,
        tmp_path,
        block_bytes=4 * columns * ROWS,
    )
    expected = vectors.astype(np.float64)
    moving = np.flatnonzero(weights.any(axis=1))
    for _ in range(iterations):
        expected[moving] = (0.7 * expected + 0.3 * (weights @ expected))[moving]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    rows, values = mixed.unit_rows(0, ROWS)
    assert rows.tolist() == moving.tolist()
    assert np.abs(values - expected[moving]).max() < 1e-5
    middle, part = mixed.unit_rows(20, 30)
    assert middle.tolist() == [row for row in moving.tolist() if 20 <= row < 30]
    assert part.tolist() == values[np.isin(rows, middle)].tolist()


def test_a_row_that_its_neighbours_cancel_out_is_left_as_it_is(tmp_path: Path) -> None:
    vectors = np.array([[1, 0], [-1, 0]], np.float32)
    settings = DiffusionSettings(enabled=True, alpha=0.5, iterations=1)
    matrix = sp.csr_array(np.array([[0, 1], [0, 0]], np.float32))
    mixed = propagate(matrix, reader(vectors), 2, settings, tmp_path)
    assert mixed.unit_rows(0, 2)[0].tolist() == []


def test_nothing_moves_without_edges(tmp_path: Path) -> None:
    settings = DiffusionSettings(enabled=True)
    empty = sp.csr_array((3, 3), dtype=np.float32)
    mixed = propagate(empty, reader(np.empty((3, 8), np.float32)), 8, settings, tmp_path)
    assert mixed.unit_rows(0, 3)[1].shape == (0, 8)


def test_the_number_of_cores_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights, vectors = make_case(2)
    found = []
    for cores in (1, 2, 7):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, cores=cores: set(range(cores)))
        settings = DiffusionSettings(enabled=True)
        mixed = propagate(sp.csr_array(weights), reader(vectors), DIMENSIONS, settings, tmp_path, block_bytes=2_000)
        found.append(mixed.unit_rows(0, ROWS)[1].tobytes())
    assert found[0] == found[1] == found[2]
