"""Every check of `pipelines.serving.checks` as an asset check: what `strata check` runs, shown in the UI.

A check looks at the partitions of its run: one bucket, a range, one repository; run alone, without partitions, it looks
at everything that is materialised. One of severity ERROR blocks what comes after it, and takes from the artifact its
place as the one that was materialised last, so that no later run publishes it either.
"""

from collections.abc import Iterator, Mapping, Sequence

import dagster as dg

from assets_defs.partitions import RANGE_END, RANGE_START, Partitions, split_keys
from pipelines import formats
from pipelines.artifacts import WHOLE, ArtifactRef
from pipelines.identity import bucket_keys
from pipelines.records import CheckResult, Severity
from pipelines.serving.checks import CHECKS, Check, CheckScope
from resources.workspace import Workspace

_BUCKET_ASSETS = frozenset(item.name for item in formats.BUCKET_FORMATS)
_PARTITION = "dagster/partition"
#: Buckets by repository; an empty set stands for all of them.
Wanted = Mapping[str, frozenset[str]]


def artifact_checks(partitions: Partitions) -> Sequence[dg.AssetChecksDefinition]:
    """Return all checks."""
    return [_asset_check(partitions, check) for check in CHECKS]


def _asset_check(partitions: Partitions, check: Check) -> dg.AssetChecksDefinition:
    whole = check.asset not in _BUCKET_ASSETS
    needs = [
        dg.AssetDep(name, partition_mapping=partitions.all_buckets if whole and name in _BUCKET_ASSETS else None)
        for name in check.needs
    ]

    @dg.asset_check(
        name=check.name,
        asset=check.asset,
        additional_deps=needs,
        blocking=check.severity is Severity.ERROR,
        description=check.claim,
    )
    def run(context: dg.AssetCheckExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.AssetCheckResult:
        results: dict[str, CheckResult] = {}
        for repo, scope in _scopes(workspace, check, _wanted(partitions, workspace, context)):
            results[repo] = check.run(scope)
            if not results[repo].passed and check.severity is Severity.ERROR:
                for ref in scope.refs[check.asset]:
                    workspace.store.drop_head(ref)
        workspace.checks += results.values()
        return _result(check, results)

    return run


def _result(check: Check, results: Mapping[str, CheckResult]) -> dg.AssetCheckResult:
    failed = {repo: result.message for repo, result in results.items() if not result.passed}
    described = "; ".join(f"{repo}: {message}" for repo, message in failed.items())
    return dg.AssetCheckResult(
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR if check.severity is Severity.ERROR else dg.AssetCheckSeverity.WARN,
        description=described or ("ok" if results else "nothing to look at: not all that it needs is materialised"),
        metadata={repo: result.message for repo, result in results.items()},
    )


def _scopes(workspace: Workspace, check: Check, wanted: Wanted) -> Iterator[tuple[str, CheckScope]]:
    """Yield, for each repository concerned, the materialised artifacts that the check looks at, if all are there."""
    for repo, buckets in wanted.items():
        # heads of buckets that are no more, after their number was changed, are nobody's
        present = {*bucket_keys(workspace.settings(repo).index.buckets), WHOLE}
        heads = [ref for ref in workspace.store.heads(repo) if ref.bucket in present]
        refs = {name: _select(heads, name, buckets) for name in (check.asset, *check.needs)}
        if all(refs.values()):
            yield repo, CheckScope(workspace.store, refs, workspace.settings(repo))


def _select(heads: Sequence[ArtifactRef], asset: str, buckets: frozenset[str]) -> list[ArtifactRef]:
    """Return an asset's heads in bucket order; no buckets named means all."""
    return [ref for ref in heads if ref.asset == asset and (not buckets or ref.bucket in buckets | {WHOLE})]


def _wanted(partitions: Partitions, workspace: Workspace, context: dg.AssetCheckExecutionContext) -> Wanted:
    """Return the repositories and buckets that a run is about; without partitions, all repositories and all buckets."""
    tags = context.run.tags
    start = tags.get(RANGE_START, tags.get(_PARTITION))
    if start is None:
        return {repo: frozenset() for repo in workspace.repositories}
    kind = partitions.repo_bucket if "|" in start else partitions.repo
    span = dg.PartitionKeyRange(start, tags.get(RANGE_END, start))
    with dg.partition_loading_context(dynamic_partitions_store=context.instance):
        keys = kind.get_partition_keys_in_range(span)
    if kind is partitions.repo:
        return {repo: frozenset() for repo in keys}
    return {repo: frozenset(buckets) for repo, buckets in split_keys(keys).items()}
