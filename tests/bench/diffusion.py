"""Diffusion over a synthetic call graph, against bare sparse products; over a real one, against dense matrices.

    python -m tests.bench.diffusion [--nodes 2000000] [--edges 10000000] [--rounds 3] [--no-whole]
                                    [--real REPOSITORY ...] [--json RESULT]

Three ways, each with the same number of products of the same matrix and the same vectors:

    diffusion   pipelines.diffusion: reads float16 rows from a memory map, mixes on all cores, writes columns to disk
    blocks      x = W @ x alone, by scipy on one core, in blocks of as many columns; reading is not counted
    whole       x = W @ x alone, likewise, all columns at once; holds all values twice

Ratios are of processor time, which other load on the machine disturbs least, and of wall time; of each way the best
round counts. Making the mixing matrix is told apart. Memory is that of this process after diffusion and before the
other ways: `peak_mb` with the pages of mapped files, which the system may take back at any time, `peak_own_mb` without.

--real indexes repositories and compares their mixed vectors with the formula on dense float64 matrices.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pipelines.diffusion.mixing import Edges, mixing_matrix
from pipelines.diffusion.propagate import block_width, propagate
from pipelines.diffusion.stage import BucketRows, open_calls
from pipelines.embedding import make_encoder
from pipelines.formats import CHUNK_VECTORS, DIFFUSED_VECTORS
from pipelines.records import CALL_CONFIDENCE, CallStrategy
from pipelines.settings import DiffusionSettings, Settings, override
from pipelines.store import ArtifactStore
from resources.bundled import encoder_folder
from tests.bench.graph import make_graph
from tests.bench.measure import circumstances, peak_mb, show
from tests.serving.builds import build

BUCKETS = 16
DIMENSIONS = 256
SETTINGS = DiffusionSettings(enabled=True)
REAL = override(override(Settings(), "diffusion", enabled=True), "index", workers=1)
#: Seconds between two looks at this process's own memory.
_LOOK_S = 0.5
#: Rows that dense matrices are made of at most: 4,000 rows are 128 MB of float64.
_MOST_DENSE = 4_000


class Timed:
    """Seconds of each way: of the processor, and of the clock; the least of all rounds."""

    def __init__(self) -> None:
        self.cpu: dict[str, float] = {}
        self.wall: dict[str, float] = {}

    def run(self, name: str, work: Callable[[Clock], None]) -> None:
        """Take the time that `work` lets the clock run."""
        clock = Clock()
        work(clock)
        self.cpu[name] = min(self.cpu.get(name, np.inf), clock.cpu)
        self.wall[name] = min(self.wall.get(name, np.inf), clock.wall)

    def ratios(self, name: str, peer: str) -> Mapping[str, float]:
        """Return how much longer one way takes than another."""
        return {
            "cpu": round(self.cpu[name] / self.cpu[peer], 3),
            "wall": round(self.wall[name] / self.wall[peer], 3),
        }

    def seconds(self) -> Mapping[str, Mapping[str, float]]:
        """Return the seconds of every way."""
        return {name: {"cpu": round(self.cpu[name], 2), "wall": round(self.wall[name], 2)} for name in self.cpu}


class Clock:
    """Adds up the seconds in which it runs."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.cpu += time.process_time() - cpu
        self.wall += time.perf_counter() - wall


@contextmanager
def own_memory() -> Iterator[list[float]]:
    """Yield a list that has the most memory of its own that this process held meanwhile, in MB, at its end."""
    found, over = [0.0], threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_S):
            found[0] = max(found[0], _own_mb())

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()


def _own_mb() -> float:
    held = re.search(r"^RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"), re.MULTILINE)
    return round(int(held[1]) / 1_024, 1) if held else 0.0


def make_edges(nodes: int, edges: int) -> Edges:
    """Return a call graph that has hubs, all calls proven by an import."""
    matrix = make_graph(nodes, edges)
    return Edges(
        np.repeat(np.arange(nodes, dtype=np.int64), np.diff(matrix.indptr)),
        matrix.indices.astype(np.int64),
        np.full(matrix.nnz, CALL_CONFIDENCE[CallStrategy.IMPORTED], np.float32),
        np.full(matrix.nnz, CallStrategy.IMPORTED, np.uint8),
    )


def make_rows(nodes: int, path: Path) -> BucketRows:
    """Write vectors to disk and map them, in buckets."""
    vectors = np.lib.format.open_memmap(path, "w+", np.float16, (nodes, DIMENSIONS))
    rng = np.random.default_rng(1)
    for start in range(0, nodes, 65_536):
        end = min(start + 65_536, nodes)
        vectors[start:end] = rng.standard_normal((end - start, DIMENSIONS), np.float32) / np.sqrt(DIMENSIONS)
    vectors.flush()
    starts = np.linspace(0, nodes, BUCKETS + 1).astype(np.int64)
    mapped = np.load(path, mmap_mode="r")
    buckets = [mapped[first:end] for first, end in itertools.pairwise(starts)]
    return BucketRows(buckets, np.ones(nodes, np.bool_), starts)


def in_blocks(weights: sp.csr_array, rows: BucketRows, clock: Clock) -> None:
    """Multiply in the blocks that diffusion has."""
    width = block_width(len(rows), DIMENSIONS)
    for first in range(0, DIMENSIONS, width):
        values = np.empty((len(rows), min(width, DIMENSIONS - first)), np.float32)
        rows.read(np.arange(len(rows)), first, values)
        with clock.running():
            for _ in range(SETTINGS.iterations):
                values = weights @ values


def as_whole(weights: sp.csr_array, rows: BucketRows, clock: Clock) -> None:
    """Multiply all columns at once."""
    values = np.empty((len(rows), DIMENSIONS), np.float32)
    rows.read(np.arange(len(rows)), 0, values)
    with clock.running():
        for _ in range(SETTINGS.iterations):
            values = weights @ values


def measure(nodes: int, edges: int, rounds: int, *, whole: bool) -> dict[str, Any]:
    """Take the ways in turns and return seconds, ratios and memory."""
    calls = make_edges(nodes, edges)
    began = time.process_time()
    weights = mixing_matrix(calls, np.arange(nodes), nodes, SETTINGS)
    matrix_s = time.process_time() - began
    del calls
    timed = Timed()
    memory: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        rows = make_rows(nodes, Path(folder) / "vectors.npy")

        def diffuse(clock: Clock) -> None:
            with tempfile.TemporaryDirectory(dir=folder) as scratch, clock.running():
                propagate(weights, rows.read, DIMENSIONS, SETTINGS, Path(scratch))

        for _ in range(rounds):
            with own_memory() as own:
                timed.run("diffusion", diffuse)
            if not memory:
                memory |= {"peak_own_mb": own[0], "peak_mb": peak_mb()}
            timed.run("blocks", lambda clock: in_blocks(weights, rows, clock))
            if whole:
                timed.run("whole", lambda clock: as_whole(weights, rows, clock))
    return {
        "nodes": nodes,
        "edges": int(weights.nnz),
        "dimensions": DIMENSIONS,
        "iterations": SETTINGS.iterations,
        "columns_of_a_block": block_width(nodes, DIMENSIONS),
        "seconds": timed.seconds(),
        "diffusion_to": {peer: timed.ratios("diffusion", peer) for peer in timed.cpu if peer != "diffusion"},
        "mixing_matrix_cpu_s": round(matrix_s, 2),
        "memory": {**memory, "matrix_mb": round(_bytes(weights) / 2**20, 1), "vectors_mb": round(nodes / 2_048, 1)},
    }


def _bytes(weights: sp.csr_array) -> int:
    return int(weights.data.nbytes + weights.indices.nbytes + weights.indptr.nbytes)


# --- a real repository ---


def compare(root: Path) -> dict[str, Any]:
    """Index a repository and return how far its mixed vectors are from those of dense matrices."""
    encoder = make_encoder(REAL.embedder, encoder_folder())
    with tempfile.TemporaryDirectory() as folder:
        store = ArtifactStore(Path(folder) / "store")
        target = build(root, store, REAL, root.name.lower(), encoder=encoder).targets[DIFFUSED_VECTORS.name]
        rows = BucketRows.of([store.open(ref) for ref in target.inputs if ref.asset == CHUNK_VECTORS.name])
        edges, row_of_node = open_calls(store, target, rows)
        return _compared(edges, row_of_node, rows)


def _compared(edges: Edges, row_of_node: npt.NDArray[np.int64], rows: BucketRows) -> dict[str, Any]:
    found: dict[str, Any] = {"rows": len(rows), "edges": len(edges.callers)}
    for name, settings in (("callees", SETTINGS), ("both_ways", replace(SETTINGS, bidirectional=True))):
        weights = mixing_matrix(edges, row_of_node, len(rows), settings)
        with tempfile.TemporaryDirectory() as scratch:
            mixed = propagate(weights, rows.read, rows.vectors[0].shape[1], settings, Path(scratch))
            places, vectors = mixed.unit_rows(0, len(rows))
        found[name] = {"mixed_rows": len(places), **_difference(weights, rows, settings, places, vectors)}
    return found


def _difference(
    weights: sp.csr_array,
    rows: BucketRows,
    settings: DiffusionSettings,
    places: npt.NDArray[np.int64],
    vectors: npt.NDArray[np.float32],
) -> Mapping[str, float]:
    """Compare with dense matrices over the rows that are involved, as far as they are not too many."""
    involved = np.union1d(np.flatnonzero(np.diff(weights.indptr)), weights.indices)
    if len(involved) > _MOST_DENSE:
        return {"rows_too_many_for_dense": len(involved)}
    dense = weights[involved][:, involved].toarray().astype(np.float64)
    values = np.empty((len(involved), vectors.shape[1]), np.float32)
    rows.read(involved, 0, values)
    exact = values.astype(np.float64)
    moving = dense.any(axis=1)
    for _ in range(settings.iterations):
        exact = np.where(moving[:, None], (1 - settings.alpha) * exact + settings.alpha * (dense @ exact), exact)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    return {"largest_difference": float(np.abs(vectors - exact[np.searchsorted(involved, places)]).max())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-whole", action="store_true", help="leave out the way that needs 6 GB")
    parser.add_argument("--real", nargs="*", type=Path, default=[], metavar="REPOSITORY", help="compare these as well")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures: dict[str, Any] = {
        "synthetic": measure(options.nodes, options.edges, options.rounds, whole=not options.no_whole)
    }
    if options.real:
        figures["real"] = {root.name: compare(root) for root in options.real}
    show(figures)
    if options.json:
        method = (__doc__ or "").strip()
        result = {"method": method, **circumstances(), "figures": figures}
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
