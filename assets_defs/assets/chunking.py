"""chunks, lexical_segments: where one idea ends, and which words it holds."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from assets_defs.materialize import bucket_asset, materialize_buckets
from assets_defs.partitions import Partitions
from pipelines.chunking import build_chunks, build_segment
from pipelines.formats import CHUNKS, CHUNKS_TABLE, LEXICAL_SEGMENTS, SYMBOLS
from pipelines.plan import BucketPlan
from pipelines.report import StageReport
from resources.workspace import Workspace

_GROUP = "chunking"


def chunks(partitions: Partitions) -> dg.AssetsDefinition:
    """Return the asset of the rows that are searched."""

    @bucket_asset(partitions, CHUNKS, _GROUP, {"parquet"}, [SYMBOLS.name], CHUNKS_TABLE)
    def build(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.MaterializeResult[Any]:
        """Functions, types, sections and windows with their text; what holds a secret is quarantined."""

        def make(repo: str, bucket: BucketPlan) -> StageReport:
            target, settings = bucket.targets[CHUNKS.name], workspace.settings(repo).chunking
            return build_chunks(workspace.store, target, workspace.tree(repo), settings, workspace.progress)

        return materialize_buckets(context, workspace, make)

    return build


def lexical_segments(partitions: Partitions) -> dg.AssetsDefinition:
    """Return the asset of the postings."""

    @bucket_asset(partitions, LEXICAL_SEGMENTS, _GROUP, {"numpy"}, [CHUNKS.name])
    def build(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.MaterializeResult[Any]:
        """BM25 postings of the bucket's chunks."""

        def make(_repo: str, bucket: BucketPlan) -> StageReport:
            return build_segment(workspace.store, bucket.targets[LEXICAL_SEGMENTS.name], workspace.progress)

        return materialize_buckets(context, workspace, make)

    return build


def chunking_assets(partitions: Partitions) -> Sequence[dg.AssetsDefinition]:
    """Return the assets of this stage."""
    return [chunks(partitions), lexical_segments(partitions)]
