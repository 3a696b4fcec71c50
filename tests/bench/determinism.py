"""Do two processes give equal bytes? A command: python -m tests.bench.determinism STORE REPO [--queries 1000].

STORE is the folder of a store with a published index of REPO. Each of two processes, which hash strings differently,
asks `strata query --json` each query, in turns of the ways to ask; what they print is compared, all but the times.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from assets_defs.host import StrataHost
from pipelines.serving.cli import main as strata
from pipelines.store import ArtifactStore
from resources.environment import Environment, variables_for_child
from tests.bench.http import draw_queries
from tests.bench.measure import circumstances, show

QUERIES = 1_000
SEEDS = ("1", "4711")
#: How queries are asked, one way after the other.
WAYS: Sequence[Sequence[str]] = (
    (),
    ("--mode", "lexical"),
    ("--mode", "semantic"),
    ("--mode", "symbol"),
    ("--fusion", "late"),
    ("--no-fusion",),
    ("--keyword-and",),
    ("--expand", "neighbors", "--explain"),
    ("--limit", "40", "--candidate-pool", "64"),
)
_TIMES = re.compile(rb'"timing_ms": \{[^}]*\}')


def ask(store: Path, repo: str, queries: Sequence[str]) -> list[bytes]:
    """Return what the command line prints for each query, without the times."""
    host = StrataHost(Environment(store, home=store))
    printed = []
    for number, text in enumerate(queries):
        way = WAYS[number % len(WAYS)]
        with io.TextIOWrapper(io.BytesIO(), "utf-8") as out, redirect_stdout(out), redirect_stderr(io.StringIO()):
            code = strata(["query", "--json", "--repo", repo, *way, "--", text], host)
            out.flush()
            printed.append(b"%d " % code + _TIMES.sub(b"", out.buffer.getvalue()))
    return printed


def ask_twice(store: Path, repo: str, queries: Sequence[str]) -> list[list[str]]:
    """Ask all queries in a process for each seed and return the digests of what it printed, with the exit codes."""
    digests = []
    for seed in SEEDS:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.determinism", str(store), repo, "--ask"],
            input="\n".join(map(json.dumps, queries)),
            env=variables_for_child({"PYTHONHASHSEED": seed}),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        digests.append(done.stdout.splitlines())
    return digests


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("repo")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--out", type=Path, help="write a result file")
    parser.add_argument("--ask", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    store = options.store.resolve()
    if options.ask:
        for answer in ask(store, options.repo, [json.loads(line) for line in sys.stdin]):
            sys.stdout.write(f"{answer[:1].decode()} {hashlib.blake2b(answer, digest_size=16).hexdigest()}\n")
        return
    queries, chunks = draw_queries(ArtifactStore(store), options.queries, [options.repo])
    first, second = ask_twice(store, options.repo, queries)
    different = [text for text, one, other in zip(queries, first, second, strict=True) if one != other]
    figures = {
        "chunks": chunks,
        "queries": len(queries),
        "answered": sum(line.startswith("0") for line in first),
        "errors": sum(line.startswith("2") for line in first),
        "different": different,
    }
    method = "strata query --json in two processes with other hash seeds; see tests/bench/determinism.py"
    result = {"method": method, **circumstances(), "figures": figures}
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    show(result)


if __name__ == "__main__":
    main()
