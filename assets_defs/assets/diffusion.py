"""diffused_vectors: what a chunk's neighbours in the call graph add."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from assets_defs.materialize import materialize_repositories, repository_asset
from assets_defs.partitions import Partitions
from pipelines.artifacts import Target
from pipelines.diffusion import build_diffused
from pipelines.formats import CHUNK_VECTORS, CHUNKS, DIFFUSED_VECTORS, GRAPH_SNAPSHOT
from pipelines.report import StageReport
from resources.workspace import Workspace


def diffused_vectors(partitions: Partitions) -> dg.AssetsDefinition:
    """Return the asset of the mixed vectors."""

    @repository_asset(
        partitions,
        DIFFUSED_VECTORS,
        "diffusion",
        {"numpy"},
        buckets_of=[CHUNKS.name, CHUNK_VECTORS.name],
        wholes=[GRAPH_SNAPSHOT.name],
    )
    def build(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.MaterializeResult[Any]:
        """Vectors mixed over confident calls; without rows where diffusion is off."""

        def make(repo: str, target: Target) -> StageReport:
            settings = workspace.settings(repo).diffusion
            return build_diffused(workspace.store, target, settings, workspace.progress)

        return materialize_repositories(context, workspace, make)

    return build


def diffusion_assets(partitions: Partitions) -> Sequence[dg.AssetsDefinition]:
    """Return the assets of this stage."""
    return [diffused_vectors(partitions)]
