"""The asset graph_snapshot as a whole: its arrays, its counts, its independence of buckets, its export."""

from __future__ import annotations

import re
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from pipelines.artifacts import WHOLE, ArtifactRef, Target
from pipelines.discover.graph.edges import EdgeList
from pipelines.discover.graph.export import export_graph, write_graphml
from pipelines.discover.graph.snapshot import build_graph
from pipelines.errors import ArtifactMismatch
from pipelines.identity import bucket_keys
from pipelines.progress import Silent
from pipelines.store import ArtifactStore
from tests.discover.call_tables import REPO, File, build

FILES = (
    File(
        "a.py",
        ("function f", "function g", "function h"),
        (("f", "g"), ("f", "g"), ("g", "h"), ("h", "h"), ("h", "nope")),
    ),
    File("b.py", ("class K", "method K.m"), (("K.m", "g"), (None, "g")), (("a", "g", None),)),
    File("README.md"),
    File("pkg/__init__.py"),
)


def test_every_call_site_has_one_counted_outcome(tmp_path: Path) -> None:
    snapshot = build(tmp_path, *FILES)
    counts = snapshot.artifact.counts
    assert counts["calls"] == 7
    assert counts["resolved_by"] == {"same_file": 4, "imported": 1}
    assert counts["unresolved"] == {"module_level": 1, "unknown_name": 1}
    assert sum(counts["resolved_by"].values()) + sum(counts["unresolved"].values()) == counts["calls"]
    assert snapshot.report.skipped == {"call_module_level": 1, "call_unknown_name": 1}
    assert snapshot.report.rows == snapshot.report.computed == 5
    assert (counts["rows"], counts["edges"]) == (5, 4)


def test_self_loops_are_kept_and_no_metric_sees_them(tmp_path: Path) -> None:
    snapshot = build(tmp_path / "with", File("a.py", ("function f", "function g"), (("f", "f"), ("g", "f"))))
    plain = build(tmp_path / "without", File("a.py", ("function f", "function g"), (("g", "f"),)))
    assert ("a.py:f", "a.py:f") in snapshot.edges
    assert snapshot.artifact.table("metrics.parquet").equals(plain.artifact.table("metrics.parquet"))


def test_the_snapshot_does_not_depend_on_the_number_of_buckets(tmp_path: Path) -> None:
    few, many = build(tmp_path / "few", *FILES, buckets=1), build(tmp_path / "many", *FILES, buckets=64)
    assert few.artifact.manifest["files"] == many.artifact.manifest["files"]
    assert few.artifact.counts == many.artifact.counts


def test_equal_inputs_give_equal_bytes(tmp_path: Path) -> None:
    first, second = build(tmp_path / "first", *FILES), build(tmp_path / "second", *reversed(FILES))
    assert first.artifact.manifest == second.artifact.manifest


@pytest.mark.parametrize(
    "files", [(), (File("README.md"),), (File("a.py", ("function f",)),)], ids=["no file", "no code", "no call"]
)
def test_a_repository_without_calls_has_a_graph_without_edges(tmp_path: Path, files: tuple[File, ...]) -> None:
    snapshot = build(tmp_path, *files)
    assert snapshot.edges == {}
    assert len(snapshot.artifact.array("indptr.npy")) == len(snapshot.nodes) + 1
    assert snapshot.artifact.counts["inactive"] == ["pagerank", "blast"]
    assert np.isfinite(snapshot.artifact.table("metrics.parquet")["pagerank"].to_numpy()).all()


def test_symbols_out_of_order_are_refused(tmp_path: Path) -> None:
    snapshot = build(tmp_path, *FILES, File("d.py", ("function d",)), buckets=16)
    store = ArtifactStore(tmp_path)
    inputs = tuple(ArtifactRef(REPO, "symbols", bucket, f"{16:032d}") for bucket in reversed(bucket_keys(16)))
    target = Target(ArtifactRef(REPO, "graph_snapshot", WHOLE, "swapped"), "recipe", inputs)
    with pytest.raises(ArtifactMismatch, match="not in order of its id"):
        build_graph(store, target, Silent())
    assert not store.holds(target.ref)
    assert store.head(REPO, "graph_snapshot") == snapshot.artifact.ref.fingerprint


def test_parallel_edges_collapse_to_the_surest() -> None:
    edges = EdgeList()
    columns = ([1, 1, 1, 0], [0, 2, 2, 1], [0.45, 0.45, 0.9, 0.5], [11, 11, 3, 9], [3, 3, 2, 1])
    edges.append(*(np.array(column) for column in columns))
    graph = edges.graph(3)
    assert graph.indptr.tolist() == [0, 1, 3, 3]
    assert graph.indices.tolist() == [1, 0, 2]
    assert graph.strategy.tolist() == [9, 11, 3]
    assert graph.sites.tolist() == [1, 3, 5]
    assert np.allclose(graph.matrix(0.5).toarray(), np.array([[0.0, 0.5, 0.0], [0.0, 0.0, 0.9], [0.0, 0.0, 0.0]]))


def test_the_documented_export_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path / ".strata", *FILES)
    page = (Path(__file__).parents[2] / "docs" / "formats" / "graph_snapshot.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, nx.DiGraph] = {}
    exec(code.replace("repository-key", REPO), names)
    assert len(names["graph"]) == 5
    assert len(nx.read_graphml(tmp_path / "calls.graphml")) == 5


def test_the_export_holds_every_node_and_edge(tmp_path: Path) -> None:
    snapshot = build(tmp_path, *FILES)
    graph = export_graph(snapshot.artifact)
    names = nx.get_node_attributes(graph, "qualified_name")
    assert sorted(names.values()) == ["K", "K.m", "f", "g", "h"]
    edges = {(names[a], names[b]): (d["strategy"], d["sites"]) for a, b, d in graph.edges(data=True)}
    assert edges == {
        ("f", "g"): ("same_file", 2),
        ("g", "h"): ("same_file", 1),
        ("h", "h"): ("same_file", 1),
        ("K.m", "g"): ("imported", 1),
    }
    write_graphml(snapshot.artifact, tmp_path / "graph.graphml")
    assert nx.read_graphml(tmp_path / "graph.graphml").edges.keys() == graph.edges.keys()
