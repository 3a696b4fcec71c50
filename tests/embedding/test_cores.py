from __future__ import annotations

import time

import pytest

from pipelines.embedding.cores import on_cores


def test_results_stand_in_the_order_of_the_blocks() -> None:
    def work(block: int) -> int:
        time.sleep(0.002 * (block % 3))
        return block * block

    assert list(on_cores(work, range(20))) == [block * block for block in range(20)]
    assert list(on_cores(work, [])) == []
    assert list(on_cores(work, [7])) == [49]


def test_an_error_of_a_block_is_raised() -> None:
    def work(block: int) -> float:
        return 1 / block

    with pytest.raises(ZeroDivisionError):
        list(on_cores(work, [1, 0, 2]))
