"""More bits than values, or fewer: the map, compared with plain matrices."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.quantization import BitMap, extension, hamming_pool

#: Powers of two, and widths of small and of large Hadamard blocks.
WIDTHS = (64, 72, 104, 256, 384)


def make_vectors(rows: int, width: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(width).standard_normal((rows, width)).astype(np.float16).astype(np.float32)


@given(st.sampled_from(WIDTHS), st.integers(1, 16))
def test_fewer_bits_are_those_of_the_first_values(width: int, eighths: int) -> None:
    bits = min(width, 8 * eighths)
    vectors = make_vectors(3, width)
    assert BitMap(width, bits, 0).values(vectors).tolist() == vectors[:, :bits].tolist()
    assert (
        BitMap(width, bits, 0).codes(vectors).tolist()
        == np.packbits(vectors[:, :bits] > 0, axis=1, bitorder="little").tolist()
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_each_extension_is_an_orthogonal_matrix_and_no_two_are_one(width: int) -> None:
    values = BitMap(width, 3 * width, 0).values(np.eye(width, dtype=np.float32))
    first, second = values[:, width : 2 * width].astype(np.float64), values[:, 2 * width :].astype(np.float64)
    for matrix in (first, second):
        assert np.abs(matrix @ matrix.T - np.eye(width)).max() < 1e-6
        assert np.abs(matrix).max() < 6 / np.sqrt(width)  # no value stands for itself
    assert np.abs(first - second).max() > 0.1


@pytest.mark.parametrize("width", WIDTHS)
def test_values_are_the_product_with_that_matrix_whatever_the_rows_beside(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bits = BitMap(width, width + 40, 5)
    vectors = make_vectors(50, width)
    matrix = bits.values(np.eye(width, dtype=np.float32)).astype(np.float64)
    together = bits.values(vectors)
    assert together[:, :width].tolist() == vectors.tolist()
    assert together == pytest.approx(vectors @ matrix, abs=1e-4)
    monkeypatch.setattr(extension, "_BLOCK_ROWS", 7)
    assert bits.values(vectors).tolist() == together.tolist()
    assert [bits.values(row).tolist() for row in vectors] == together.tolist()
    assert bits.codes(vectors[3]).tolist() == bits.codes(vectors)[3].tolist()


def test_the_seed_decides_the_extension_alone() -> None:
    vectors = make_vectors(20, 64)
    one, two = BitMap(64, 128, 1).codes(vectors), BitMap(64, 128, 2).codes(vectors)
    assert one[:, :8].tolist() == two[:, :8].tolist()
    assert one[:, 8:].tolist() != two[:, 8:].tolist()
    assert BitMap(64, 1024, 1).codes(vectors)[:, :16].tolist() == one.tolist()


def test_the_bits_are_those_of_every_machine() -> None:
    """Whole numbers, whose sums are exact: other bits would mean another map, which needs another revision."""
    grid = (np.arange(3 * 256).reshape(3, 256) * 37 % 101 - 50).astype(np.float32)
    codes = BitMap(256, 1024, 0).codes(grid)
    assert hashlib.blake2b(codes.tobytes(), digest_size=8).hexdigest() == "3b8e49f6c75afb43"


def test_more_bits_tell_near_from_far_better() -> None:
    rng = np.random.default_rng(9)
    vectors = rng.standard_normal((2_000, 64)).astype(np.float32)
    queries = vectors[:50] + 0.7 * rng.standard_normal((50, 64)).astype(np.float32)
    first = []
    for bits in (64, 256):
        mapped = BitMap(64, bits, 0)
        codes = mapped.codes(vectors)
        nearest = [int(hamming_pool(codes, mapped.codes(query), 1)[0][0]) for query in queries]
        first.append(sum(place == row for place, row in enumerate(nearest)))
    assert first[1] > first[0]
