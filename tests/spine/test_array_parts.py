"""Arrays that are written block by block."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.artifacts import WHOLE, ArtifactRef, Target
from pipelines.errors import ArtifactMismatch
from pipelines.store import ArtifactStore

TARGET = Target(ArtifactRef("sample", "binary_codes", WHOLE, "0" * 32), "recipe")


def make_store(root: Path) -> ArtifactStore:
    store = ArtifactStore(root)
    store.initialise()
    return store


@pytest.mark.parametrize("cuts", [(), (0, 3, 3, 10)])
def test_blocks_give_the_bytes_of_the_whole_array(tmp_path: Path, cuts: tuple[int, ...]) -> None:
    array = np.arange(36, dtype=np.float32).reshape(12, 3)
    store = make_store(tmp_path)
    with store.writer(TARGET) as writer:
        writer.array("whole.npy", array)
        with writer.array_parts("parts.npy", array.shape, np.float32) as append:
            for block in np.split(array, cuts):
                append(block)
    artifact = store.verify(TARGET.ref)
    assert artifact.manifest["files"]["parts.npy"] == artifact.manifest["files"]["whole.npy"]


def test_a_missing_row_is_noticed_and_nothing_is_published(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with (
        pytest.raises(ArtifactMismatch, match="2 rows, not 3"),
        store.writer(TARGET) as writer,
        writer.array_parts("codes.npy", (3, 4), np.uint8) as append,
    ):
        append(np.zeros((2, 4), np.uint8))
    assert not store.holds(TARGET.ref)
