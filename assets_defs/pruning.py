"""How many run records stay: the newest, and every one that Dagster's view of a partition rests on.

Deleting a run deletes its events, and with the last materialisation of a partition its status would go too.
"""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
from dagster import DagsterEventType

from pipelines.serving.checks import CHECKS

#: Records above the limit are left until there are this many, so that most runs of `strata index` need not look.
_SLACK = 20
#: Event records that are fetched at a time.
_PAGE = 500


def prune_runs(instance: dg.DagsterInstance, keep: int, *, slack: int = _SLACK, dry_run: bool = False) -> int:
    """Delete old run records beyond `keep` and return how many; none before there are `slack` too many."""
    if instance.get_runs_count() <= keep + slack:
        return 0
    needed = set(_needed_runs(instance))
    old = [run for run in instance.get_runs()[keep:] if run.is_finished and run.run_id not in needed]
    if not dry_run:
        for run in old:
            instance.delete_run(run.run_id)
    return len(old)


def _needed_runs(instance: dg.DagsterInstance) -> Iterator[str]:
    """Yield the runs that hold the last event of some partition, or the last result of some check."""
    storage = instance.event_log_storage
    kinds = {
        DagsterEventType.ASSET_MATERIALIZATION: instance.fetch_materializations,
        DagsterEventType.ASSET_OBSERVATION: instance.fetch_observations,
    }
    for key in instance.all_asset_keys():
        for kind, fetch in kinds.items():
            ids = list(storage.get_latest_storage_id_by_partition(key, kind).values())
            for start in range(0, len(ids), _PAGE):
                wanted = dg.AssetRecordsFilter(asset_key=key, storage_ids=ids[start : start + _PAGE])
                for record in fetch(wanted, limit=_PAGE).records:
                    yield record.event_log_entry.run_id
    checks = [dg.AssetCheckKey(dg.AssetKey(check.asset), check.name) for check in CHECKS]
    for result in storage.get_latest_asset_check_execution_by_key(checks).values():
        yield result.run_id
