from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pipelines.errors import ArtifactMissing, InputError
from pipelines.settings import Settings
from resources.deployment import Deployment
from resources.registry import Entry, Registry
from resources.repositories import Repository
from resources.workspace import Workspace
from tests.spine.builders import fill_plan


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "parcels"
    root.mkdir()
    (root / "pricing.py").write_text("x = 1\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    workspace = Workspace(Deployment(root / ".strata", Settings()))
    workspace.store.initialise()
    repository = Repository("parcels", root)
    workspace.take(repository)
    workspace.remember(repository)
    return workspace


def test_an_unknown_key_names_the_known_ones(workspace: Workspace) -> None:
    with pytest.raises(InputError, match=r"'orders' is not known .* known: parcels"):
        workspace.repository("orders")


def test_a_plan_is_made_once_until_it_is_refreshed(workspace: Workspace) -> None:
    first = workspace.plan("parcels")
    (workspace.repository("parcels").root / "pricing.py").write_text("x = 2\n")
    assert workspace.plan("parcels") is first
    workspace.refresh("parcels")
    assert workspace.plan("parcels").generation != first.generation


def test_equal_settings_share_one_encoder(workspace: Workspace) -> None:
    workspace.take(Repository("other", workspace.repository("parcels").root))
    assert workspace.encoder("parcels") is workspace.encoder("other")


def test_what_is_remembered_is_known_to_the_next_workspace(workspace: Workspace) -> None:
    again = Workspace(workspace.deployment)
    assert again.repository("parcels") == workspace.repository("parcels")


def test_a_key_cannot_be_taken_over(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="taken by"):
        workspace.remember(Repository("parcels", tmp_path / "elsewhere"))


def test_nothing_published_is_unknown_never_fresh(workspace: Workspace) -> None:
    assert workspace.staleness("parcels") == "unknown"


def test_publishing_and_staleness(workspace: Workspace) -> None:
    with workspace.writing("parcels") as waited:
        assert not waited
        fill_plan(workspace.store, workspace.plan("parcels"))
        pointer = workspace.publish("parcels")
    assert pointer.generation == workspace.plan("parcels").generation
    assert workspace.staleness("parcels") == "fresh"
    (workspace.repository("parcels").root / "pricing.py").write_text("x = 2\n")
    workspace.refresh("parcels")
    assert workspace.staleness("parcels") == "stale"


def test_what_was_built_from_an_older_state_is_published_without_a_commit(workspace: Workspace) -> None:
    with workspace.writing("parcels"):
        fill_plan(workspace.store, workspace.plan("parcels"))
        (workspace.repository("parcels").root / "pricing.py").write_text("x = 2\n")
        workspace.refresh("parcels")
        pointer = workspace.publish("parcels")
    assert (pointer.commit, pointer.dirty) == ("", True)


def test_an_artifact_that_lost_its_place_is_not_published(workspace: Workspace) -> None:
    with workspace.writing("parcels"):
        plan = workspace.plan("parcels")
        fill_plan(workspace.store, plan)
        workspace.store.drop_head(plan.targets["eval_runs"].ref)
        with pytest.raises(ArtifactMissing, match="eval_runs of parcels"):
            workspace.publish("parcels")


def test_a_source_that_is_gone_is_unknown(workspace: Workspace, tmp_path: Path) -> None:
    Registry(workspace.store.root).update(lambda content: content.with_entry("gone", Entry(tmp_path / "gone")))
    assert Workspace(workspace.deployment).staleness("gone") == "unknown"
