"""Blocks of work side by side, on the cores that this process may use. In: blocks. Out: their results, in order.

Threads are enough: Arrow, numpy and onnxruntime let others run while they work. A block must not depend on another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Block = TypeVar("Block")
Result = TypeVar("Result")


def on_cores(work: Callable[[Block], Result], blocks: Sequence[Block]) -> Iterator[Result]:
    """Yield what `work` gives for each block, in the order of the blocks."""
    cores = min(len(os.sched_getaffinity(0)), len(blocks))
    if cores < 2:
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(cores) as pool:
        yield from pool.map(work, blocks)
