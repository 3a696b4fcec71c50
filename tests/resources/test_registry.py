from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import ArtifactCorrupt
from resources.registry import Entry, Registered, Registry, Request


def test_a_registry_that_was_never_written_is_empty(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    assert registry.read() == Registered()
    assert not registry.exists()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "store")
    request = Request("v1", {"embedder": {"name": "hash"}})
    registry.update(lambda content: content.with_entry("orders", Entry(tmp_path / "orders", "main")))
    registry.update(lambda content: content.with_request("orders", request))
    assert registry.read() == Registered({"orders": Entry(tmp_path / "orders", "main")}, {"orders": request})


def test_an_update_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "store")
    registry.update(lambda content: content.with_request("orders", Request()))
    assert not (tmp_path / "store").exists()


def test_removing_a_repository_removes_its_request(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    registry.update(lambda content: content.with_entry("orders", Entry(tmp_path / "orders")))
    registry.update(lambda content: content.with_request("orders", Request("v1")))
    registry.update(lambda content: content.without("orders"))
    assert registry.read() == Registered()


def test_a_repository_around_its_store_can_be_moved(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    Registry(before / ".strata").update(lambda content: content.with_entry("orders", Entry(before)))
    before.rename(after)
    assert Registry(after / ".strata").read().entries["orders"].root == after


def test_a_damaged_registry_is_an_error_not_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "repositories.json").write_text('{"repositories": 3}')
    with pytest.raises(ArtifactCorrupt, match=r"repositories\.json"):
        Registry(tmp_path).read()
