"""Diffusion over the calls of the sample repository, compared with the formula written out for dense matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pipelines.diffusion.mixing import Edges, mixing_matrix
from pipelines.diffusion.propagate import propagate
from pipelines.diffusion.stage import BucketRows, open_calls
from pipelines.formats import CHUNK_VECTORS
from pipelines.records import NAME_ONLY_STRATEGIES
from pipelines.settings import DiffusionSettings, override
from pipelines.store import ArtifactStore
from tests.serving.builds import SETTINGS, build

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def dense_weights(
    edges: Edges, row_of_node: npt.NDArray[np.int64], rows: int, settings: DiffusionSettings
) -> npt.NDArray[np.float64]:
    """Return the mixing matrix, edge by edge; the sample has no hub that its name makes."""
    assert np.bincount(edges.callees[np.isin(edges.strategy, list(NAME_ONLY_STRATEGIES))], minlength=1).max() <= 32
    weights = np.zeros((rows, rows))
    for caller, callee, confidence in zip(edges.callers, edges.callees, edges.confidence, strict=True):
        taker, giver = row_of_node[caller], row_of_node[callee]
        if confidence >= settings.min_confidence and caller != callee and min(taker, giver) >= 0:
            weights[taker, giver] = max(weights[taker, giver], confidence)
            if settings.bidirectional:
                weights[giver, taker] = max(weights[giver, taker], confidence)
    weights /= np.sqrt(np.maximum((weights > 0).sum(axis=0), 1))
    return weights / np.where(weights.any(axis=1), weights.sum(axis=1), 1)[:, None]


@pytest.mark.parametrize("bidirectional", [False, True])
def test_it_equals_dense_matrices(tmp_path: Path, bidirectional: bool) -> None:
    settings = DiffusionSettings(enabled=True, bidirectional=bidirectional)
    store = ArtifactStore(tmp_path / "store")
    plan = build(SAMPLE, store, override(SETTINGS, "diffusion", enabled=True, bidirectional=bidirectional))
    target = plan.targets["diffused_vectors"]
    rows = BucketRows.of([store.open(ref) for ref in target.inputs if ref.asset == CHUNK_VECTORS.name])
    edges, row_of_node = open_calls(store, target, rows)
    plain = np.concatenate([np.asarray(bucket, np.float64) for bucket in rows.vectors])
    weights = dense_weights(edges, row_of_node, len(rows), settings)
    moving = weights.any(axis=1)
    assert moving.sum() > 20

    expected = plain.copy()
    for _ in range(settings.iterations):
        expected[moving] = (1 - settings.alpha) * expected[moving] + settings.alpha * (weights @ expected)[moving]
    expected[moving] /= np.linalg.norm(expected[moving], axis=1, keepdims=True)

    sparse = mixing_matrix(edges, row_of_node, len(rows), settings)
    assert np.abs(sparse.toarray() - weights).max() < 1e-6
    places, mixed = propagate(sparse, rows.read, plain.shape[1], settings, tmp_path).unit_rows(0, len(rows))
    assert places.tolist() == np.flatnonzero(moving).tolist()
    assert np.abs(mixed - expected[moving]).max() < 1e-5
    stored = store.open(target.ref).array("vectors.npy")
    assert np.abs(stored - expected).max() < 1e-3  # half a step of float16
    assert stored[~moving].tolist() == plain[~moving].tolist()
