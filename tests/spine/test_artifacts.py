from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pipelines import formats
from pipelines.artifacts import WHOLE, ArtifactRef, ArtifactWriter, Target
from pipelines.durable import storage_error
from pipelines.errors import ArtifactCorrupt, ArtifactMismatch, ArtifactMissing, FormatUnsupported, StorageError
from pipelines.formats import BINARY_CODES
from pipelines.report import StageReport
from pipelines.stage import previous, run_stage
from pipelines.store import ArtifactStore, Pointer
from tests.spine.builders import fill, make_store

TARGET = Target(ArtifactRef("sample", "binary_codes", WHOLE, "ab" * 16), "recipe")


def files_under(root: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(root)): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file()
    }


def test_an_artifact_is_written_once_and_read_back(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    first = fill(store, TARGET)
    before = files_under(tmp_path)
    second = fill(store, TARGET)
    artifact = store.verify(TARGET.ref)
    assert (first.built, second.built) == (True, False)
    assert (second.rows, second.reused, second.computed) == (3, 3, 0)
    assert files_under(tmp_path) == before
    assert artifact.array("values.npy").tolist() == [int("abababab", 16) + place for place in range(3)]
    assert artifact.recipe == "recipe"
    assert not list((tmp_path / "store" / "tmp" / "sample").iterdir())


def test_an_error_in_the_work_leaves_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path)

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        writer.array("values.npy", np.zeros(3))
        raise ArtifactMismatch("the rows do not fit")

    with pytest.raises(ArtifactMismatch):
        run_stage(store, TARGET, work)
    assert not store.holds(TARGET.ref)
    assert store.head("sample", "binary_codes") is None
    assert not list((tmp_path / "store" / "tmp" / "sample").iterdir())


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGTERM"])
def test_a_kill_while_writing_leaves_the_last_artifact_whole(tmp_path: Path, signal: str) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    script = f"""
import os, signal
from pathlib import Path
import numpy as np
from pipelines.artifacts import ArtifactRef, Target
from pipelines.store import ArtifactStore
store = ArtifactStore(Path({str(store.root)!r}))
with store.writer(Target(ArtifactRef("sample", "binary_codes", "all", "cd" * 16), "recipe")) as writer:
    writer.array("values.npy", np.zeros(10))
    os.kill(os.getpid(), signal.{signal})
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode != 0
    assert [ref.fingerprint for ref in store.artifacts("sample")] == ["ab" * 16]
    assert store.open_head("sample", "binary_codes").ref == TARGET.ref


def test_damage_is_noticed(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    file = store.folder(TARGET.ref) / "values.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    store.open(TARGET.ref)
    with pytest.raises(ArtifactCorrupt, match=r"values\.npy of artifact sample/binary_codes/all/abab"):
        store.verify(TARGET.ref)
    file.write_bytes(content[:-1])
    assert not store.holds(TARGET.ref)
    with pytest.raises(ArtifactCorrupt, match="has 151 bytes, not 152"):
        store.open(TARGET.ref)
    fill(store, TARGET)
    store.verify(TARGET.ref)


@pytest.mark.parametrize("change", [lambda data: data[:-8], lambda data: data + bytes(8), lambda data: b"x" + data[1:]])
def test_an_array_that_is_not_the_one_that_was_written_is_not_mapped(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    path = store.open(TARGET.ref).folder / "values.npy"
    path.chmod(0o644)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ArtifactCorrupt, match=r"values\.npy"):
        store.open(TARGET.ref).array("values.npy")


@pytest.mark.parametrize(
    "told",
    [
        {"shape": [2]},
        {"shape": [0]},
        {"shape": [-3]},
        {"shape": [3, 1]},
        {"shape": [3.0]},
        {"shape": []},
        {"dtype": "<i4"},
        {"dtype": ">i8"},
        {"dtype": "xx"},
        {"dtype": ""},
        {"dtype": "object"},
        {"dtype": "<i4", "shape": [6]},
    ],
)
def test_an_array_is_mapped_as_its_own_header_tells(tmp_path: Path, told: dict[str, object]) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    path = store.folder(TARGET.ref) / "manifest.json"
    document = json.loads(path.read_text())
    document["files"]["values.npy"] |= told
    path.write_text(json.dumps(document))
    with pytest.raises(ArtifactCorrupt, match=r"values\.npy"):
        store.open(TARGET.ref).array("values.npy")


@pytest.mark.parametrize("change", [{8: 0x66}, {8: 0x7E}, {6: 2}, {60: 0x78}])
def test_a_header_of_another_length_is_not_mapped(tmp_path: Path, change: dict[int, int]) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    path = store.folder(TARGET.ref) / "values.npy"
    content = bytearray(path.read_bytes())
    for place, value in change.items():
        content[place] = value
    path.write_bytes(content)
    with pytest.raises(ArtifactCorrupt, match="cannot read values"):
        store.open(TARGET.ref).array("values.npy")


DAMAGE: list[dict[str, object]] = [
    {"files": []},
    {"files": None},
    {"files": {"values.npy": None}},
    {"files": {"values.npy": {}}},
    {"files": {"values.npy": {"bytes": "152"}}},
    {"facts": None},
    {"counts": []},
    {"inputs": [1]},
    {"recipe": 5},
    {"format": True},
    {"format": "1"},
]


@pytest.mark.parametrize("change", DAMAGE, ids=str)
def test_a_manifest_that_is_not_as_described_is_damage(tmp_path: Path, change: dict[str, object]) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    path = store.folder(TARGET.ref) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ArtifactCorrupt):
        store.open(TARGET.ref)
    assert not store.holds(TARGET.ref)


@pytest.mark.parametrize("content", ["[" * 100_000, "{", "[]", "null", '{"format": 1}', "\xff"])
def test_a_document_of_another_kind_is_damage(tmp_path: Path, content: str) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    (store.folder(TARGET.ref) / "manifest.json").write_text(content)
    store.publish("sample", Pointer("aa", "", False, "", ()))
    (store.root / "repos" / "sample" / "current.json").write_text(content)
    store.write_generation("sample", "aa", {})
    store.generation_file("sample", "aa").write_text(content)
    store.set_head(TARGET.ref)
    (store.root / "repos" / "sample" / "heads" / "binary_codes" / "all.json").write_text(content)
    reads: list[Callable[[], object]] = [
        lambda: store.open(TARGET.ref) if content != '{"format": 1}' else store.pointer("sample"),
        lambda: store.pointer("sample"),
        lambda: store.read_generation("sample", "aa"),
    ]
    for read in reads:
        with pytest.raises(ArtifactCorrupt):
            read()
    assert store.head("sample", "binary_codes") is None


def test_what_a_manifest_does_not_tell_is_damage(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    artifact = store.open(TARGET.ref)
    with pytest.raises(ArtifactCorrupt, match="does not tell colour"):
        assert artifact.facts["colour"]
    with pytest.raises(ArtifactCorrupt, match="does not tell colour"):
        assert artifact.counts["colour"]
    with pytest.raises(ArtifactCorrupt, match=r"cannot read values\.npy of .* it has other"):
        artifact.require(False, "values.npy", "it has other values")


@pytest.mark.parametrize(
    "change", [{"generation": 5}, {"previous": 5}, {"previous": [5]}, {"dirty": "no"}, {"published_at": None}], ids=str
)
def test_a_pointer_that_is_not_as_described_is_damage(tmp_path: Path, change: dict[str, object]) -> None:
    store = make_store(tmp_path)
    store.publish("sample", Pointer("aa", "c0ffee", False, "2026-01-01T00:00:00+00:00", ("00",)))
    path = store.root / "repos" / "sample" / "current.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ArtifactCorrupt, match=f"the pointer of sample is damaged at {next(iter(change))}"):
        store.pointer("sample")


def test_a_folder_in_place_of_a_file_is_damage(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    file = store.folder(TARGET.ref) / "values.npy"
    file.unlink()
    file.mkdir()
    with pytest.raises(ArtifactCorrupt):
        store.open(TARGET.ref).array("values.npy")


def test_another_format_version_is_refused_with_both_numbers(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    manifest = store.folder(TARGET.ref) / "manifest.json"
    document = json.loads(manifest.read_text())
    readable = f"{BINARY_CODES.oldest_readable} to {BINARY_CODES.version}"
    for found, advice in ((0, "rebuild"), (99, "newer release")):
        manifest.write_text(json.dumps(document | {"format": found}))
        with pytest.raises(FormatUnsupported, match=rf"version {found}; this release reads {readable}.*{advice}"):
            store.open(TARGET.ref)


def test_a_store_of_another_format_is_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    (store.root / "store.json").write_text('{"format": 7}')
    with pytest.raises(FormatUnsupported, match="version 7; this release reads 1 to 1"):
        store.initialise()
    with pytest.raises(ArtifactMissing, match="no Strata store"):
        ArtifactStore(tmp_path / "elsewhere").require_readable()


def test_columns_must_be_those_of_the_schema(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with store.writer(TARGET) as writer, pytest.raises(ArtifactMismatch, match="columns"):
        writer.table("texts.parquet", pa.table({"words": ["a"]}), formats.TEXTS_TABLE)
    with store.writer(TARGET) as writer, pytest.raises(ArtifactMismatch, match="nulls in column text"):
        writer.table("texts.parquet", pa.table({"text": ["a", None]}), formats.TEXTS_TABLE)


def test_an_id_of_the_wrong_width_is_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    columns = {name: pa.array(["x"]) for name in formats.NODES_TABLE.names}
    columns["symbol_id"] = pa.array([b"x" * 15], pa.binary(15))
    with store.writer(TARGET) as writer, pytest.raises(ArtifactMismatch, match="another type"):
        writer.table("nodes.parquet", pa.table(columns), formats.NODES_TABLE)


def test_mapped_tables_are_one_batch_and_empty_arrays_open(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    texts = pa.concat_tables([pa.table({"text": [str(part)] * 10}) for part in range(3)])
    with store.writer(TARGET) as writer:
        writer.mapped_table("texts.arrow", texts, formats.TEXTS_TABLE)
        writer.array("empty.npy", np.zeros((0, 32), np.uint8))
    artifact = store.open(TARGET.ref)
    assert artifact.mapped_table("texts.arrow")["text"].num_chunks == 1
    assert artifact.mapped_table("texts.arrow")["text"].to_pylist() == texts["text"].to_pylist()
    assert artifact.array("empty.npy").shape == (0, 32)


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    stores = [make_store(tmp_path / name) for name in ("one", "two")]
    for store in stores:
        with store.writer(TARGET) as writer:
            writer.table("texts.parquet", pa.table({"text": ["a", "b"]}), formats.TEXTS_TABLE)
            writer.mapped_table("texts.arrow", pa.table({"text": ["a", "b"]}), formats.TEXTS_TABLE)
    one, two = ({f.name: f.read_bytes() for f in store.folder(TARGET.ref).iterdir()} for store in stores)
    assert one == two


def test_codes_of_many_rows_come_back_equal(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    codes = np.random.default_rng(7).integers(0, 256, (300_000, 32), np.uint8)
    with store.writer(TARGET) as writer:
        writer.array("codes.npy", codes)
    assert np.array_equal(store.verify(TARGET.ref).array("codes.npy"), codes)


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "no space left for the store .*strata gc"),
        (errno.EROFS, "cannot be written: .*check its permissions"),
        (errno.EIO, "cannot be written"),
    ],
)
def test_a_store_that_cannot_be_written_says_so(tmp_path: Path, number: int, message: str) -> None:
    assert re.search(message, str(storage_error(OSError(number, os.strerror(number)), tmp_path)))


def test_a_store_in_place_of_a_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("not a folder")
    with pytest.raises(StorageError, match="cannot be written"):
        make_store(tmp_path)


def test_the_pointer_is_replaced_by_one_rename(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    assert store.pointer("sample") is None
    for generation in ("aa", "bb"):
        store.publish("sample", Pointer(generation, "c0ffee", False, "2026-01-01T00:00:00+00:00", ("00",)))
    assert store.pointer("sample") == Pointer("bb", "c0ffee", False, "2026-01-01T00:00:00+00:00", ("00",))
    assert sorted(path.name for path in (store.root / "repos" / "sample").iterdir()) == ["current.json"]


def test_only_rows_of_an_equal_recipe_are_reused(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    assert previous(store, TARGET) is None
    fill(store, TARGET)
    later = Target(ArtifactRef("sample", "binary_codes", WHOLE, "cd" * 16), "recipe")
    found = previous(store, later)
    assert found is not None
    assert found.ref == TARGET.ref
    assert previous(store, Target(later.ref, "another recipe")) is None
    (store.folder(TARGET.ref) / "values.npy").unlink()
    assert previous(store, later) is None


def test_forgetting_a_repository_leaves_the_others(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    fill(store, TARGET)
    fill(store, Target(ArtifactRef("other", "binary_codes", WHOLE, "ab" * 16), "recipe"))
    store.forget("sample")
    assert store.repositories() == ("other",)
    assert list(store.artifacts("sample")) == []
