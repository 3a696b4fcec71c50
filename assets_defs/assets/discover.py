"""source_files, symbols, graph_snapshot: which files, which symbols, who calls whom."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from assets_defs.beta import beta_features
from assets_defs.materialize import bucket_asset, materialize_buckets, materialize_repositories, repository_asset
from assets_defs.partitions import Partitions, partition_key
from pipelines.artifacts import Target
from pipelines.discover import build_graph, build_symbols
from pipelines.errors import StrataError
from pipelines.formats import GRAPH_SNAPSHOT, SYMBOLS, SYMBOLS_TABLE
from pipelines.plan import BucketPlan
from pipelines.report import StageReport
from resources.workspace import Workspace

SOURCE_FILES = "source_files"
_GROUP = "discover"


def source_files(partitions: Partitions) -> dg.SourceAsset:
    """Return the asset of what git says of the files; observing it lists them and reads none."""

    @dg.observable_source_asset(
        name=SOURCE_FILES,
        partitions_def=partitions.repo_bucket,
        group_name=_GROUP,
        description="The files of each bucket as git names them: path, blob id, language, scope, why one is skipped.",
        tags={"dagster/kind/git": ""},
    )
    def observe(context: dg.OpExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.DataVersionsByPartition:
        versions: dict[str, str] = {}
        for repo in workspace.repositories:
            try:
                plan = workspace.plan(repo)
            except StrataError as error:  # one repository that is gone must not hide what changed in the others
                context.log.error(f"cannot list {repo}: {error}")
                continue
            for warning in plan.listing.warnings:
                context.log.warning(f"{repo}: {warning}")
            versions |= {partition_key(repo, key): bucket.source for key, bucket in plan.buckets.items()}
        with beta_features():
            return dg.DataVersionsByPartition(versions)

    return observe


def symbols(partitions: Partitions) -> dg.AssetsDefinition:
    """Return the asset of definitions, calls and imports."""

    @bucket_asset(partitions, SYMBOLS, _GROUP, {"parquet"}, [SOURCE_FILES], SYMBOLS_TABLE)
    def build(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.MaterializeResult[Any]:
        """Functions, methods and types with spans, signature and doc; calls and imports; spans that hold a secret."""

        def make(repo: str, bucket: BucketPlan) -> StageReport:
            target, tree, pool = bucket.targets[SYMBOLS.name], workspace.tree(repo), workspace.pool(repo)
            return build_symbols(workspace.store, target, bucket.files, tree, pool, workspace.progress)

        return materialize_buckets(context, workspace, make)

    return build


def graph_snapshot(partitions: Partitions) -> dg.AssetsDefinition:
    """Return the asset of the resolved call graph."""

    @repository_asset(partitions, GRAPH_SNAPSHOT, _GROUP, {"parquet", "numpy"}, buckets_of=[SYMBOLS.name])
    def build(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.MaterializeResult[Any]:
        """Who calls whom over the whole repository, with confidence; PageRank, components and blast radius."""

        def make(_repo: str, target: Target) -> StageReport:
            return build_graph(workspace.store, target, workspace.progress)

        return materialize_repositories(context, workspace, make)

    return build


def discover_assets(partitions: Partitions) -> Sequence[dg.AssetsDefinition | dg.SourceAsset]:
    """Return the assets of this stage."""
    return [source_files(partitions), symbols(partitions), graph_snapshot(partitions)]
