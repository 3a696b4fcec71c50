from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.artifacts import ArtifactRef
from pipelines.generation import GenerationDocument
from pipelines.records import Severity
from pipelines.serving.checks import CHECKS, CHECKSUMS, CheckScope, poor_bits, run_checks
from pipelines.settings import Settings, override
from pipelines.store import ArtifactStore
from tests.serving.builds import build, document_of, write_files

FILES = {
    f"module_{number}.py": f"def function_{number}():\n    return help_{number}()\n\ndef help_{number}():\n    pass\n"
    for number in range(8)
}


@pytest.fixture
def built(tmp_path: Path) -> tuple[ArtifactStore, GenerationDocument]:
    write_files(tmp_path / "code", FILES)
    store = ArtifactStore(tmp_path / "store")
    return store, document_of(build(tmp_path / "code", store))


def failures(store: ArtifactStore, document: GenerationDocument, floor: float = 0.5) -> dict[str, str]:
    scope = CheckScope.of(store, document, override(Settings(), "evaluation", floor=floor))
    results = run_checks(scope, (*CHECKS, *CHECKSUMS))
    return {f"{item.asset}.{item.name}": item.message for item in results if not item.passed}


def test_a_good_build_passes_every_check(built: tuple[ArtifactStore, GenerationDocument]) -> None:
    store, document = built
    scope = CheckScope.of(store, document, Settings())
    results = run_checks(scope, (*CHECKS, *CHECKSUMS))
    assert len(results) == len(CHECKS) + len(CHECKSUMS)
    assert [item for item in results if not item.passed] == []


def test_every_artifact_has_a_check_that_blocks() -> None:
    blocking = {check.asset for check in CHECKS if check.severity == Severity.ERROR}
    assert blocking >= {"symbols", "chunks", "lexical_segments", "chunk_vectors", "graph_snapshot", "search_rows"}


def largest(store: ArtifactStore, document: GenerationDocument, asset: str) -> ArtifactRef:
    return max(document.buckets(asset), key=lambda ref: store.open(ref).counts["rows"])


def rewrite_array(name: str, change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Callable[[Path], None]:
    def rewrite(folder: Path) -> None:
        np.save(folder / name, change(np.load(folder / name)))

    return rewrite


def rewrite_table(name: str, change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    def rewrite(folder: Path) -> None:
        pq.write_table(change(pq.read_table(folder / name)), folder / name, compression="zstd")

    return rewrite


def doubled(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table, table.slice(0, 1)])


def with_column(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    field = table.schema.field(name)
    return table.set_column(table.column_names.index(name), field, pa.array(values, field.type))


def strange_symbols(table: pa.Table) -> pa.Table:
    return with_column(table, "symbol_id", [b"?" * 16] * len(table))


@pytest.mark.parametrize(
    ("asset", "check", "damage"),
    [
        ("symbols", "files_accounted", rewrite_table("files.parquet", doubled)),
        ("symbols", "symbol_ids_unique", rewrite_table("symbols.parquet", doubled)),
        ("chunks", "chunk_ids_unique", rewrite_table("chunks.parquet", doubled)),
        ("chunks", "references_exist", rewrite_table("chunks.parquet", strange_symbols)),
        ("lexical_segments", "postings_consistent", rewrite_array("rows.npy", lambda rows: rows + 1_000)),
        ("chunk_vectors", "vectors_finite", rewrite_array("vectors.npy", lambda rows: rows * np.float16(np.nan))),
        ("chunk_vectors", "vectors_finite", rewrite_array("vectors.npy", lambda rows: rows * np.float16(0))),
        ("graph_snapshot", "edges_within_nodes", rewrite_array("indices.npy", lambda rows: rows + 1_000)),
        ("search_rows", "row_order", None),
    ],
)
def test_each_fault_is_found_by_its_check(
    built: tuple[ArtifactStore, GenerationDocument],
    asset: str,
    check: str,
    damage: Callable[[Path], None] | None,
) -> None:
    store, document = built
    folder = store.folder(largest(store, document, asset))
    (damage or reverse_rows)(folder)
    correct_sizes(folder)
    found = failures(store, document)
    assert f"{asset}.{check}" in found
    assert asset in found[f"{asset}.checksums"]


def correct_sizes(folder: Path) -> None:
    """Let the manifest have the sizes of what is there, as if a wrong stage had written it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, described in manifest["files"].items():
        described["bytes"] = (folder / name).stat().st_size
    (folder / "manifest.json").write_text(json.dumps(manifest))


def reverse_rows(folder: Path) -> None:
    with pa.OSFile(str(folder / "rows.arrow"), "rb") as source:
        table = pa.ipc.open_file(source).read_all()
    turned = table.take(list(range(len(table) - 1, -1, -1))).combine_chunks()
    with pa.OSFile(str(folder / "rows.arrow"), "wb") as sink, pa.ipc.new_file(sink, turned.schema) as writer:
        writer.write_table(turned)


def test_a_flipped_byte_is_named_with_artifact_and_check(built: tuple[ArtifactStore, GenerationDocument]) -> None:
    store, document = built
    ref = document.ref("binary_codes")
    file = store.folder(ref) / "rescoring.npy"
    content = bytearray(file.read_bytes())
    content[-3] ^= 0x10
    file.write_bytes(content)
    assert failures(store, document) == {
        "binary_codes.checksums": f"rescoring.npy of artifact {ref} has another checksum than when it was written"
        " (run `strata index --full`)"
    }


def test_a_missing_artifact_fails_the_checks_that_need_it(built: tuple[ArtifactStore, GenerationDocument]) -> None:
    store, document = built
    ref = largest(store, document, "chunks")
    store.discard(ref)
    found = failures(store, document)
    assert {"chunks.chunk_ids_unique", "chunks.checksums", "lexical_segments.postings_consistent"} <= found.keys()
    assert all(str(ref) in message for message in found.values())


def test_bits_that_hardly_ever_differ_are_counted_where_there_are_enough_rows() -> None:
    codes = np.random.default_rng(1).integers(0, 256, (1_000, 4), np.uint8)
    assert poor_bits(codes) == (0, 32)
    codes[:, 1] = 255
    assert poor_bits(codes) == (8, 32)
    assert poor_bits(codes[:100]) == (0, 32)


def test_a_generation_below_the_floor_is_not_good_enough(tmp_path: Path) -> None:
    files = {f"part_{number}.py": f"def unique_{number}():\n    return {number}\n" for number in range(12)}
    write_files(tmp_path / "code", files)
    store = ArtifactStore(tmp_path / "store")
    document = document_of(build(tmp_path / "code", store))
    assert failures(store, document, floor=0.9) == {}
    folder = store.folder(document.ref("eval_runs"))
    rewrite_table("metrics.parquet", lambda table: with_column(table, "hit_at_1", [0.25] * len(table)))(folder)
    correct_sizes(folder)
    message = "only 25% of 12 known names rank first, the floor is 90%"
    assert failures(store, document, floor=0.9)["eval_runs.evaluation_floor"] == message
