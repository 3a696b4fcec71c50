"""The call graph of one repository: time, memory, and who is most called: python -m tests.bench.binding REPO STORE.

The symbols are made once and stay in the folder STORE; the graph is made anew each time, in this one process.
"""

from __future__ import annotations

import argparse
import cProfile
import shutil
import time
from pathlib import Path

import numpy as np

from pipelines.artifacts import WHOLE, Artifact, ArtifactRef, Target
from pipelines.discover import ParserPool, build_graph, build_symbols
from pipelines.discover.listing.files import list_files
from pipelines.discover.tree import open_tree
from pipelines.formats import GRAPH_SNAPSHOT, SYMBOLS
from pipelines.identity import bucket_keys, bucket_of
from pipelines.progress import Silent
from pipelines.settings import IndexSettings
from pipelines.store import ArtifactStore
from tests.bench.measure import peak_mb, show

_REPO = "measured"


def make_symbols(root: Path, store: ArtifactStore, buckets: int) -> tuple[ArtifactRef, ...]:
    refs = [ArtifactRef(_REPO, SYMBOLS.name, bucket, "measured") for bucket in bucket_keys(buckets)]
    if all(store.holds(ref) for ref in refs):
        return tuple(refs)
    listing = list_files(root, _REPO, IndexSettings())
    with open_tree(root, listing) as tree, ParserPool(IndexSettings()) as pool:
        for ref in refs:
            files = [file for file in listing.files if bucket_of(file.path, buckets) == ref.bucket]
            build_symbols(store, Target(ref, "measured"), files, tree, pool, Silent())
    return tuple(refs)


def most_called(graph: Artifact, count: int) -> dict[str, list[str]]:
    nodes = graph.table("nodes.parquet", columns=["path", "qualified_name"]).to_pydict()
    indices, rank = graph.array("indices.npy"), graph.table("metrics.parquet")["pagerank"].to_numpy()
    callers = np.bincount(indices, minlength=len(rank))
    return {
        name: [
            f"{nodes['path'][node]}:{nodes['qualified_name'][node]} {callers[node]}"
            for node in np.argsort(-values, kind="stable")[:count].tolist()
        ]
        for name, values in (("callers", callers), ("pagerank", rank))
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repo", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("--buckets", type=int, default=16)
    parser.add_argument("--top", type=int, default=25)
    parser.add_argument("--profile", type=Path, help="where the profile of the run goes")
    options = parser.parse_args()
    store = ArtifactStore(options.store)
    store.initialise()
    refs = make_symbols(options.repo.resolve(), store, options.buckets)
    target = Target(ArtifactRef(_REPO, GRAPH_SNAPSHOT.name, WHOLE, "measured"), "measured", refs)
    shutil.rmtree(store.folder(target.ref), ignore_errors=True)
    before, began, processor = peak_mb(), time.perf_counter(), time.process_time()
    profile = cProfile.Profile() if options.profile else None
    if profile:
        report = profile.runcall(build_graph, store, target, Silent())
        profile.dump_stats(options.profile)
    else:
        report = build_graph(store, target, Silent())
    result = {
        "seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(time.process_time() - processor, 1),
        "peak_mb_before": before,
        "peak_mb": peak_mb(),
        "symbols": report.rows,
        **report.extra,
        **most_called(store.open(target.ref), options.top),
    }
    show(result)


if __name__ == "__main__":
    main()
