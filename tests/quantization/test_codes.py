"""The asset binary_codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pipelines.artifacts import WHOLE, Artifact, ArtifactRef, Target
from pipelines.errors import ArtifactMismatch
from pipelines.progress import Silent
from pipelines.quantization import BitMap, build_codes, hamming_pool
from pipelines.quantization import codes as stage
from pipelines.quantization.rescoring import to_int8
from pipelines.quantization.signs import sign_bits
from pipelines.report import StageReport
from pipelines.settings import QuantizationSettings
from pipelines.store import ArtifactStore

REPO = "sample"
SIZES = (5, 0, 7)
SETTINGS = QuantizationSettings()


def make_vectors(width: int) -> npt.NDArray[np.float16]:
    vectors = np.random.default_rng(width).standard_normal((sum(SIZES), width)).astype(np.float16)
    vectors[2] = 0
    vectors[6, 1] = np.nan
    vectors[7, 1] = np.inf
    vectors[9] = vectors[8]
    return vectors


def quantize(
    root: Path,
    vectors: npt.NDArray[np.float16],
    *,
    digests: tuple[str, ...] = ("d", "d", "d"),
    diffused: npt.NDArray[np.float16] | None = None,
    invalid: tuple[int, ...] = (),
    settings: QuantizationSettings = SETTINGS,
) -> tuple[Artifact, StageReport]:
    store = ArtifactStore(root)
    store.initialise()
    inputs: list[ArtifactRef] = []
    valid = ~np.isin(np.arange(len(vectors)), invalid)
    if diffused is not None:
        inputs.append(ArtifactRef(REPO, "diffused_vectors", WHOLE, "0" * 32))
        with store.writer(Target(inputs[0], "recipe")) as writer:
            writer.array("vectors.npy", diffused)
    start = 0
    for number, (size, digest) in enumerate(zip(SIZES, digests, strict=True)):
        ref = ArtifactRef(REPO, "chunk_vectors", f"b{number:02x}", "0" * 32)
        with store.writer(Target(ref, "recipe")) as writer:
            writer.array("vectors.npy", vectors[start : start + size])
            writer.array("valid.npy", valid[start : start + size])
            writer.facts["encoder"] = {"name": "vocab", "digest": digest, "dimensions": vectors.shape[1]}
        inputs.append(ref)
        start += size
    target = Target(ArtifactRef(REPO, "binary_codes", WHOLE, "1" * 32), "recipe", tuple(inputs))
    report = build_codes(store, target, settings, Silent())
    return store.verify(target.ref), report


@pytest.mark.parametrize("width", [8, 64, 104, 256])
def test_rows_are_those_of_the_buckets_in_order(tmp_path: Path, width: int) -> None:
    vectors = make_vectors(width)
    artifact, report = quantize(tmp_path, vectors, invalid=(11,))
    usable = [row for row in range(12) if row not in (2, 6, 7, 11)]
    codes, rescoring = artifact.array("codes.npy"), artifact.array("rescoring.npy")
    scales, valid = artifact.array("scales.npy"), artifact.array("valid.npy")
    assert np.flatnonzero(valid).tolist() == usable
    assert (codes.shape, rescoring.shape, scales.shape) == ((12, width // 8), (12, width), (12,))
    assert [str(item.dtype) for item in (codes, rescoring, scales)] == ["uint8", "int8", "float32"]
    expected, expected_scales = to_int8(vectors[usable].astype(np.float32))
    assert codes[usable].tolist() == sign_bits(vectors[usable]).tolist()
    assert rescoring[usable].tolist() == expected.tolist()
    assert scales[usable].tolist() == expected_scales.tolist()
    for rows in (codes, rescoring, scales):
        assert not rows[~valid].any()
    assert report.skipped == {"invalid_vector": 4}
    encoder = {"name": "vocab", "digest": "d", "dimensions": width}
    assert artifact.facts == {"encoder": encoder, "dimensions": width, "bits": width, "seed": 0}


@pytest.mark.parametrize("bits", [64, 256, 384])
def test_bits_are_as_many_as_are_asked_for_and_the_rest_stays(tmp_path: Path, bits: int) -> None:
    vectors = make_vectors(128)
    plain, _ = quantize(tmp_path / "plain", vectors)
    artifact, report = quantize(tmp_path / "asked", vectors, settings=QuantizationSettings(bits, seed=7))
    valid = artifact.array("valid.npy")
    expected = BitMap(128, bits, 7).codes(vectors[valid])
    assert artifact.array("codes.npy").shape == (12, bits // 8)
    assert artifact.array("codes.npy")[valid].tolist() == expected.tolist()
    assert not artifact.array("codes.npy")[~valid].any()
    for name in ("rescoring.npy", "scales.npy", "valid.npy"):
        assert artifact.manifest["files"][name] == plain.manifest["files"][name]
    assert (artifact.facts["dimensions"], artifact.facts["bits"], artifact.facts["seed"]) == (128, bits, 7)
    assert set(report.extra["bit_balance"]) == {"min", "mean", "max"}


def test_the_report_tells_how_well_the_bits_are_used(tmp_path: Path) -> None:
    vectors = np.full((12, 8), -1, np.float16)
    vectors[:3, 0] = 1
    vectors[:, 1] = 1
    artifact, report = quantize(tmp_path, vectors)
    assert report.extra["bit_balance"] == {"min": 0.0, "mean": round((0.25 + 1) / 8, 6), "max": 1.0}
    assert report.extra["duplicate_share"] == round(10 / 12, 6)
    assert artifact.counts["bit_balance"] == report.extra["bit_balance"]
    assert (artifact.counts["rows"], artifact.counts["invalid"]) == (12, 0)


def test_an_invalid_row_never_matches(tmp_path: Path) -> None:
    artifact, _ = quantize(tmp_path, make_vectors(64))
    codes, valid = artifact.array("codes.npy"), artifact.array("valid.npy")
    rows, _ = hamming_pool(codes, np.zeros(8, np.uint8), 12, valid=valid)
    assert sorted(rows.tolist()) == [0, 1, 3, 4, 5, 8, 9, 10, 11]


def test_mixed_vectors_take_the_place_of_the_plain_ones(tmp_path: Path) -> None:
    vectors = make_vectors(64)
    artifact, _ = quantize(tmp_path, vectors, diffused=-vectors)
    plain, _ = quantize(tmp_path / "plain", -vectors)
    assert artifact.manifest["files"] == plain.manifest["files"]


def test_the_artifact_does_not_depend_on_the_block_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = quantize(tmp_path / "whole", make_vectors(64))
    monkeypatch.setattr(stage, "_BLOCK_ROWS", 2)
    parts, _ = quantize(tmp_path / "parts", make_vectors(64))
    assert whole.manifest == parts.manifest


def test_two_encoders_are_never_mixed(tmp_path: Path) -> None:
    with pytest.raises(ArtifactMismatch, match="made by encoder"):
        quantize(tmp_path, make_vectors(64), digests=("d", "d", "e"))


def test_mixed_vectors_of_another_row_count_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactMismatch, match="diffused_vectors"):
        quantize(tmp_path, make_vectors(64), diffused=make_vectors(64)[1:])


def test_a_repository_without_chunks_has_empty_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.quantization.test_codes.SIZES", (0, 0, 0))
    artifact, report = quantize(tmp_path, np.empty((0, 64), np.float16))
    counts: dict[str, Any] = dict(artifact.counts)
    assert artifact.array("codes.npy").shape == (0, 8)
    assert artifact.array("rescoring.npy").shape == (0, 64)
    assert (report.rows, counts["duplicate_share"]) == (0, 0.0)
