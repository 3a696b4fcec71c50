"""The Dagster side of `strata index`: the runs of one repository, in this process, recorded in the store's instance.

Only this module's importers load dagster; `indexing` imports it once it is known that something has to be built.
"""

from __future__ import annotations

import dagster as dg
from dagster._core.errors import DagsterAssetCheckFailedError

from assets_defs.definitions import build_definitions
from assets_defs.instance import open_instance
from assets_defs.partitions import REPOS
from assets_defs.pruning import prune_runs
from assets_defs.requests import Wanted, source_observations, wanted_runs
from assets_defs.signals import own_signals
from resources.workspace import Workspace

#: An error is told once, by the command line; Dagster's own console lines would repeat it with its whole stack.
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
#: The buckets first, then what follows from all of them.
_PASSES = 2


def build_repository(workspace: Workspace, repo: str) -> bool:
    """Run what a repository needs and tell whether it was all run; False: a check that blocks publication failed.

    :raises StrataError: whatever a stage raises. :raises KeyboardInterrupt: on SIGINT or SIGTERM.
    """
    with open_instance(workspace.deployment) as instance, own_signals():
        if not instance.has_dynamic_partition(REPOS, repo):
            instance.add_dynamic_partitions(REPOS, [repo])
        definitions = build_definitions(workspace.deployment)
        try:
            for _ in range(_PASSES):
                wanted = list(wanted_runs(workspace, repo))
                for observation in source_observations(wanted):
                    instance.report_runless_asset_event(observation)
                for item in wanted:
                    _execute(definitions, instance, workspace, item)
        except DagsterAssetCheckFailedError:
            return False
        finally:
            prune_runs(instance, workspace.settings(repo).artifacts.keep_runs)
        return True


def _execute(definitions: dg.Definitions, instance: dg.DagsterInstance, workspace: Workspace, item: Wanted) -> None:
    job = definitions.resolve_job_def(item.job)
    share = f" over {len(item.sources)} buckets" if item.sources else ""
    workspace.progress.begin(f"{item.job}{share}", 0)
    job.execute_in_process(
        instance=instance,
        partition_key=item.partition,
        tags=dict(item.tags),
        run_config=_QUIET,
        resources={"workspace": workspace},
    )
    workspace.progress.end()
