"""What a query costs when an index is large: python -m tests.bench.million STORE REPO SCRATCH [--rows 186000 1860000].

STORE and REPO are a published index of real code, which tests/bench/synthetic.py makes larger ones of, in SCRATCH. For
every query there is a fresh process, with the files of the index in the page cache. A question to an index of a
thousand rows has modules imported and the model loaded; then the time runs: open, make a searcher, answer.
Then the same process asks all queries twice, and the second time tells what each step costs once its pages are mapped.
What grows with the rows is seen by comparing the indexes: the same queries are asked of each, and how many postings
they have is told beside the times.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.embedding import make_encoder
from pipelines.records import SearchMode
from pipelines.retrieval import Generation, Query, Searcher, open_generation
from pipelines.retrieval.analysis import analyse
from pipelines.settings import EmbedderSettings
from pipelines.store import ArtifactStore
from pipelines.tokens import term_hash
from resources.bundled import encoder_folder
from tests.bench.measure import circumstances, peak_mb, show
from tests.bench.synthetic import make_index

ROWS = (186_000, 1_860_000)
#: Of the index that is asked beforehand.
_FIRST_ROWS = 1_000
MODES = (SearchMode.LEXICAL, SearchMode.SEMANTIC, SearchMode.HYBRID)
QUERIES = 8
SEED = 3
#: Bytes that are read at a time to have a file in the page cache.
_BLOCK_BYTES = 1 << 24


def made(source: ArtifactStore, repo: str, scratch: Path, rows: int) -> dict[str, Any]:
    """Make an index of so many rows, in a process of its own, unless it is there; return what is told of it."""
    told = scratch / f"rows-{rows}.json"
    if not told.exists():
        command = [sys.executable, "-m", "tests.bench.million", str(source.root), repo, str(scratch)]
        command += ["--make", str(rows)]
        subprocess.run(command, check=True)
    found: dict[str, Any] = json.loads(told.read_text())
    return found


def make(source: ArtifactStore, repo: str, scratch: Path, rows: int) -> None:
    """Make an index of so many rows and write beside it how it is named and what it took."""
    began = time.perf_counter()
    pointer = source.pointer(repo)
    if pointer is None:
        raise SystemExit(f"{source.root} has no published index of {repo}")
    store, name = ArtifactStore(scratch / "store"), f"rows-{rows}"
    with open_generation(source, repo, pointer.generation) as base:
        generation = make_index(source, base, store, name, rows)
    with open_generation(store, name, generation) as opened:
        size = sum(store.open(ref).total_bytes for ref in opened.document.refs)
        told = {
            "repo": name,
            "generation": generation,
            "asked": rows,
            "rows": opened.count,
            "megabytes": round(size / 1e6),
            "made_in_s": round(time.perf_counter() - began),
            "made_with_mb": peak_mb(),
        }
    (scratch / f"{name}.json").write_text(json.dumps(told))


def draw(generation: Generation, count: int) -> list[str]:
    """Return queries, half names and half the first words of texts."""
    rng = random.Random(SEED)
    names: list[str] = []
    texts: list[str] = []
    for row in rng.sample(range(generation.count), 20 * count):
        names += [name for name in generation.rows.strings("name", [row]) if len(name) > 3 and name.isidentifier()]
        words = re.findall(r"[A-Za-z]{3,}", generation.rows.text(row)[:600])
        texts += [" ".join(words[:7])] if len(words) > 6 else []
    return names[: count // 2] + texts[: count - count // 2]


def read_all(store: ArtifactStore, generation: Generation) -> None:
    """Have every file of a generation in the page cache."""
    for ref in generation.document.refs:
        for path in store.folder(ref).iterdir():
            with path.open("rb") as file:
                while file.read(_BLOCK_BYTES):
                    pass


def postings(generation: Generation, queries: Sequence[str]) -> list[int]:
    """Return how many postings the words of each query have."""
    found = []
    for text in queries:
        hashes = np.unique(np.array([term_hash(term) for term in analyse(text).terms], np.uint64))
        spans = [segment.spans(hashes) for segment in generation.segments]
        found.append(sum(int((ends - starts).sum()) for starts, ends in spans))
    return found


def answer(scratch: Path, rows: int, mode: SearchMode, first: int) -> None:
    """Tell what opening and the first answer cost in this process, and the steps of all queries afterwards."""
    store = ArtifactStore(scratch / "store")
    queries = json.loads((scratch / "queries.json").read_text())
    small, index = (json.loads((scratch / f"rows-{count}.json").read_text()) for count in (_FIRST_ROWS, rows))
    encoder = make_encoder(EmbedderSettings(), encoder_folder())
    with open_generation(store, small["repo"], small["generation"]) as opened:
        Searcher([opened], encoder).search(Query("what is loaded when first used", mode=mode))
    before, began = _faults(), time.perf_counter()
    opened = open_generation(store, index["repo"], index["generation"])
    searcher = Searcher([opened], encoder)
    ready = time.perf_counter()
    answered = searcher.search(Query(queries[first], mode=mode))
    ended, after = time.perf_counter(), _faults()
    told: dict[str, Any] = {
        "open": 1e3 * (ready - began),
        "first": {**answered.timing_ms, "total": 1e3 * (ended - ready)},
        "both": 1e3 * (ended - began),
        "faults": after[0] - before[0],
        "faults_from_disk": after[1] - before[1],
        "hits": len(answered.hits),
    }
    for _ in range(2):
        told["again"] = [searcher.search(Query(text, mode=mode)).timing_ms for text in queries]
    told["peak_mb"] = peak_mb()
    show(told)


def _faults() -> tuple[int, int]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_minflt, usage.ru_majflt


def measure(store: ArtifactStore, index: Mapping[str, Any], queries: Sequence[str], scratch: Path) -> dict[str, Any]:
    """Ask every query first in a process of its own, in every mode, and return the medians."""
    with open_generation(store, index["repo"], index["generation"]) as generation:
        read_all(store, generation)
        sums = postings(generation, queries)
    (scratch / "queries.json").write_text(json.dumps(queries))
    found: dict[str, Any] = {
        name: value for name, value in index.items() if name not in ("repo", "generation", "asked")
    }
    found["postings_of_a_query"] = {"median": round(statistics.median(sums)), "most": max(sums)}
    for mode in MODES:
        asked = [_child(scratch, index["asked"], mode, place) for place in range(len(queries))]
        found[str(mode)] = {
            "open_to_first_answer_ms": _spread(item["both"] for item in asked),
            "open_ms": _spread(item["open"] for item in asked),
            "first_answer_ms": _medians([item["first"] for item in asked]),
            "page_faults": round(statistics.median(item["faults"] for item in asked)),
            "page_faults_from_disk": max(item["faults_from_disk"] for item in asked),
            "later_answer_ms": _medians([steps for item in asked for steps in item["again"]]),
            "peak_mb": max(item["peak_mb"] for item in asked),
        }
    return found


def _child(scratch: Path, rows: int, mode: SearchMode, place: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.million", "-", "-", str(scratch)]
    command += ["--answer", str(rows), str(mode), str(place)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _medians(steps: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median of each step; lexical, symbol and semantic overlap where the index is large."""
    return {name: round(statistics.median(item[name] for item in steps), 2) for name in steps[0]}


def _spread(values: Iterable[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {"median": round(statistics.median(ordered), 1), "most": round(ordered[-1], 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("repo")
    parser.add_argument("scratch", type=Path, help="a folder for the indexes that are made; they stay there")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--out", type=Path, help="write a result file")
    parser.add_argument("--make", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--answer", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    source = ArtifactStore(options.store.resolve())
    if options.make:
        make(source, options.repo, options.scratch, options.make)
    elif options.answer:
        rows, mode, first = options.answer
        answer(options.scratch, int(rows), SearchMode(mode), int(first))
    else:
        options.scratch.mkdir(parents=True, exist_ok=True)
        _compare(source, options)


def _compare(source: ArtifactStore, options: argparse.Namespace) -> None:
    made(source, options.repo, options.scratch, _FIRST_ROWS)
    indexes = [made(source, options.repo, options.scratch, rows) for rows in sorted(options.rows)]
    store = ArtifactStore(options.scratch / "store")
    with open_generation(store, indexes[0]["repo"], indexes[0]["generation"]) as smallest:
        queries = draw(smallest, options.queries)
    load = os.getloadavg()[0]
    figures = [measure(store, index, queries, options.scratch) for index in indexes]
    result = {
        "method": "open to first answer in fresh processes, warm page cache, and by steps; see tests/bench/million.py",
        **circumstances(),
        "figures": {"queries": queries, "load_of_the_machine_before": round(load, 2), "indexes": figures},
    }
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    show(result)


if __name__ == "__main__":
    main()
