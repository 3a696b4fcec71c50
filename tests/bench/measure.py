"""Two ways of doing one thing, taken in turns, so that a busy machine slows both alike."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any


def interleaved(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the least wall time of each way, in milliseconds: what other load on the machine disturbed least."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, run in ways.items():
            began = time.perf_counter()
            run()
            best[name] = min(best[name], 1_000 * (time.perf_counter() - began))
    return {name: round(value, 3) for name, value in best.items()}


def peak_mb() -> float:
    """Return the most memory that this process has had resident, in MB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024, 1)


def show(result: Mapping[str, Any]) -> None:
    """Write a result to standard output, as JSON."""
    sys.stdout.write(json.dumps(result, indent=1) + "\n")
