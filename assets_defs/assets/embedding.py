"""chunk_vectors: what a chunk means."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from assets_defs.materialize import bucket_asset, materialize_buckets
from assets_defs.partitions import Partitions
from pipelines.embedding import build_vectors
from pipelines.formats import CHUNK_VECTORS, CHUNKS
from pipelines.plan import BucketPlan
from pipelines.report import StageReport
from resources.workspace import Workspace


def chunk_vectors(partitions: Partitions) -> dg.AssetsDefinition:
    """Return the asset of the vectors."""

    @bucket_asset(partitions, CHUNK_VECTORS, "embedding", {"numpy"}, [CHUNKS.name])
    def build(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.MaterializeResult[Any]:
        """One vector per chunk, row by row; a text that was embedded before keeps its vector."""

        def make(repo: str, bucket: BucketPlan) -> StageReport:
            target, encoder = bucket.targets[CHUNK_VECTORS.name], workspace.encoder(repo)
            return build_vectors(workspace.store, target, encoder, workspace.progress)

        return materialize_buckets(context, workspace, make, workspace.require_agreement)

    return build


def embedding_assets(partitions: Partitions) -> Sequence[dg.AssetsDefinition]:
    """Return the assets of this stage."""
    return [chunk_vectors(partitions)]
