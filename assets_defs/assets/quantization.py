"""binary_codes: how small a vector can be."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from assets_defs.materialize import materialize_repositories, repository_asset
from assets_defs.partitions import Partitions
from pipelines.artifacts import Target
from pipelines.formats import BINARY_CODES, CHUNK_VECTORS, DIFFUSED_VECTORS
from pipelines.quantization import build_codes
from pipelines.report import StageReport
from resources.workspace import Workspace


def binary_codes(partitions: Partitions) -> dg.AssetsDefinition:
    """Return the asset of the packed codes."""

    @repository_asset(
        partitions,
        BINARY_CODES,
        "quantization",
        {"numpy"},
        buckets_of=[CHUNK_VECTORS.name],
        wholes=[DIFFUSED_VECTORS.name],
    )
    def build(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.MaterializeResult[Any]:
        """Sign bits for the first look, int8 rows and scales for the second, a mask of rows that have a vector."""

        def make(repo: str, target: Target) -> StageReport:
            settings = workspace.settings(repo).quantization
            return build_codes(workspace.store, target, settings, workspace.progress)

        return materialize_repositories(context, workspace, make)

    return build


def quantization_assets(partitions: Partitions) -> Sequence[dg.AssetsDefinition]:
    """Return the assets of this stage."""
    return [binary_codes(partitions)]
