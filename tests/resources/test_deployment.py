from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.errors import InputError, NothingIndexed, SettingsError, StorageError
from pipelines.store import ArtifactStore
from resources.deployment import deployment_of_code, deployment_to_build, deployment_to_query
from resources.environment import Environment
from resources.registry import Entry, Registry


def make_repository(root: Path) -> Path:
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    return root


def write_config(folder: Path, text: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "strata.toml"
    path.write_text(text)
    return path


def make_checkout(root: Path) -> Path:
    (root / "assets_defs").mkdir(parents=True)
    (root / "workspace.yaml").touch()
    (root / ".git").mkdir()
    return root


def test_a_path_without_configuration_has_its_store_inside(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    deployment = deployment_to_build(Environment(tmp_path), root)
    assert deployment.store_root == root / ".strata"
    assert deployment.config is None


def test_strata_home_wins_over_everything(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    write_config(root, "[chunking]\nmin_chars = 7\n")
    environment = Environment(root, home=tmp_path / "home")
    for deployment in (deployment_to_build(environment, root), deployment_to_query(environment)):
        assert deployment.store_root == tmp_path / "home"
        assert deployment.config is None


def test_a_configuration_in_strata_home_governs(tmp_path: Path) -> None:
    config = write_config(tmp_path / "home", "[chunking]\nmin_chars = 7\n")
    deployment = deployment_to_query(Environment(tmp_path, home=tmp_path / "home"))
    assert deployment.config == config
    assert deployment.settings.chunking.min_chars == 7


def test_a_named_configuration_may_lead_anywhere(tmp_path: Path) -> None:
    config = write_config(tmp_path / "etc", '[artifacts]\nuri = "../elsewhere/store"\n')
    environment = Environment(tmp_path, config=config, dagster_home=tmp_path / "dagster")
    deployment = deployment_to_query(environment)
    assert deployment.store_root == tmp_path / "elsewhere" / "store"
    assert deployment.instance_folder == tmp_path / "dagster"


def test_a_named_configuration_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="STRATA_CONFIG names"):
        deployment_to_query(Environment(tmp_path, config=tmp_path / "none.toml"))


def test_a_found_configuration_may_not_lead_out_of_its_folder(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    for text in (
        '[artifacts]\nuri = "../victim"\n',
        '[embedder]\nname = "onnx"\nmodel = "/opt/model.onnx"\n',
        '[evaluation]\njudgments = "../../secrets.json"\n',
    ):
        write_config(root, text)
        with pytest.raises(SettingsError, match="leads out of"):
            deployment_to_build(Environment(root), root)


@pytest.mark.parametrize(("key", "value"), [("agreed_tokens", 1_000_000), ("price", 0.001)])
def test_a_found_configuration_may_not_agree_to_the_cost_of_a_service(tmp_path: Path, key: str, value: float) -> None:
    root = make_repository(tmp_path / "repo")
    config = write_config(root, f"[embedder]\n{key} = {value}\n")
    with pytest.raises(SettingsError, match=rf"embedder\.{key} = ") as caught:
        deployment_to_build(Environment(root), root)
    assert f"STRATA_CONFIG={config}" in caught.value.hint
    named = deployment_to_build(Environment(root, config=config), root).settings.embedder
    assert getattr(named, key) == value


def test_a_configuration_is_found_from_below_up_to_the_top_of_the_repository(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    write_config(tmp_path, "[chunking]\nmin_chars = 9\n")
    assert deployment_to_build(Environment(root), root / "src").config is None
    config = write_config(root, '[artifacts]\nuri = "build/index"\n')
    deployment = deployment_to_query(Environment(root / "src"))
    assert deployment.config == config
    assert deployment.store_root == root / "build" / "index"


def test_the_configuration_of_the_working_directory_holds_only_for_its_own_repositories(tmp_path: Path) -> None:
    root, deploy = make_repository(tmp_path / "repo"), make_repository(tmp_path / "deploy")
    config = write_config(deploy)
    deployment = deployment_to_build(Environment(deploy), root)
    assert (deployment.config, deployment.store_root) == (None, root / ".strata")
    assert deployment_to_build(Environment(deploy), deploy / "src").config == config
    Registry(deploy / ".strata").update(lambda content: content.with_entry("orders", Entry(root)))
    assert deployment_to_build(Environment(deploy), root).config == config


def test_a_deployment_that_lists_a_repository_wins_over_its_own_configuration(tmp_path: Path) -> None:
    root, deploy = make_repository(tmp_path / "repo"), make_repository(tmp_path / "deploy")
    write_config(root)
    config = write_config(deploy, '[[repositories]]\nkey = "orders"\npath = "../repo"\n')
    assert deployment_to_build(Environment(deploy), root).config == config


def test_a_query_finds_the_store_of_an_indexed_folder_above(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    ArtifactStore(root / ".strata").initialise()
    assert deployment_to_query(Environment(root / "src")).store_root == root / ".strata"
    assert deployment_to_query(Environment(tmp_path), root / "src").store_root == root / ".strata"


def test_a_query_without_any_store_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NothingIndexed, match="strata index"):
        deployment_to_query(Environment(make_repository(tmp_path / "repo")))


def test_a_checkout_serves_the_bundled_sample(tmp_path: Path) -> None:
    root = make_checkout(tmp_path / "strata")
    deployment = deployment_to_query(Environment(root / "assets_defs"))
    assert deployment.store_root == root / "data" / "store"
    assert deployment.bundled_sample


def test_a_configuration_in_a_checkout_replaces_the_sample(tmp_path: Path) -> None:
    root = make_checkout(tmp_path / "strata")
    write_config(root)
    deployment = deployment_to_query(Environment(root))
    assert deployment.store_root == root / "data" / "store"
    assert not deployment.bundled_sample


def test_dagster_loads_the_checkout_from_anywhere(tmp_path: Path) -> None:
    deployment = deployment_of_code(Environment(tmp_path))
    assert deployment.bundled_sample
    named = deployment_of_code(Environment(tmp_path, home=deployment.store_root))
    assert named.bundled_sample


def test_a_folder_with_other_content_is_never_made_a_store(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    with pytest.raises(InputError, match=r"not a Strata store.*cat\.jpg"):
        deployment_to_query(Environment(tmp_path, home=tmp_path / "photos"))


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    with pytest.raises(InputError, match="not a folder"):
        deployment_to_query(Environment(tmp_path, home=tmp_path / "home"))


@pytest.mark.parametrize("make", [make_repository, make_checkout])
def test_a_store_that_is_a_link_is_refused_unless_it_is_named(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    root = make(tmp_path / "clone")
    outside = tmp_path / "outside" / "store"
    ArtifactStore(outside).initialise()
    (root / ".strata").symlink_to(outside)
    (root / "data").symlink_to(outside.parent)
    with pytest.raises(StorageError, match="lead out"):
        deployment_to_build(Environment(root), root)
    with pytest.raises(StorageError, match="lead out"):
        deployment_to_query(Environment(root))
    assert deployment_to_build(Environment(root, outside), root).store_root == outside
