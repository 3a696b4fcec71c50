"""The asset diffused_vectors: rows that move, rows that must stay bit for bit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from pipelines.artifacts import WHOLE, Artifact, ArtifactRef, Target
from pipelines.diffusion import build_diffused
from pipelines.errors import ArtifactMismatch
from pipelines.formats import CHUNKS_TABLE, NODES_TABLE
from pipelines.progress import Silent
from pipelines.records import CallStrategy
from pipelines.report import StageReport
from pipelines.settings import DiffusionSettings
from pipelines.store import ArtifactStore

REPO = "sample"
DIMENSIONS = 16
ENCODER = {"name": "vocab", "digest": "d" * 32, "dimensions": DIMENSIONS}
SETTINGS = DiffusionSettings(enabled=True, alpha=0.25, iterations=2)
#: (node or None, part) of each row, bucket by bucket: node 3 has two parts, the last row shows no symbol.
ROWS: tuple[tuple[tuple[int | None, int], ...], ...] = (((0, 0), (1, 0)), (), ((2, 0), (3, 0), (3, 1), (None, 0)))
#: 0 calls 1 and 3; 1 and 2 call each other; 3 calls itself alone; 4 has no row.
EDGES = ((0, 1), (0, 3), (1, 2), (2, 1), (3, 3), (3, 4))
NODES = 5


@dataclass
class World:
    store: ArtifactStore
    inputs: tuple[ArtifactRef, ...]
    vectors: npt.NDArray[np.float16]


def make_world(root: Path, invalid: tuple[int, ...] = (), encoders: tuple[str, ...] = ("d" * 32,) * 3) -> World:
    store = ArtifactStore(root)
    store.initialise()
    count = sum(len(bucket) for bucket in ROWS)
    vectors = np.random.default_rng(3).standard_normal((count, DIMENSIONS)).astype(np.float16)
    valid = ~np.isin(np.arange(count), invalid)
    vectors[~valid] = np.nan
    chunks, embedded, start = [], [], 0
    for number, rows in enumerate(ROWS):
        end = start + len(rows)
        chunks.append(_write_chunks(store, f"b{number:02x}", rows))
        ref = ArtifactRef(REPO, "chunk_vectors", f"b{number:02x}", "0" * 32)
        with store.writer(Target(ref, "recipe")) as writer:
            writer.array("vectors.npy", vectors[start:end])
            writer.array("valid.npy", valid[start:end])
            writer.facts["encoder"] = {**ENCODER, "digest": encoders[number]}
        embedded.append(ref)
        start = end
    return World(store, (*chunks, *embedded, _write_graph(store)), vectors)


def _id(node: int) -> bytes:
    return node.to_bytes(16, "big")


def _write_chunks(store: ArtifactStore, bucket: str, rows: tuple[tuple[int | None, int], ...]) -> ArtifactRef:
    ref = ArtifactRef(REPO, "chunks", bucket, "0" * 32)
    blank: dict[str, object] = {}
    for column in CHUNKS_TABLE:
        blank[column.name] = "" if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) else 0
    blank |= {"is_test": False, "code_hash": bytes(16)}
    table = [
        {**blank, "chunk_id": bytes([place]) * 16, "symbol_id": None if node is None else _id(node), "part": part}
        for place, (node, part) in enumerate(rows)
    ]
    with store.writer(Target(ref, "recipe")) as writer:
        writer.table("chunks.parquet", pa.Table.from_pylist(table, schema=CHUNKS_TABLE), CHUNKS_TABLE)
    return ref


def _write_graph(store: ArtifactStore) -> ArtifactRef:
    ref = ArtifactRef(REPO, "graph_snapshot", WHOLE, "0" * 32)
    nodes = [
        {"symbol_id": _id(node), "path": "a.py", "kind": "function", "name": "f", "qualified_name": "f"}
        for node in range(NODES)
    ]
    callers = np.array([caller for caller, _ in EDGES])
    with store.writer(Target(ref, "recipe")) as writer:
        writer.table("nodes.parquet", pa.Table.from_pylist(nodes, schema=NODES_TABLE), NODES_TABLE)
        writer.array("indptr.npy", np.concatenate(([0], np.cumsum(np.bincount(callers, minlength=NODES)))))
        writer.array("indices.npy", np.array([callee for _, callee in EDGES], np.int32))
        writer.array("confidence.npy", np.full(len(EDGES), 0.9, np.float32))
        writer.array("strategy.npy", np.full(len(EDGES), CallStrategy.SAME_FILE, np.uint8))
    return ref


def diffuse(world: World, settings: DiffusionSettings = SETTINGS, name: str = "1") -> tuple[Artifact, StageReport]:
    target = Target(ArtifactRef(REPO, "diffused_vectors", WHOLE, name * 32), "recipe", world.inputs)
    report = build_diffused(world.store, target, settings, Silent())
    return world.store.verify(target.ref), report


def test_callers_move_and_all_other_rows_stay_bit_for_bit(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    artifact, report = diffuse(world)
    after = artifact.array("vectors.npy")
    moved = (after.view(np.uint16) != world.vectors.view(np.uint16)).any(axis=1)
    assert np.flatnonzero(moved).tolist() == [0, 1, 2]
    assert after.dtype == np.float16
    assert (report.rows, report.extra["mixed"], report.extra["edges"]) == (6, 3, 4)
    assert artifact.facts == {"enabled": True, "encoder": ENCODER, "dimensions": DIMENSIONS}

    expected = world.vectors.astype(np.float64)
    to_first, to_third = 0.9 / np.sqrt(2), 0.9
    for _ in range(2):
        mean = (to_first * expected[1] + to_third * expected[3]) / (to_first + to_third)
        expected[:3] = 0.75 * expected[:3] + 0.25 * np.array([mean, expected[2], expected[1]])
    expected[:3] /= np.linalg.norm(expected[:3], axis=1, keepdims=True)
    assert after[:3].astype(np.float64) == pytest.approx(expected[:3], abs=1e-3)  # half a step of float16


def test_both_ways_the_called_move_too_but_not_their_further_parts(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    artifact, _ = diffuse(world, replace(SETTINGS, bidirectional=True))
    moved = (artifact.array("vectors.npy").view(np.uint16) != world.vectors.view(np.uint16)).any(axis=1)
    assert np.flatnonzero(moved).tolist() == [0, 1, 2, 3]


def test_an_invalid_row_neither_gives_nor_takes(tmp_path: Path) -> None:
    world = make_world(tmp_path, invalid=(1,))
    artifact, _ = diffuse(world)
    after = artifact.array("vectors.npy")
    assert np.isnan(after[1]).all()
    assert np.isfinite(np.delete(after, 1, axis=0)).all()
    assert after[2].tolist() == world.vectors[2].tolist()


def test_equal_inputs_give_equal_bytes(tmp_path: Path) -> None:
    first, second = (diffuse(make_world(tmp_path / name))[0] for name in ("first", "second"))
    assert first.manifest == second.manifest


def test_switched_off_it_is_an_artifact_without_arrays(tmp_path: Path) -> None:
    artifact, report = diffuse(make_world(tmp_path), DiffusionSettings())
    assert artifact.facts == {"enabled": False}
    assert artifact.manifest["files"] == {}
    assert report.rows == 0


def test_vectors_of_two_encoders_are_refused(tmp_path: Path) -> None:
    world = make_world(tmp_path, encoders=("d" * 32, "e" * 32, "d" * 32))
    with pytest.raises(ArtifactMismatch, match="encoder"):
        diffuse(world)
