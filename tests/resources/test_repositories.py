from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import InputError, SettingsError
from pipelines.settings import RepositorySettings, Settings
from resources.bundled import SAMPLE_KEY, sample_judgments, sample_root
from resources.deployment import Deployment
from resources.registry import Entry, Registered, Request
from resources.repositories import Repository, judgments_of, key_for, repositories_of, settings_of, with_request


def make_deployment(tmp_path: Path, *repositories: RepositorySettings) -> Deployment:
    settings = Settings(repositories=repositories)
    return Deployment(tmp_path / "store", settings, tmp_path / "strata.toml")


def test_the_configuration_wins_over_the_registry(tmp_path: Path) -> None:
    deployment = make_deployment(tmp_path, RepositorySettings("orders", "src/orders", branch="main"))
    registered = Registered({"orders": Entry(tmp_path / "old"), "billing": Entry(tmp_path / "billing", "v2")})
    found = repositories_of(deployment, registered)
    assert list(found) == ["billing", "orders"]
    assert found["orders"] == Repository("orders", tmp_path / "src" / "orders", "main")
    assert found["billing"].rev == "v2"


def test_the_sample_is_there_without_being_registered(tmp_path: Path) -> None:
    found = repositories_of(Deployment(tmp_path, Settings(), bundled_sample=True), Registered())
    assert found[SAMPLE_KEY].root == sample_root()


def test_the_last_request_is_part_of_what_is_wanted(tmp_path: Path) -> None:
    request = Request("v9", {"embedder": {"name": "hash", "dimensions": 128}, "diffusion": {"enabled": True}})
    registered = Registered({"orders": Entry(tmp_path, "main")}, {"orders": request})
    repository = repositories_of(make_deployment(tmp_path), registered)["orders"]
    settings = settings_of(make_deployment(tmp_path), repository)
    assert repository.rev == "v9"
    assert (settings.embedder.name, settings.embedder.dimensions, settings.diffusion.enabled) == ("hash", 128, True)


def test_a_repository_keeps_its_key_and_two_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "a" / "app").mkdir(parents=True)
    (tmp_path / "b" / "app").mkdir(parents=True)
    known = {"app": Repository("app", tmp_path / "a" / "app")}
    assert key_for(tmp_path / "a" / "app", known) == "app"
    other = key_for(tmp_path / "b" / "app", known)
    assert other.startswith("app-")
    assert other == key_for(tmp_path / "b" / "app", known)


def test_a_key_of_another_repository_is_refused(tmp_path: Path) -> None:
    known = {"app": Repository("app", tmp_path / "a")}
    with pytest.raises(InputError, match="app is taken by"):
        key_for(tmp_path / "b", known, "app")
    with pytest.raises(InputError, match="not valid"):
        key_for(tmp_path / "b", known, "b|../x")


def test_a_repository_s_own_file_counts_where_no_deployment_governs(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "strata.toml").write_text('[index]\nexclude = ["gen/"]\nbuckets = 4\n')
    deployment = Deployment(tmp_path / "store", Settings())
    settings = settings_of(deployment, Repository("repo", root))
    assert settings.index.exclude == ("gen/",)
    assert settings.index.buckets == deployment.settings.index.buckets  # one set of partitions for all repositories
    assert settings_of(make_deployment(tmp_path), Repository("repo", root)).index.exclude == ()


def test_a_repository_s_own_file_may_not_lead_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "strata.toml").write_text('[embedder]\nname = "onnx"\nmodel = "/tmp/model.onnx"\n')
    with pytest.raises(SettingsError, match="leads out of"):
        settings_of(Deployment(tmp_path / "store", Settings()), Repository("repo", tmp_path))


def test_judgments_are_found_beside_the_configuration(tmp_path: Path) -> None:
    deployment = make_deployment(tmp_path)
    (tmp_path / "repo").mkdir()
    repository = Repository("repo", tmp_path / "repo")
    assert judgments_of(deployment, repository, Settings()) is None
    settings = settings_of(deployment, with_request(repository, "", {"evaluation": {"judgments": "cases.json"}}))
    assert judgments_of(deployment, repository, settings) == tmp_path / "cases.json"


def test_the_bundled_sample_has_its_fixtures_as_judgments(tmp_path: Path) -> None:
    deployment = Deployment(tmp_path, Settings(), bundled_sample=True)
    assert judgments_of(deployment, Repository(SAMPLE_KEY, sample_root()), Settings()) == sample_judgments()


def test_flags_that_were_not_given_are_not_remembered(tmp_path: Path) -> None:
    repository = with_request(Repository("r", tmp_path), "", {"embedder": {"name": None}, "index": {"content": "docs"}})
    assert repository.request == Request("", {"index": {"content": "docs"}})
