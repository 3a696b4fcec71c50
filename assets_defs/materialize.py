"""What all asset bodies share: from partition keys to stage calls, and from stage reports to a materialisation.

In: the run's partition keys and a function that builds one artifact. Out: a MaterializeResult whose data version is the
artifact's fingerprint. A run over one key has that artifact's exact version; a run over a range can give only one
version to all its keys, so it gives the fingerprint of all, and each key its own as metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa

from assets_defs.metadata import column_schema, range_metadata, report_metadata
from assets_defs.partitions import Partitions, partition_key, split_keys
from pipelines.artifacts import Target
from pipelines.fingerprint import fingerprint
from pipelines.formats import FORMATS, Format
from pipelines.plan import BucketPlan
from pipelines.report import StageReport
from resources.workspace import Workspace

#: Builds the artifact of one bucket of a repository.
BuildBucket = Callable[[str, BucketPlan], StageReport]
#: Told, before any of them is built, which artifacts of a repository will be; it may refuse by raising.
Prepare = Callable[[str, Sequence[Target]], None]
#: Builds a per-repository artifact.
BuildWhole = Callable[[str, Target], StageReport]
AssetDecorator = Callable[[Callable[..., Any]], dg.AssetsDefinition]


def bucket_asset(
    partitions: Partitions,
    artifact: Format,
    group: str,
    kinds: set[str],
    deps: Sequence[str],
    schema: pa.Schema | None = None,
) -> AssetDecorator:
    """Return the decorator of an asset with one artifact per repository and bucket."""
    decorator: AssetDecorator = dg.asset(
        name=artifact.name,
        deps=deps,
        partitions_def=partitions.repo_bucket,
        **_shared(artifact, group, kinds, schema),
    )
    return decorator


def repository_asset(
    partitions: Partitions,
    artifact: Format,
    group: str,
    kinds: set[str],
    *,
    buckets_of: Sequence[str] = (),
    wholes: Sequence[str] = (),
    schema: pa.Schema | None = None,
) -> AssetDecorator:
    """Return the decorator of a per-repository asset, made from all buckets of some assets and from whole ones."""
    over_buckets = [dg.AssetDep(name, partition_mapping=partitions.all_buckets) for name in buckets_of]
    decorator: AssetDecorator = dg.asset(
        name=artifact.name,
        deps=[*over_buckets, *wholes],
        partitions_def=partitions.repo,
        **_shared(artifact, group, kinds, schema),
    )
    return decorator


def _shared(artifact: Format, group: str, kinds: set[str], schema: pa.Schema | None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"format": f"{artifact.version}.{artifact.revision}"}
    if schema is not None:
        metadata["dagster/column_schema"] = column_schema(schema)
    return {
        "group_name": group,
        "kinds": kinds,
        "code_version": f"{artifact.version}.{artifact.revision}",
        "backfill_policy": dg.BackfillPolicy.single_run(),
        "metadata": metadata,
    }


def materialize_buckets(
    context: dg.AssetExecutionContext, workspace: Workspace, build: BuildBucket, prepare: Prepare | None = None
) -> dg.MaterializeResult[Any]:
    """Build the artifact of every bucket that the run is asked for, under the lock of its repository."""
    asset = context.asset_key.to_user_string()
    reports: list[StageReport] = []
    for repo, buckets in split_keys(required_keys(context)).items():
        with workspace.writing(repo):
            plan = workspace.plan(repo)
            wanted = {
                bucket for bucket in buckets if not workspace.store.holds(plan.buckets[bucket].targets[asset].ref)
            }
            if prepare is not None:
                prepare(repo, [plan.buckets[bucket].targets[asset] for bucket in buckets if bucket in wanted])
            workspace.progress.begin(_step(asset), len(wanted))
            for bucket in buckets:
                reports.append(build(repo, plan.buckets[bucket]))
                workspace.progress.advance(bucket in wanted)
            workspace.progress.end()
    return _result(context, workspace, reports, lambda ref: partition_key(ref.repo, ref.bucket))


def materialize_repositories(
    context: dg.AssetExecutionContext, workspace: Workspace, build: BuildWhole
) -> dg.MaterializeResult[Any]:
    """Build the per-repository artifact of every repository that the run is asked for, under its lock."""
    asset = context.asset_key.to_user_string()
    reports: list[StageReport] = []
    for repo in required_keys(context):
        with workspace.writing(repo):
            workspace.progress.begin(_step(asset), 0)
            reports.append(build(repo, workspace.repository_targets(repo)[asset]))
            workspace.progress.end()
    return _result(context, workspace, reports, lambda ref: ref.repo)


def _step(asset: str) -> str:
    """Name the work on an asset by its place among all assets."""
    return f"{asset} (step {[*FORMATS].index(asset) + 1} of {len(FORMATS)})"


def required_keys(context: dg.AssetExecutionContext) -> Sequence[str]:
    """Return the run's partition keys; a range whose ends are out of order has none, which must not be a success."""
    keys = list(context.partition_keys)
    if not keys:
        raise dg.Failure("the run names no partition: the ends of its range are out of order", allow_retries=False)
    return keys


def _result(
    context: dg.AssetExecutionContext, workspace: Workspace, reports: list[StageReport], key: Callable[[Any], str]
) -> dg.MaterializeResult[Any]:
    workspace.reports += reports
    for report in reports:
        own = report_metadata(report, workspace.store.open(report.ref).counts)
        context.add_asset_metadata(own, partition_key=key(report.ref))
    versions = [report.ref.fingerprint for report in reports]
    if len(reports) == 1:
        return dg.MaterializeResult(data_version=dg.DataVersion(versions[0]))
    return dg.MaterializeResult(data_version=dg.DataVersion(fingerprint(versions)), metadata=range_metadata(reports))
