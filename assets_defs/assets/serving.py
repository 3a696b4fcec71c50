"""search_rows, search_index: what a searcher reads, and the swap that makes it the one that is served."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg

from assets_defs.materialize import materialize_repositories, repository_asset, required_keys
from assets_defs.partitions import Partitions
from pipelines.artifacts import Target
from pipelines.fingerprint import fingerprint
from pipelines.formats import CHUNKS, EVAL_RUNS, GENERATION, GRAPH_SNAPSHOT, ROWS_TABLE, SEARCH_ROWS, SYMBOLS
from pipelines.report import StageReport
from pipelines.serving.rows import build_search_rows
from pipelines.store import Pointer
from resources.workspace import Workspace

SEARCH_INDEX = "search_index"
_GROUP = "serving"


def search_rows(partitions: Partitions) -> dg.AssetsDefinition:
    """Return the asset of the memory-mapped rows."""

    @repository_asset(
        partitions,
        SEARCH_ROWS,
        _GROUP,
        {"arrow", "numpy"},
        buckets_of=[CHUNKS.name, SYMBOLS.name],
        wholes=[GRAPH_SNAPSHOT.name],
        schema=ROWS_TABLE,
    )
    def build(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.MaterializeResult[Any]:
        """Chunks of all buckets in one order, with structural ranks and texts, ready to be mapped."""

        def make(_repo: str, target: Target) -> StageReport:
            return build_search_rows(workspace.store, target, workspace.progress)

        return materialize_repositories(context, workspace, make)

    return build


def search_index(partitions: Partitions) -> dg.AssetsDefinition:
    """Return the asset of the published generation."""

    @dg.asset(
        name=SEARCH_INDEX,
        group_name=_GROUP,
        kinds={"json"},
        deps=[EVAL_RUNS.name],
        partitions_def=partitions.repo,
        code_version=f"{GENERATION.version}.{GENERATION.revision}",
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def publish(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.MaterializeResult[Any]:
        """One immutable generation, published by an atomic swap of the pointer that readers follow."""
        keys, generations = required_keys(context), []
        for repo in keys:
            with workspace.writing(repo):
                pointer = workspace.publish(repo)
            generations.append(pointer.generation)
            context.add_asset_metadata(_pointer_metadata(pointer, workspace.store.root), partition_key=repo)
        version = generations[0] if len(generations) == 1 else fingerprint(generations)
        return dg.MaterializeResult(data_version=dg.DataVersion(version))

    return publish


def _pointer_metadata(pointer: Pointer, store: Path) -> dict[str, Any]:
    published_at = datetime.fromisoformat(pointer.published_at)
    return {
        "generation": pointer.generation,
        "commit": pointer.commit,
        "dirty": pointer.dirty,
        "published at": dg.MetadataValue.timestamp(published_at),
        "store": dg.MetadataValue.path(str(store)),
    }


def serving_assets(partitions: Partitions) -> Sequence[dg.AssetsDefinition]:
    """Return the assets of this stage."""
    return [search_rows(partitions), search_index(partitions)]
