from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.artifacts import ArtifactRef, ArtifactWriter, Target
from pipelines.errors import ArtifactCorrupt, ArtifactMismatch, ArtifactMissing
from pipelines.generation import GenerationDocument
from pipelines.locks import remove_generation_unless_leased
from pipelines.report import StageReport
from pipelines.retrieval import Query, Searcher, open_generation
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore
from tests.retrieval.builders import Call, Doc, WordEncoder, make_generation, make_store

DOCS = [
    Doc("a.py", "def first(): pass", "first"),
    Doc("b.py", "def second(): pass", "second", is_test=True),
    Doc("c.md", "# Third\nprose", "Third", kind="section", language="markdown"),
]


def test_a_row_is_the_same_chunk_in_every_array(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with open_generation(store, "sample", make_generation(store, DOCS)) as generation:
        rows = generation.rows
        assert rows.count == 3
        by_path = {rows.labels["path"][row]: row for row in range(3)}
        for doc in DOCS:
            row = by_path[doc.path]
            assert rows.ids[row].tobytes() == doc.id("sample")
            assert rows.text(row) == doc.text
            assert rows.strings("name", [row]) == [doc.name]
            assert rows.is_test(np.array([row])).tolist() == [doc.is_test]
        assert sorted(rows.ids.tolist()) == rows.ids.tolist()


def test_a_published_generation_is_leased_while_it_is_open(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    document = make_generation(store, DOCS)
    store.write_generation("sample", document.generation, document.as_json())
    generation = open_generation(store, "sample", document.generation)
    assert generation.document == document
    assert not remove_generation_unless_leased(store, "sample", document.generation)
    generation.close()
    generation.close()
    assert remove_generation_unless_leased(store, "sample", document.generation)
    with pytest.raises(ArtifactMissing, match="is gone"):
        open_generation(store, "sample", document.generation)


def test_a_failed_open_gives_up_its_lease(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    document = make_generation(store, DOCS)
    store.write_generation("sample", document.generation, document.as_json())
    store.discard(document.ref("binary_codes"))
    with pytest.raises(ArtifactMissing, match="binary_codes"):
        open_generation(store, "sample", document.generation)
    assert remove_generation_unless_leased(store, "sample", document.generation)


@pytest.mark.parametrize("change", [{"digest": "other"}, {"name": "other"}, {"dimensions": 128}])
def test_codes_of_another_encoder_do_not_open(tmp_path: Path, change: dict[str, Any]) -> None:
    store = make_store(tmp_path)
    document = make_generation(store, DOCS)
    mixed = replace(document, encoder=replace(document.encoder, **change))
    with pytest.raises(ArtifactMismatch, match=r"is of encoder .*, its codes are of "):
        open_generation(store, "sample", mixed)


def test_artifacts_of_different_lengths_do_not_open(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    document = make_generation(store, DOCS)
    other = make_generation(store, DOCS[:2])
    kept = [ref for ref in document.refs if ref.asset != "binary_codes"]
    mixed = (*kept, other.ref("binary_codes"))
    broken = GenerationDocument("sample", "mixed", document.encoder, mixed)
    with pytest.raises(ArtifactMismatch, match=r"rows.arrow has 3.* codes.npy has 2"):
        open_generation(store, "sample", broken)


def test_a_missing_segment_is_noticed(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    document = make_generation(store, DOCS)
    full = next(ref for ref in document.buckets("lexical_segments") if store.open(ref).counts["rows"])
    broken = GenerationDocument("sample", "x", document.encoder, tuple(ref for ref in document.refs if ref != full))
    with pytest.raises(ArtifactMismatch, match="one row order"):
        open_generation(store, "sample", broken)


def test_a_repository_without_rows_opens_and_finds_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with open_generation(store, "sample", make_generation(store, [])) as generation:
        for mode in ("hybrid", "semantic", "lexical", "symbol"):
            answer = Searcher([generation], WordEncoder()).search(Query("x", mode=mode, expand="neighbors"))  # type: ignore[arg-type]
            assert answer.hits == ()
        assert Searcher([generation], WordEncoder()).search(Query("x", keyword_and=True, paths=("*",))).hits == ()


def test_a_searcher_over_nothing_finds_nothing() -> None:
    assert Searcher([], WordEncoder()).search(Query("anything")).hits == ()


def test_opening_reads_no_array(tmp_path: Path) -> None:
    """Arrays whose bytes are not numpy's are noticed when a query needs them, not before."""
    store = make_store(tmp_path)
    document = make_generation(store, DOCS)
    broken = store.open(document.ref("binary_codes"))
    path = broken.folder / "codes.npy"
    path.write_bytes(b"x" * path.stat().st_size)
    with open_generation(store, "sample", document) as generation:
        assert Searcher([generation], None).search(Query("first")).hits


def test_lengths_are_compared_by_the_manifests(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    document = make_generation(store, DOCS)
    ref = ArtifactRef("sample", "binary_codes", "all", "0" * 32)

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        writer.array("codes.npy", np.zeros((3, 8), np.uint8))
        writer.array("rescoring.npy", np.zeros((2, 64), np.int8))
        writer.array("scales.npy", np.zeros(3, np.float32))
        writer.array("valid.npy", np.zeros(3, np.bool_))
        writer.facts |= {"dimensions": 64, "bits": 64, "seed": 0, "encoder": {}}

    run_stage(store, Target(ref, "recipe"), work)
    refs = (*(item for item in document.refs if item.asset != "binary_codes"), ref)
    with pytest.raises(ArtifactMismatch, match=r"rescoring.npy has 2, codes.npy has 3"):
        open_generation(store, "sample", GenerationDocument("sample", "x", document.encoder, refs))


def change_array(store: ArtifactStore, document: GenerationDocument, asset: str, name: str, **change: Any) -> None:
    """Let the manifests of an asset tell something else of one of their arrays."""
    for ref in document.buckets(asset):
        path = store.folder(ref) / "manifest.json"
        manifest = json.loads(path.read_text())
        described = manifest["files"][name]
        described |= {key: told(described[key]) for key, told in change.items()}
        path.write_text(json.dumps(manifest))


def shorter(shape: list[int]) -> list[int]:
    return [max(shape[0] - 1, 0), *shape[1:]]


@pytest.mark.parametrize(
    ("asset", "name"),
    [
        *(("lexical_segments", f"{name}.npy") for name in ("terms", "offsets", "rows", "frequencies", "lengths")),
        *(("binary_codes", f"{name}.npy") for name in ("codes", "rescoring", "scales", "valid")),
        *(("graph_snapshot", f"{name}.npy") for name in ("indices", "confidence", "strategy")),
        *(("search_rows", f"{name}.npy") for name in ("names", "name_rows")),
    ],
)
def test_an_array_of_which_the_manifest_tells_something_else_does_not_open(
    tmp_path: Path, asset: str, name: str
) -> None:
    store = make_store(tmp_path)
    document = make_generation(store, DOCS, calls=[Call("first", "second")])
    kept = {ref: (store.folder(ref) / "manifest.json").read_bytes() for ref in document.refs}
    changes: list[dict[str, Callable[[Any], Any]]] = [
        {"shape": shorter},
        {"shape": lambda shape: [0, *shape[1:]]},
        {"shape": lambda shape: [*shape, 1]},
        {"shape": lambda shape: []},
        {"dtype": lambda kind: ">u4"},
        {"dtype": lambda kind: "object"},
    ]
    for change in changes:
        change_array(store, document, asset, name, **change)
        with pytest.raises(ArtifactMismatch, match=name):
            open_generation(store, "sample", document)
        for ref, manifest in kept.items():
            (store.folder(ref) / "manifest.json").write_bytes(manifest)
    open_generation(store, "sample", document).close()


@pytest.mark.parametrize(
    "change",
    [
        {"encoder": None},
        {"encoder": {}},
        {"encoder": {"name": "words", "digest": "d", "dimensions": "64"}},
        {"artifacts": []},
        {"artifacts": [["binary_codes", "all"]]},
        {"artifacts": [["unheard_of", "all", "00"]]},
        {"artifacts": None},
        {"repo": "other"},
        {"generation": 5},
    ],
    ids=str,
)
def test_a_document_that_is_not_as_described_does_not_open(tmp_path: Path, change: dict[str, Any]) -> None:
    store = make_store(tmp_path)
    document = make_generation(store, DOCS)
    store.write_generation("sample", document.generation, document.as_json() | change)
    with pytest.raises(ArtifactCorrupt, match=f"generation {document.generation} of sample"):
        open_generation(store, "sample", document.generation)


@pytest.mark.parametrize(
    ("asset", "name", "mode"),
    [
        ("search_rows", "name_rows.npy", "symbol"),
        ("search_rows", "rows.arrow", "lexical"),
        ("lexical_segments", "rows.npy", "lexical"),
        ("lexical_segments", "offsets.npy", "lexical"),
        ("binary_codes", "scales.npy", "semantic"),
        ("graph_snapshot", "indptr.npy", "hybrid"),
        ("graph_snapshot", "indices.npy", "hybrid"),
        ("graph_snapshot", "strategy.npy", "hybrid"),
    ],
)
def test_garbage_of_the_right_size_is_named_where_it_is_used(tmp_path: Path, asset: str, name: str, mode: Any) -> None:
    store = make_store(tmp_path)
    document = make_generation(store, DOCS, calls=[Call("first", "second")])
    for ref in document.buckets(asset):
        path = store.folder(ref) / name
        content = path.read_bytes()
        kept = content[: 10 + int.from_bytes(content[8:10], "little")] if name.endswith(".npy") else b""
        path.write_bytes(kept + b"\xff" * (len(content) - len(kept)))
    query = Query("first second", mode=mode, expand="neighbors" if mode == "hybrid" else None)
    with (
        pytest.raises(ArtifactCorrupt, match=f"cannot read {name} of artifact sample/{asset}"),
        open_generation(store, "sample", document) as generation,
    ):
        Searcher([generation], WordEncoder()).search(query)


@pytest.mark.parametrize("told", [{}, {"documents": 1.0, "total_length": 1}, {"documents": 1, "total_length": None}])
def test_facts_that_are_not_as_described_do_not_open(tmp_path: Path, told: dict[str, Any]) -> None:
    store = make_store(tmp_path)
    document = make_generation(store, DOCS)
    path = store.folder(document.buckets("lexical_segments")[0]) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"facts": told}))
    with pytest.raises(ArtifactCorrupt, match="the facts of artifact"):
        open_generation(store, "sample", document)


def test_importing_retrieval_loads_no_engine() -> None:
    script = "import sys, pipelines.retrieval; print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    for engine in ("faiss", "scipy", "networkx", "onnxruntime", "dagster", "tree_sitter"):
        assert f"'{engine}'" not in loaded
