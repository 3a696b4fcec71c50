"""The schedules: all repositories every night, off until someone turns them on."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from assets_defs.jobs import BUCKET_JOB, REPOSITORY_JOB
from assets_defs.requests import run_requests, wanted_everywhere
from resources.dagster_workspace import WorkspaceResource
from resources.workspace import Workspace

_BUCKETS_AT = "0 2 * * *"
#: Two hours later: the buckets of the night are done, and what became of them is published.
_PUBLISH_AT = "0 4 * * *"
_BUCKETS_WHAT = "Asks for what changed: single buckets, or all of a repository where more than half did."
_PUBLISH_WHAT = "Asks for what follows from the changed buckets of a repository, and publishes it."


def build_schedules(resource: WorkspaceResource) -> Sequence[dg.ScheduleDefinition]:
    """Return all schedules."""
    return [
        _schedule("nightly", BUCKET_JOB, _BUCKETS_AT, _BUCKETS_WHAT, resource),
        _schedule("nightly_publish", REPOSITORY_JOB, _PUBLISH_AT, _PUBLISH_WHAT, resource),
    ]


def _schedule(name: str, job: str, cron: str, what: str, resource: WorkspaceResource) -> dg.ScheduleDefinition:
    @dg.schedule(
        name=name,
        job_name=job,
        cron_schedule=cron,
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description=what,
    )
    def tick(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        with Workspace(resource.deployment()) as workspace:
            wanted = wanted_everywhere(context.instance, workspace, lambda message: context.log.error(message))
        requests = run_requests(context.instance, [item for item in wanted if item.job == job])
        return requests or dg.SkipReason("nothing to ask for")

    return tick
