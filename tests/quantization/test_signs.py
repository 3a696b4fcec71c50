"""Sign bits, compared bit by bit with their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipelines.errors import ArtifactMismatch
from pipelines.quantization.signs import sign_bits, usable_rows

values = st.floats(width=32, allow_nan=True, allow_infinity=True)
widths = st.sampled_from([8, 16, 24, 64, 72, 256])


@given(st.data(), widths, st.integers(0, 4))
def test_bit_i_of_byte_i_over_8_is_set_where_the_value_is_above_zero(
    data: st.DataObject, width: int, rows: int
) -> None:
    vectors = data.draw(arrays(np.float32, (rows, width), elements=values))
    expected = np.zeros((rows, width // 8), np.uint8)
    for row in range(rows):
        for place in range(width):
            if vectors[row, place] > 0:
                expected[row, place // 8] |= 1 << (place % 8)
    assert sign_bits(vectors).tolist() == expected.tolist()


def test_one_vector_gives_one_code() -> None:
    assert sign_bits(np.array([1, -1, 0, 2, 0, 0, 0, -3], np.float16)).tolist() == [0b1001]


def test_a_width_that_is_no_multiple_of_eight_is_refused() -> None:
    with pytest.raises(ArtifactMismatch, match="12 values"):
        sign_bits(np.ones((2, 12), np.float32))


def test_zero_nan_and_infinite_rows_are_not_usable() -> None:
    vectors = np.ones((5, 8), np.float32)
    vectors[1] = 0
    vectors[2, 3] = np.nan
    vectors[3, 3] = -np.inf
    vectors[4, :7] = 0
    assert usable_rows(vectors).tolist() == [True, False, False, False, True]
