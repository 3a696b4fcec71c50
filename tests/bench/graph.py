"""PageRank and blast radius of a synthetic call graph, against a bare power loop: python -m tests.bench.graph.

Half of the callees are drawn by a power law, so that there are hubs, and half evenly.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pipelines.discover.graph.blast import blast_radius
from pipelines.discover.graph.metrics import DAMPING, TOLERANCE, components, pagerank
from tests.bench.measure import interleaved, peak_mb, show


def make_graph(nodes: int, edges: int) -> sp.csr_array:
    rng = np.random.default_rng(1)
    callers = rng.integers(0, nodes, edges)
    callees = np.where(rng.random(edges) < 0.5, nodes * rng.random(edges) ** 4, nodes * rng.random(edges)).astype(
        np.int64
    )
    kept = callers != callees
    matrix = sp.csr_array((np.ones(kept.sum()), (callers[kept], callees[kept])), shape=(nodes, nodes))
    matrix.data[:] = 0.9
    return matrix


def power_loop(matrix: sp.csr_array) -> npt.NDArray[np.float64]:
    """PageRank in the fewest lines that scipy allows."""
    nodes = matrix.shape[0]
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    inverse = np.divide(1.0, sums, out=np.zeros(nodes), where=sums > 0)
    transition = (sp.diags_array(inverse) @ matrix).T.tocsr()
    rank = np.full(nodes, 1 / nodes)
    while True:
        lost = rank[sums == 0].sum()
        after = DAMPING * (transition @ rank + lost / nodes) + (1 - DAMPING) / nodes
        if np.abs(after - rank).sum() <= TOLERANCE:
            return np.asarray(after)
        rank = after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--blast", action="store_true", help="measure the blast radius too")
    options = parser.parse_args()
    matrix = make_graph(options.nodes, options.edges)
    before = peak_mb()
    best = interleaved({"pagerank": lambda: pagerank(matrix), "power_loop": lambda: power_loop(matrix)}, options.rounds)
    result = {
        "milliseconds": best,
        "pagerank_to_power_loop": round(best["pagerank"] / best["power_loop"], 3),
        "largest_difference": float(np.abs(pagerank(matrix)[0] - power_loop(matrix)).max()),
        "peak_mb_of_the_graph": before,
        "peak_mb_after_pagerank": peak_mb(),
    }
    began = time.perf_counter()
    components(matrix)
    result["components_s"] = round(time.perf_counter() - began, 2)
    if options.blast:
        began = time.perf_counter()
        radius = blast_radius(matrix)
        result |= {"blast_s": round(time.perf_counter() - began, 2), "blast_mean": float(radius.mean())}
        result["peak_mb_after_blast"] = peak_mb()
    show(result)


if __name__ == "__main__":
    main()
