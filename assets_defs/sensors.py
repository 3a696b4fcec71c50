"""The sensors: one keeps the partitions in step with the registry, one asks for what changed."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from assets_defs.jobs import BUCKET_JOB, REPOSITORY_JOB, Job
from assets_defs.partitions import REPOS, Partitions
from assets_defs.requests import run_request, source_observations, wanted_everywhere
from resources.dagster_workspace import WorkspaceResource
from resources.workspace import Workspace

_REGISTER_EVERY_S = 30
_LOOK_EVERY_S = 60


def build_sensors(
    partitions: Partitions, resource: WorkspaceResource, jobs: Sequence[Job]
) -> Sequence[dg.SensorDefinition]:
    """Return all sensors."""
    return [_register_repositories(partitions, resource), _changed_buckets(resource, jobs)]


def _register_repositories(partitions: Partitions, resource: WorkspaceResource) -> dg.SensorDefinition:
    @dg.sensor(
        name="register_repositories",
        minimum_interval_seconds=_REGISTER_EVERY_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Gives every repository of the registry a partition, and takes it from those that left.",
    )
    def register(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        with Workspace(resource.deployment()) as workspace:
            wanted = set(workspace.repositories)
        present = set(context.instance.get_dynamic_partitions(REPOS))
        if wanted == present:
            return dg.SkipReason(f"all {len(wanted)} repositories have their partition")
        requests: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = []
        if wanted - present:
            requests.append(partitions.repo.build_add_request(sorted(wanted - present)))
        if present - wanted:
            requests.append(partitions.repo.build_delete_request(sorted(present - wanted)))
        return dg.SensorResult(dynamic_partitions_requests=requests)

    return register


def _changed_buckets(resource: WorkspaceResource, jobs: Sequence[Job]) -> dg.SensorDefinition:
    @dg.sensor(
        name="changed_buckets",
        jobs=[job for job in jobs if job.name in (BUCKET_JOB, REPOSITORY_JOB)],
        minimum_interval_seconds=_LOOK_EVERY_S,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description="Compares what is wanted with what was materialised last, and asks for the difference until "
        "there is none: the changed buckets, then what follows from them, which is published.",
    )
    def look(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        with Workspace(resource.deployment()) as workspace:
            wanted = wanted_everywhere(context.instance, workspace, lambda message: context.log.error(message))
        asked = [(item, run) for item in wanted if (run := run_request(context.instance, item)) is not None]
        if not asked:
            return dg.SkipReason("nothing to ask for")
        return dg.SensorResult(
            run_requests=[run for _, run in asked], asset_events=source_observations([item for item, _ in asked])
        )

    return look
