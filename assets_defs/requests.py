"""Which runs a repository needs now: the one answer that sensor, schedule and `strata index` give.

In: the wanted state and the heads of the store. Out: run requests. Nothing is remembered between two looks: whatever
differs is asked for until it no longer does, so a failed run is asked for again, and after three failures of the same
content in a row no more, until something changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import dagster as dg

from assets_defs.assets.discover import SOURCE_FILES
from assets_defs.jobs import BUCKET_JOB, REPOSITORY_JOB
from assets_defs.metadata import plain
from assets_defs.partitions import REPOS, partition_key, range_tags
from pipelines.errors import StrataError
from pipelines.fingerprint import fingerprint
from pipelines.plan import Plan
from pipelines.records import Metered
from resources.workspace import Workspace

_MAX_FAILURES = 3
_DATA_VERSION = "dagster/data_version"
_REPO_TAG, _PART_TAG, _WANTED_TAG = "strata/repo", "strata/part", "strata/wanted"
_FAILED = (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
_WHOLE_RANGE, _WHOLE_REPOSITORY = "range", "repository"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One run that would bring something up to date. `version` is the fingerprint of what it is to make."""

    job: str
    repo: str
    part: str  # a bucket, the range of all buckets, or the repository
    version: str
    partition: str | None
    tags: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)  # of the buckets that change: what git says of each
    warnings: tuple[str, ...] = ()  # of the listing


def needs_range(changed: int, total: int) -> bool:
    """Tell whether one run over all buckets costs less bookkeeping than one run for each changed bucket."""
    return changed * 2 > total


def wanted_runs(workspace: Workspace, repo: str) -> Iterator[Wanted]:
    """Yield the runs that a repository needs: its changed buckets, else, if it is not published, the repository's."""
    plan = workspace.plan(repo)
    changed = {bucket: plan.buckets[bucket].source for bucket in plan.changed_buckets(workspace.store)}
    at_once = bool(changed) and isinstance(workspace.encoder(repo), Metered)  # what it costs is agreed to as a whole
    if at_once or needs_range(len(changed), len(plan.buckets)):
        version = fingerprint([_version(plan, bucket) for bucket in changed])
        tags = range_tags(repo, len(plan.buckets))
        yield Wanted(BUCKET_JOB, repo, _WHOLE_RANGE, version, None, tags, changed, plan.listing.warnings)
    else:
        for bucket, source in changed.items():
            key = partition_key(repo, bucket)
            yield Wanted(
                BUCKET_JOB,
                repo,
                bucket,
                _version(plan, bucket),
                key,
                sources={bucket: source},
                warnings=plan.listing.warnings,
            )
    if not changed and not plan.published(workspace.store):
        yield Wanted(REPOSITORY_JOB, repo, _WHOLE_REPOSITORY, plan.generation, repo)


def wanted_everywhere(
    instance: dg.DagsterInstance, workspace: Workspace, report_error: Callable[[str], None]
) -> list[Wanted]:
    """Return the runs that all repositories need which have a partition already; the others get theirs first."""
    found: list[Wanted] = []
    partitions = set(instance.get_dynamic_partitions(REPOS))
    for repo in workspace.repositories:
        if repo not in partitions:
            continue
        try:
            found += wanted_runs(workspace, repo)
        except StrataError as error:  # one repository that is gone must not stop the others
            report_error(f"cannot compare {repo} with its source: {error}")
    return found


def run_request(instance: dg.DagsterInstance, wanted: Wanted) -> dg.RunRequest | None:
    """Return the request for a wanted run; None while such a run is under way, or after it failed too often."""
    tags = {_REPO_TAG: wanted.repo, _PART_TAG: wanted.part, _WANTED_TAG: wanted.version}
    earlier = instance.get_runs(dg.RunsFilter(job_name=wanted.job, tags=tags), limit=_MAX_FAILURES)
    if any(not run.is_finished for run in earlier):
        return None
    if len(earlier) == _MAX_FAILURES and all(run.status in _FAILED for run in earlier):
        return None
    attempt = instance.get_runs_count(dg.RunsFilter(job_name=wanted.job, tags=tags))
    return dg.RunRequest(
        # Dagster launches a run key once, even if that run failed; the attempt makes it another key
        run_key=f"{wanted.repo}:{wanted.part}:{wanted.version}:{attempt}",
        job_name=wanted.job,
        partition_key=wanted.partition,
        tags={**tags, **wanted.tags},
    )


def run_requests(instance: dg.DagsterInstance, wanted: Sequence[Wanted]) -> list[dg.RunRequest]:
    """Return the requests for all wanted runs that are neither under way nor given up."""
    return [request for item in wanted if (request := run_request(instance, item)) is not None]


def source_observations(wanted: Sequence[Wanted]) -> list[dg.AssetObservation]:
    """Return the versions of the source that the wanted runs start from, for Dagster's view of what is stale."""
    return [
        dg.AssetObservation(
            SOURCE_FILES,
            partition=partition_key(item.repo, bucket),
            metadata={"warnings": plain(item.warnings)} if item.warnings else {},
            tags={_DATA_VERSION: source},
        )
        for item in wanted
        for bucket, source in item.sources.items()
    ]


def _version(plan: Plan, bucket: str) -> str:
    return fingerprint([target.ref.fingerprint for target in plan.buckets[bucket].targets.values()])
