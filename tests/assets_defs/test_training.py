from __future__ import annotations

import json
from pathlib import Path

import pytest

from assets_defs.definitions import build_definitions, defs
from pipelines.embedding import make_encoder
from pipelines.settings import EmbedderSettings, Settings
from pipelines.training.figures import is_held_back
from pipelines.training.manifest import main as write_manifest
from resources.deployment import Deployment
from tests.training.builders import make_debian_source, make_npm, make_wheel

ASSETS = [
    "training_pairs",
    "training_vocabulary",
    "training_initialisation",
    "trained_encoder",
    "exported_encoder",
    "encoder_evaluation",
]
PYTHON = '''
def {deed}_{thing}(shop):
    """Please {deed} the {thing} of a shop."""
    found = shop.{thing}
    return found
'''
SCRIPT = "/** Please {deed} one {thing}. */\nfunction {deed}{thing}(shop) {{\n  return shop.{thing};\n}}\n"
C = "/* \\brief Please {deed} some {thing} there. */\nint {deed}_{thing}(int shop)\n{{\n  return shop + {thing};\n}}\n"


def filled(text: str) -> str:
    return "\n".join(
        text.format(deed=deed, thing=thing) for deed in ("read", "write") for thing in ("carts", "orders", "parcels")
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A training folder with four tiny packages, one of which is held back."""
    packages = tmp_path / "training" / "packages"
    packages.mkdir(parents=True)
    kept = next(name for name in map("kept{}".format, range(1000)) if is_held_back(name))
    make_wheel(packages, "carts", {"carts/money.py": filled(PYTHON)})
    make_wheel(packages, kept, {"kept/money.py": filled(PYTHON.replace("shop", "shelf"))})
    make_npm(packages, "cart-tools", {"carts.js": filled(SCRIPT)})
    make_debian_source(packages, "libcart", {"cart.c": filled(C)})
    write_manifest([str(packages), str(tmp_path / "training" / "packages.json")])
    return tmp_path / "training"


def test_the_group_trains_exports_and_measures(folder: Path, tmp_path: Path) -> None:
    definitions = build_definitions(Deployment(tmp_path / "store", Settings()), folder)
    job = definitions.resolve_job_def("train_encoder")
    config = {"ops": {"trained_encoder": {"config": {"steps": 3, "seed": 5}}}}
    result = job.execute_in_process(run_config=config)
    told = {
        event.asset_key.to_user_string(): event.step_materialization_data.materialization.metadata
        for event in result.get_asset_materialization_events()
        if event.asset_key
    }
    assert list(told) == ASSETS
    assert told["training_pairs"]["packages"].value == 4
    assert told["training_pairs"]["documented"].value == 24
    assert told["training_vocabulary"]["held back"].value == 6
    assert told["trained_encoder"]["steps"].value == 3
    assert told["encoder_evaluation"]["questions"].value == 6
    story = json.loads((folder / "encoder" / "code.json").read_text())
    assert story["training"]["seed"] == 5
    assert 0 < story["metrics"]["mrr@10 float"] <= 1
    assert [row["licence"] for row in story["packages"]] == ["Expat", "ISC", "MIT", "MIT"]
    assert all(row["files"] for row in story["packages"])
    assert make_encoder(EmbedderSettings("code"), folder / "encoder").encode(["def read_carts(): pass"]).any()


def test_training_is_there_only_where_a_folder_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRATA_TRAINING", str(folder))
    graph = defs().resolve_asset_graph()
    group = [node for node in graph.asset_nodes if node.group_name == "training"]
    assert {node.key.to_user_string() for node in group} == set(ASSETS)
    assert all(node.description and node.kinds and not node.is_partitioned for node in group)
    others = {node.key for node in graph.asset_nodes} - {node.key for node in group}
    assert not any(others & node.parent_keys for node in group)
    jobs = {job.name: job for job in defs().get_repository_def().get_all_jobs()}
    for name in ("bucket_job", "repository_job", "evaluation_job"):
        assert not {key.to_user_string() for key in jobs[name].asset_layer.executable_asset_keys} & set(ASSETS)
    monkeypatch.delenv("STRATA_TRAINING")
    assert "train_encoder" not in {job.name for job in defs().get_repository_def().get_all_jobs()}
