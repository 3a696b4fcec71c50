"""What the benches share: two ways taken in turns, so that a busy machine slows both alike; where it was measured."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
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
    """Return the most memory that this process has had resident, in MB; that of the one that started it left out."""
    status = Path("/proc/self/status").read_text("utf-8")
    return round(next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1_024, 1)


def show(result: Mapping[str, Any]) -> None:
    """Write a result to standard output, as JSON."""
    sys.stdout.write(json.dumps(result, indent=1) + "\n")


def circumstances() -> dict[str, Any]:
    """Return what a result file tells beside method and figures: the project's commit, the machine, the day."""
    root = Path(__file__).parents[2]
    asked = ["git", "-C", str(root), "rev-parse", "HEAD"]
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    return {
        "commit": subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": {
            "cores": len(os.sched_getaffinity(0)),
            "cpu": model[1] if model else platform.machine(),
            "python": platform.python_version(),
        },
    }
