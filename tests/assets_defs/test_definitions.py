from __future__ import annotations

import dagster as dg
import pytest

from assets_defs.definitions import build_definitions, defs
from pipelines.serving.checks import CHECKS
from pipelines.settings import Settings
from resources.deployment import Deployment

VARIABLES = ("STRATA_HOME", "STRATA_CONFIG", "DAGSTER_HOME", "STRATA_TRAINING")
GROUPS = {
    "source_files": "discover",
    "symbols": "discover",
    "graph_snapshot": "discover",
    "chunks": "chunking",
    "lexical_segments": "chunking",
    "chunk_vectors": "embedding",
    "diffused_vectors": "diffusion",
    "binary_codes": "quantization",
    "search_rows": "serving",
    "search_index": "serving",
    "eval_runs": "evaluation",
}
BUCKET_ASSETS = {"source_files", "symbols", "chunks", "lexical_segments", "chunk_vectors"}


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> dg.Definitions:
    """What Dagster loads in an empty environment."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    definitions = defs()
    dg.Definitions.validate_loadable(definitions)
    return definitions


def test_the_assets_stand_in_their_groups(loaded: dg.Definitions) -> None:
    graph = loaded.resolve_asset_graph()
    assert {node.key.to_user_string(): node.group_name for node in graph.asset_nodes} == GROUPS
    assert all(node.description and node.kinds for node in graph.asset_nodes)


def test_a_bucket_asset_never_depends_on_a_whole_repository(loaded: dg.Definitions) -> None:
    graph = loaded.resolve_asset_graph()
    for node in graph.asset_nodes:
        if node.key.to_user_string() in BUCKET_ASSETS:
            assert {key.to_user_string() for key in node.parent_keys} <= BUCKET_ASSETS


def test_the_index_waits_for_every_other_asset(loaded: dg.Definitions) -> None:
    upstream = dg.AssetSelection.assets("search_index").upstream()
    names = {key.to_user_string() for key in upstream.resolve(loaded.resolve_asset_graph())}
    assert names | {"source_files"} == set(GROUPS)


def test_jobs_schedules_and_sensors(loaded: dg.Definitions) -> None:
    repository = loaded.get_repository_def()
    jobs = {job.name for job in repository.get_all_jobs() if not job.name.startswith("__")}
    assert jobs == {"bucket_job", "repository_job", "evaluation_job"}
    schedules = {item.name: item.default_status.value for item in repository.schedule_defs}
    assert schedules == {"nightly": "STOPPED", "nightly_publish": "STOPPED"}
    sensors = {item.name: item.default_status.value for item in repository.sensor_defs}
    assert sensors == {"register_repositories": "RUNNING", "changed_buckets": "STOPPED"}


def test_every_check_is_there_and_errors_block(loaded: dg.Definitions) -> None:
    found = {
        (spec.asset_key.to_user_string(), spec.name): spec.blocking
        for checks in loaded.asset_checks or ()
        for spec in checks.check_specs
    }
    assert found == {(check.asset, check.name): check.severity == "error" for check in CHECKS}


def test_the_number_of_buckets_is_a_setting(tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("store")
    settings = Settings()
    graph = build_definitions(Deployment(root, settings)).resolve_asset_graph()
    kind = graph.get(dg.AssetKey("chunks")).partitions_def
    assert isinstance(kind, dg.MultiPartitionsDefinition)
    by_bucket = next(item for item in kind.partitions_defs if item.name == "bucket")
    assert len(by_bucket.partitions_def.get_partition_keys()) == settings.index.buckets
