"""What a cold `strata query` takes beside what it loads: python -m tests.bench.cold STORE REPO [--rounds 15].

A process that answers one question is taken in turns with processes that only import: the libraries that it loads, as
it tells them itself, and onnxruntime with numpy alone, which no answer by meaning can do without. Bytecode is written
before it is measured, as on any machine where a command ran once. Wall times are the least of all rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.measure import circumstances, interleaved, show

QUESTION = "retry with exponential backoff"
#: Answers as `strata` does, then tells which modules of installed libraries it has loaded, in order.
_TELLING = """
import json, sys
from assets_defs.command import main
code = main()
found = [name for name, module in sys.modules.items() if "site-packages" in (getattr(module, "__file__", "") or "")]
print(json.dumps([code, found]))
"""
_ANSWERING = "import sys; from assets_defs.command import main; sys.exit(main())"


def measure(store: Path, repo: str, rounds: int) -> dict[str, Any]:
    """Return the least wall times in milliseconds, their ratios, and the libraries."""
    environment = {**os.environ, "STRATA_HOME": str(store)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(program: str, *arguments: str) -> str:
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout

    asked = ("query", QUESTION, "--repo", repo, "--limit", "10")
    code, modules = json.loads(run(_TELLING, *asked).splitlines()[-1])
    if code:
        raise SystemExit(f"the query ended with {code}")
    times = interleaved(
        {
            "python": lambda: run("pass"),
            "numpy and onnxruntime": lambda: run("import numpy, onnxruntime"),
            "its own libraries": lambda: run("\n".join(f"import {name}" for name in modules if _is_plain(name))),
            "query by words": lambda: run(_ANSWERING, *asked, "--mode", "lexical"),
            "query": lambda: run(_ANSWERING, *asked),
        },
        rounds,
    )
    ratios = {name: round(times["query"] / times[name], 2) for name in ("numpy and onnxruntime", "its own libraries")}
    libraries = sorted({name.partition(".")[0] for name in modules})
    return {"wall_ms": times, "query_to": ratios, "libraries": libraries, "modules_of_libraries": len(modules)}


def _is_plain(name: str) -> bool:
    """Tell whether a module is loaded by its name: not this project, and none that another one makes up."""
    return name.isascii() and not name.startswith(("_", "google.")) and all(map(str.isidentifier, name.split(".")))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print the result; --out writes it too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("repo")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    method = "strata query in a fresh process, in turns with bare imports; see tests/bench/cold.py"
    result = {"method": method, **circumstances(), "figures": measure(options.store, options.repo, options.rounds)}
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    show(result)


if __name__ == "__main__":
    main()
