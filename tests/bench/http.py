"""`strata serve` over the wire, warm: python -m tests.bench.http STORE [--requests 2000] [--seconds 20].

STORE is the folder of a store with a published index. Queries are drawn from the index itself: names of definitions,
and the first words of what is written about them. One client asks one query after the other, over one connection; then
wrk (Debian's package) asks over 16 at once. The server's own times tell what HTTP adds to the search.
"""

from __future__ import annotations

import argparse
import datetime
import http.client
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.retrieval import open_generation
from pipelines.store import ArtifactStore
from tests.bench.measure import show

QUERY = "/api/semantic/query"
QUERIES = 500
WARM_UP = 200
CONNECTIONS = 16
JSON = {"content-type": "application/json"}
#: Sends the queries of a file, one line each, in turns; told over the environment, since wrk hands on no arguments.
SCRIPT = """
local bodies = {}
for line in io.lines(os.getenv("BODIES")) do bodies[#bodies + 1] = line end
local place = 0
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
request = function()
  place = place % #bodies + 1
  return wrk.format(nil, "/api/semantic/query", nil, bodies[place])
end
done = function(summary, latency, requests)
  local form = 'RESULT {"requests": %d, "seconds": %f, "p50_ms": %f, "p99_ms": %f, "refused": %d, "broken": %d}\\n'
  io.write(string.format(form, summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
"""


def draw_queries(store: ArtifactStore, count: int, repos: Sequence[str] = ()) -> tuple[list[str], int]:
    """Return queries, half names and half words of texts, and the number of chunks that they are drawn from.

    :param repos: the repositories that they are drawn from; none named = all of the store.
    """
    rng = random.Random(1)
    names: list[str] = []
    texts: list[str] = []
    chunks = 0
    for repo in repos or store.repositories():
        pointer = store.pointer(repo)
        if pointer is None:
            continue
        with open_generation(store, repo, pointer.generation) as generation:
            chunks += generation.count
            for row in rng.sample(range(generation.count), min(generation.count, 4 * count)):
                names += [name for name in generation.rows.strings("name", [row]) if len(name) > 3]
                words = re.findall(r"[A-Za-z]{3,}", generation.rows.text(row)[:600])
                texts += [" ".join(words[:7])] if len(words) > 6 else []
    return rng.sample(names, count // 2) + rng.sample(texts, count - count // 2), chunks


@contextmanager
def serving(store: Path) -> Iterator[tuple[int, int]]:
    """Start the server, and give its process id and port."""
    command = [sys.executable, "-m", "assets_defs.command", "serve", "--port", "0"]
    child = subprocess.Popen(
        command, env={**os.environ, "STRATA_HOME": str(store.resolve())}, stderr=subprocess.PIPE, text=True
    )
    assert child.stderr is not None
    try:
        found = re.search(r":(\d+)/", told := child.stderr.readline())
        if not found:
            raise SystemExit(told + child.stderr.read())
        yield child.pid, int(found[1])
    finally:
        child.terminate()
        child.wait()


def one_by_one(pid: int, port: int, bodies: Sequence[bytes], count: int) -> dict[str, float]:
    """Return the times of requests that follow each other over one connection, in milliseconds.

    Other load on the machine lengthens them; it hardly changes the processor time that the server takes.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port)
    times, inside = [], []
    spent = 0.0
    for number in range(WARM_UP + count):
        if number == WARM_UP:
            spent = processor_s(pid)
        began = time.perf_counter()
        connection.request("POST", QUERY, bodies[number % len(bodies)], JSON)
        answer = connection.getresponse()
        document = json.load(answer)
        took = 1_000 * (time.perf_counter() - began)
        if answer.status != 200:
            raise SystemExit(f"status {answer.status}: {document}")
        if number >= WARM_UP:
            times.append(took)
            inside.append(document["timing_ms"]["total"])
    connection.close()
    return {
        "requests": count,
        "p50_ms": percentile(times, 50),
        "p90_ms": percentile(times, 90),
        "p99_ms": percentile(times, 99),
        "processor_ms": round(1_000 * (processor_s(pid) - spent) / count, 2),
        "search_p50_ms": percentile(inside, 50),
        "search_p99_ms": percentile(inside, 99),
    }


def at_once(port: int, bodies: Sequence[bytes], seconds: int) -> dict[str, Any]:
    """Return what wrk measures with CONNECTIONS connections, without the pause of a person between two requests."""
    wrk = shutil.which("wrk")
    if wrk is None:
        raise SystemExit("there is no wrk on this machine (apt install wrk)")
    with tempfile.TemporaryDirectory() as folder:
        script, lines = Path(folder, "ask.lua"), Path(folder, "bodies")
        script.write_text(SCRIPT)
        lines.write_bytes(b"\n".join(bodies) + b"\n")
        command = [wrk, "-t", "1", "-c", str(CONNECTIONS), "-d", f"{seconds}s", "--timeout", "10s", "-s", str(script)]
        ended = subprocess.run(
            [*command, f"http://127.0.0.1:{port}"],
            env={**os.environ, "BODIES": str(lines)},
            capture_output=True,
            text=True,
        )
    found = re.search(r"RESULT (\{.*\})", ended.stdout)
    if not found:
        raise SystemExit(ended.stdout + ended.stderr)
    measured = json.loads(found[1])
    measured["per_second"] = round(measured["requests"] / measured["seconds"], 1)
    return {name: round(value, 2) if isinstance(value, float) else value for name, value in measured.items()}


def processor_s(pid: int) -> float:
    """Return the processor time that a process has taken, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> dict[str, float]:
    """Return what a process holds of its own, and with what it has mapped, in MB."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {name: round(int(status[key].split()[0]) / 1_024, 1) for name, key in (("own", "RssAnon"), ("all", "VmRSS"))}


def percentile(values: Sequence[float], share: int) -> float:
    return round(float(np.percentile(values, share)), 2)


def machine() -> dict[str, Any]:
    models = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {"cores": os.cpu_count(), "cpu": models[0] if models else "", "python": platform.python_version()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--out", type=Path, help="write a result file")
    options = parser.parse_args()
    queries, chunks = draw_queries(ArtifactStore(options.store), QUERIES)
    bodies = [json.dumps({"query": text}).encode() for text in queries]
    random.Random(2).shuffle(bodies)
    load = os.getloadavg()[0]
    with serving(options.store) as (pid, port):
        alone = one_by_one(pid, port, bodies, options.requests)
        memories = {"after_one": memory(pid)}
        together = [at_once(port, bodies, options.seconds)]
        memories["after_sixteen"] = memory(pid)
        together.append(at_once(port, bodies, options.seconds))
        memories["after_sixteen_again"] = memory(pid)
    result = {
        "method": f"strata serve over HTTP, warm; {len(queries)} queries drawn from the index; see tests/bench/http.py",
        "commit": subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip(),
        "machine": machine(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "figures": {
            "chunks": chunks,
            "load_of_the_machine_before": round(load, 2),
            "one_at_a_time": alone,
            "sixteen_at_once": together,
            "memory_mb": memories,
        },
    }
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    show(result)


if __name__ == "__main__":
    main()
