from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets_defs.assets.discover import SOURCE_FILES
from assets_defs.definitions import build_definitions
from assets_defs.instance import open_instance
from assets_defs.partitions import REPOS, partition_key, range_tags, split_keys
from assets_defs.requests import needs_range
from assets_defs.runs import build_repository
from pipelines.identity import bucket_of
from resources.repositories import Repository
from resources.workspace import Workspace
from tests.assets_defs.builders import make_repository, workspace_of


@pytest.fixture
def instance(indexed: Path) -> Iterator[dg.DagsterInstance]:
    with open_instance(workspace_of(indexed).deployment) as instance:
        yield instance


def definitions_of(root: Path) -> dg.Definitions:
    return build_definitions(workspace_of(root).deployment)


def tick(root: Path, name: str, instance: dg.DagsterInstance) -> Any:
    definitions = definitions_of(root).get_repository_def()
    context = dg.build_sensor_context(instance_ref=instance.get_ref(), repository_def=definitions)
    return definitions.get_sensor_def(name).evaluate_tick(context)


def edit(root: Path, name: str = "pricing.py") -> str:
    (root / name).write_text("x = 1\n")
    return partition_key("parcels", bucket_of(name, 4))


def record_run(instance: dg.DagsterInstance, request: Any, status: dg.DagsterRunStatus) -> None:
    """Record what became of a requested run, as the daemon would."""
    run = dg.DagsterRun(request.job_name, run_id=dg.DagsterRun("x").run_id, tags=dict(request.tags), status=status)
    instance.run_storage.add_run(run)


def test_repositories_get_their_partition_and_lose_it(indexed: Path, instance: dg.DagsterInstance) -> None:
    assert not tick(indexed, "register_repositories", instance).dynamic_partitions_requests
    instance.delete_dynamic_partition(REPOS, "parcels")
    instance.add_dynamic_partitions(REPOS, ["gone"])
    add, delete = tick(indexed, "register_repositories", instance).dynamic_partitions_requests
    assert (add.partition_keys, delete.partition_keys) == (["parcels"], ["gone"])


def test_nothing_is_asked_for_where_nothing_changed(indexed: Path, instance: dg.DagsterInstance) -> None:
    assert tick(indexed, "changed_buckets", instance).run_requests == []


def test_a_changed_bucket_is_asked_for(indexed: Path, instance: dg.DagsterInstance) -> None:
    key = edit(indexed)
    asked = tick(indexed, "changed_buckets", instance)
    (request,) = asked.run_requests
    assert (request.job_name, request.partition_key) == ("bucket_job", key)
    (observed,) = asked.asset_events  # so that Dagster, too, knows that the bucket is stale
    assert (observed.asset_key.to_user_string(), observed.partition) == ("source_files", key)


def test_a_repository_without_partition_waits_for_it(indexed: Path, instance: dg.DagsterInstance) -> None:
    edit(indexed)
    instance.delete_dynamic_partition(REPOS, "parcels")
    assert tick(indexed, "changed_buckets", instance).run_requests == []


def test_a_cold_repository_is_one_range_run(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    root = make_repository(tmp_path / "cold" / "parcels")
    workspace = workspace_with_store(root)
    workspace.remember(workspace.repositories["parcels"])
    (request,) = tick(root, "changed_buckets", instance).run_requests
    assert request.partition_key is None
    assert range_tags("parcels", 4).items() <= request.tags.items()


def workspace_with_store(root: Path) -> Workspace:
    workspace = workspace_of(root)
    workspace.store.initialise()
    workspace.take(Repository("parcels", root.resolve()))
    return workspace


def test_a_run_under_way_is_not_asked_for_twice(indexed: Path, instance: dg.DagsterInstance) -> None:
    edit(indexed)
    (request,) = tick(indexed, "changed_buckets", instance).run_requests
    record_run(instance, request, dg.DagsterRunStatus.STARTED)
    assert tick(indexed, "changed_buckets", instance).run_requests == []


def test_a_failed_run_is_asked_for_again_under_another_key_and_then_given_up(
    indexed: Path, instance: dg.DagsterInstance
) -> None:
    edit(indexed)
    keys = []
    while requests := tick(indexed, "changed_buckets", instance).run_requests:
        keys.append(requests[0].run_key)
        record_run(instance, requests[0], dg.DagsterRunStatus.FAILURE)
    assert len(keys) == len(set(keys)) == 3
    edit(indexed, "stock.py")  # other content is another matter
    assert len(tick(indexed, "changed_buckets", instance).run_requests) == 1


def test_current_buckets_that_are_not_published_ask_for_the_repository(
    indexed: Path, instance: dg.DagsterInstance
) -> None:
    key = edit(indexed)
    with workspace_of(indexed) as workspace:
        job = definitions_of(indexed).resolve_job_def("bucket_job")
        job.execute_in_process(instance=instance, partition_key=key, resources={"workspace": workspace})
    (request,) = tick(indexed, "changed_buckets", instance).run_requests
    assert (request.job_name, request.partition_key) == ("repository_job", "parcels")


def test_a_repository_that_is_gone_does_not_stop_the_sensor(indexed: Path, instance: dg.DagsterInstance) -> None:
    store = workspace_of(indexed).deployment
    definitions = build_definitions(store)
    (indexed / ".git").rename(indexed / ".nogit")
    (indexed / ".git").write_text("gitdir: nowhere\n")
    sensor = definitions.get_repository_def().get_sensor_def("changed_buckets")
    assert sensor.evaluate_tick(dg.build_sensor_context(instance=instance)).run_requests == []


@pytest.mark.parametrize(("schedule", "job"), [("nightly", "bucket_job"), ("nightly_publish", "repository_job")])
def test_a_schedule_asks_for_its_job_alone(
    indexed: Path, instance: dg.DagsterInstance, schedule: str, job: str
) -> None:
    key = edit(indexed)
    definitions = definitions_of(indexed).get_repository_def()
    context = dg.build_schedule_context(instance_ref=instance.get_ref(), repository_def=definitions)
    requests = definitions.get_schedule_def(schedule).evaluate_tick(context).run_requests or []
    expected = [key] if job == "bucket_job" else []
    assert [request.partition_key for request in requests] == expected


def test_more_than_half_is_a_range() -> None:
    assert not needs_range(8, 16)
    assert needs_range(9, 16)
    assert needs_range(1, 1)


def test_partition_keys_split_back() -> None:
    keys = [partition_key("a.b", "b03"), partition_key("c", "b00"), partition_key("a.b", "b0f")]
    assert split_keys(keys) == {"a.b": ["b03", "b0f"], "c": ["b00"]}


def test_a_range_with_its_ends_out_of_order_is_no_success(indexed: Path, instance: dg.DagsterInstance) -> None:
    edit(indexed)
    tags = range_tags("parcels", 4)
    start, end = tags.keys()
    job = definitions_of(indexed).resolve_job_def("bucket_job")
    with workspace_of(indexed) as workspace, pytest.raises(dg.Failure, match="out of order"):
        job.execute_in_process(
            instance=instance, tags={start: tags[end], end: tags[start]}, resources={"workspace": workspace}
        )


def test_observing_gives_every_bucket_its_version(indexed: Path, instance: dg.DagsterInstance) -> None:
    job = definitions_of(indexed).resolve_implicit_global_asset_job_def()
    with workspace_of(indexed) as workspace:
        plan = workspace.plan("parcels")
    result = job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey(SOURCE_FILES)])
    seen = [event.asset_observation_data.asset_observation for event in result.get_asset_observation_events()]
    versions = {item.partition: item.tags["dagster/data_version"] for item in seen}
    assert versions == {partition_key("parcels", key): bucket.source for key, bucket in plan.buckets.items()}


def test_checks_run_alone_look_at_everything(indexed: Path, instance: dg.DagsterInstance) -> None:
    definitions = definitions_of(indexed)
    checks = dg.define_asset_job("checks", selection=dg.AssetSelection.all_asset_checks())
    alone = dg.Definitions(
        assets=definitions.assets, asset_checks=definitions.asset_checks, jobs=[checks], resources=definitions.resources
    )
    with workspace_of(indexed) as workspace:
        job = alone.resolve_job_def("checks")
        result = job.execute_in_process(instance=instance, resources={"workspace": workspace})
        assert len(workspace.checks) == len(result.get_asset_check_evaluations())
    assert all(evaluation.passed for evaluation in result.get_asset_check_evaluations())


def test_a_run_of_many_keys_gives_each_its_own_fingerprint_as_metadata(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "parcels")
    with workspace_with_store(root) as workspace:
        assert build_repository(workspace, "parcels")
        with open_instance(workspace.deployment) as instance:
            for ref in workspace.store.heads("parcels"):
                if ref.asset != "chunks":
                    continue
                records = instance.fetch_materializations(
                    dg.AssetRecordsFilter(
                        asset_key=dg.AssetKey("chunks"), asset_partitions=[partition_key("parcels", ref.bucket)]
                    ),
                    limit=1,
                ).records
                event = records[0].asset_materialization
                assert event is not None
                assert event.metadata["fingerprint"].value == ref.fingerprint
