from __future__ import annotations

import json
from pathlib import Path

import dagster as dg
import pytest

from assets_defs import upkeep
from assets_defs.instance import open_instance
from assets_defs.pruning import prune_runs
from pipelines.errors import ArtifactCorrupt, InputError, NothingIndexed
from pipelines.store import ArtifactStore
from resources.environment import Environment
from tests.assets_defs.builders import git, index_path, make_repository, workspace_of


def state(root: Path) -> tuple[str, str]:
    (found,) = upkeep.status(Environment(root), ())
    return found.state, found.message


def test_a_ready_repository_tells_what_is_in_it(indexed: Path) -> None:
    (found,) = upkeep.status(Environment(indexed), ())
    assert (found.repo, found.state, found.path) == ("parcels", "ready", str(indexed))
    assert dict(found.counts)["files"] == 4
    assert set(found.counts) == {"files", "symbols", "chunks", "vectors", "quarantined"}
    assert found.encoder is not None


def test_the_places_in_quarantine_are_told_by_path_and_reason(indexed: Path) -> None:
    key = "AKIA" + "Q3EGRIZ7DOAYNTKV"  # in two parts, so that no scanner takes this file for a leak
    for name in ("b.py", "a.py"):
        (indexed / name).write_text(f'x = 1\nkey = "{key}"\n')
    assert upkeep.quarantine(Environment(indexed), (), 9)[0].places == ()
    index_path(indexed)
    (found,) = upkeep.quarantine(Environment(indexed), ("parcels",), 1)
    assert sum(found.reasons.values()) == 2
    assert [(place.path, place.start_line) for place in found.places] == [("a.py", 2)]
    assert found.omitted == 1
    assert key not in repr(upkeep.quarantine(Environment(indexed), (), 9))


def test_the_states_of_a_repository(indexed: Path) -> None:
    (indexed / "pricing.py").write_text("x = 1\n")
    assert state(indexed) == ("stale", "")
    with workspace_of(indexed).writing("parcels"):
        assert state(indexed)[0] == "building"
    index_path(indexed, rev="HEAD")
    git(indexed, "update-ref", "-d", "HEAD")
    assert state(indexed)[0] == "unknown"
    (indexed / ".strata" / "repos" / "parcels" / "current.json").write_text("{")
    assert state(indexed)[0] == "error"


@pytest.mark.parametrize(("content", "told"), [('{"format": 99}', "format version 99"), ("[]", "store.json")])
def test_a_store_that_a_query_refuses_is_not_ready(indexed: Path, content: str, told: str) -> None:
    (indexed / ".strata" / "store.json").write_text(content)
    (found,) = upkeep.status(Environment(indexed), ())
    assert found.state == "error"
    assert told in found.message


def test_a_generation_without_artifacts_is_damage_for_a_check(indexed: Path) -> None:
    store = workspace_of(indexed).store
    pointer = store.pointer("parcels")
    assert pointer is not None
    path = store.generation_file("parcels", pointer.generation)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"artifacts": []}))
    with pytest.raises(ArtifactCorrupt, match="names no artifacts"):
        upkeep.check(Environment(indexed), ())


def test_repositories_are_added_and_removed(indexed: Path, tmp_path: Path) -> None:
    other = make_repository(tmp_path / "letters")
    (other / "strata.toml").unlink()  # so that the configuration of the store at hand holds
    environment = Environment(indexed)
    added = upkeep.add_repository(environment, "letters", other, "HEAD")
    assert (added.state, added.rev) == ("missing", "HEAD")
    assert index_path(other, indexed, repo="letters").repo == "letters"
    upkeep.remove_repository(environment, "parcels")
    assert [item.repo for item in upkeep.status(environment, ())] == ["letters"]
    assert ArtifactStore(indexed / ".strata").repositories() == ("letters",)


def test_a_wrong_addition_is_refused(indexed: Path, tmp_path: Path) -> None:
    environment = Environment(indexed)
    other = make_repository(tmp_path / "letters")
    with pytest.raises(InputError, match="taken by"):
        upkeep.add_repository(environment, "parcels", other, "")
    with pytest.raises(InputError, match="already, with key parcels"):
        upkeep.add_repository(environment, "packets", indexed, "")
    with pytest.raises(InputError, match="not a folder"):
        upkeep.add_repository(environment, "letters", tmp_path / "nowhere", "")
    with pytest.raises(InputError, match="no-such-branch"):
        upkeep.add_repository(environment, "letters", other, "no-such-branch")
    with pytest.raises(InputError, match="not known"):
        upkeep.remove_repository(environment, "letters")


def test_every_check_runs_on_what_is_published(indexed: Path) -> None:
    results = upkeep.check(Environment(indexed), ())
    assert all(result.passed for result in results)
    assert {"checksums", "row_order", "evaluation_floor"} <= {result.name for result in results}
    store = ArtifactStore(indexed / ".strata")
    ref = next(ref for ref in store.heads("parcels") if ref.asset == "search_rows")
    path = store.folder(ref) / "rows.arrow"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    failed = [result for result in upkeep.check(Environment(indexed), ()) if not result.passed]
    assert ("checksums", "search_rows") in {(result.name, result.asset) for result in failed}


def test_nothing_to_check_is_an_error_that_says_so(repository: Path) -> None:
    with pytest.raises(NothingIndexed):
        upkeep.check(Environment(repository), ())


def test_retention_keeps_the_last_generations_and_a_dry_run_removes_nothing(indexed: Path) -> None:
    for text in ("x = 1\n", "x = 2\n", "x = 3\n"):
        (indexed / "pricing.py").write_text(text)
        index_path(indexed)
    store = ArtifactStore(indexed / ".strata")
    assert len(store.generations("parcels")) == 2
    before = list(store.artifacts("parcels"))
    report = upkeep.collect(Environment(indexed), dry_run=True)
    assert report.dry_run
    assert list(store.artifacts("parcels")) == before
    upkeep.collect(Environment(indexed), dry_run=False)
    assert all(result.passed for result in upkeep.check(Environment(indexed), ()))


def test_pruning_runs_keeps_what_the_status_of_a_partition_rests_on(indexed: Path) -> None:
    for text in ("x = 1\n", "x = 2\n", "x = 3\n"):
        (indexed / "pricing.py").write_text(text)
        index_path(indexed)
    with open_instance(workspace_of(indexed).deployment) as instance:
        total = instance.get_runs_count()
        keys = {key: set(instance.get_materialized_partitions(key)) for key in instance.all_asset_keys()}
        assert prune_runs(instance, 1) == 0  # within the slack
        planned = prune_runs(instance, 1, slack=0, dry_run=True)
        assert prune_runs(instance, 1, slack=0) == planned > 0
        assert instance.get_runs_count() == total - planned
        assert {key: set(instance.get_materialized_partitions(key)) for key in instance.all_asset_keys()} == keys
        assert len(keys[dg.AssetKey("chunks")]) == 4
