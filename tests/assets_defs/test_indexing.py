from __future__ import annotations

import signal
from pathlib import Path

import dagster as dg
import pytest

from assets_defs.building import index
from assets_defs.instance import open_instance
from assets_defs.partitions import partition_key
from pipelines.artifacts import ArtifactRef
from pipelines.errors import FormatUnsupported, InputError, SourceMoved
from pipelines.identity import bucket_of
from pipelines.locks import writer_of
from pipelines.progress import Silent
from pipelines.serving.cli.host import IndexRequest
from pipelines.store import ArtifactStore
from resources.environment import Environment
from tests.assets_defs.builders import (
    CONFIG,
    commit,
    index_path,
    make_repository,
    start,
    store_files,
    strata,
    workspace_of,
)

BUCKETS = 4


def bucket(path: str) -> str:
    return bucket_of(path, BUCKETS)


def versions(root: Path, asset: str) -> dict[str, str]:
    """Return the data version that Dagster has for each partition of an asset."""
    with open_instance(workspace_of(root).deployment) as instance:
        key = dg.AssetKey(asset)
        found = {}
        for partition in sorted(instance.get_materialized_partitions(key)):
            record = instance.fetch_materializations(
                dg.AssetRecordsFilter(asset_key=key, asset_partitions=[partition]), limit=1
            ).records[0]
            assert record.asset_materialization is not None
            found[partition] = (record.asset_materialization.tags or {})["dagster/data_version"]
        return found


def test_a_repository_is_built_end_to_end(repository: Path) -> None:
    outcome = index_path(repository)
    assert outcome.published
    assert outcome.repo == "parcels"
    assert (outcome.files_indexed, outcome.files_skipped) == (4, {})
    assert outcome.symbols == 2
    assert outcome.vectors_total == outcome.vectors_embedded == outcome.chunks > 2
    assert (outcome.buckets_total, outcome.buckets_computed) == (BUCKETS, BUCKETS)
    assert outcome.checks
    assert all(check.passed for check in outcome.checks)
    assert outcome.stages["dagster"] > 0
    workspace = workspace_of(repository)
    pointer = workspace.store.pointer("parcels")
    assert pointer is not None
    assert (pointer.generation, pointer.commit, pointer.dirty) == (outcome.generation, outcome.commit, False)
    assert set(versions(repository, "chunks")) == {partition_key("parcels", f"b{n:02x}") for n in range(BUCKETS)}
    assert versions(repository, "search_index") == {"parcels": outcome.generation}


def test_pieces_with_secrets_are_counted(repository: Path) -> None:
    assert index_path(repository).quarantined_pieces == 0
    key = "AKIA" + "Q3EGRIZ7DOAYNTKV"  # in two parts, so that no scanner takes this file for a leak
    (repository / "keys.py").write_text(f'def first():\n    return "{key}"\n\n\ndef second():\n    return "{key}"\n')
    outcome = index_path(repository)
    assert (outcome.quarantined_pieces, outcome.quarantined_files) == (2, 1)


def test_nothing_is_computed_or_written_where_nothing_changed(indexed: Path) -> None:
    before = store_files(indexed)
    outcome = index_path(indexed)
    assert outcome.up_to_date
    assert (outcome.vectors_embedded, outcome.buckets_computed, outcome.files_indexed) == (0, 0, 4)
    assert store_files(indexed) == before


def test_an_edited_body_computes_one_bucket_with_its_exact_version(indexed: Path) -> None:
    before = versions(indexed, "chunks")
    path = indexed / "pricing.py"
    path.write_text(path.read_text().replace("0.9", "0.8"))
    outcome = index_path(indexed)
    assert outcome.published
    assert outcome.buckets_computed == 1
    assert outcome.vectors_embedded == 1
    changed = partition_key("parcels", bucket("pricing.py"))
    after = versions(indexed, "chunks")
    assert {key for key in after if after[key] != before[key]} == {changed}
    head = workspace_of(indexed).store.head("parcels", "chunks", bucket("pricing.py"))
    assert after[changed] == head


def test_restored_content_is_present_again(indexed: Path) -> None:
    text = (indexed / "stock.py").read_text()
    first = index_path(indexed)
    (indexed / "stock.py").unlink()
    without = index_path(indexed)
    assert (without.symbols, without.files_indexed) == (1, 3)
    (indexed / "stock.py").write_text(text)
    again = index_path(indexed)
    assert (again.symbols, again.generation, again.vectors_embedded) == (2, first.generation, 0)


def test_a_commit_of_equal_content_only_moves_the_pointer(indexed: Path) -> None:
    generation = index_path(indexed).generation
    commit(indexed)
    outcome = index_path(indexed)
    assert outcome.up_to_date
    assert outcome.generation == generation
    pointer = workspace_of(indexed).store.pointer("parcels")
    assert pointer is not None
    assert pointer.commit == outcome.commit


def test_a_removed_artifact_is_noticed_and_rebuilt(indexed: Path) -> None:
    store = ArtifactStore(indexed / ".strata")
    ref = next(ref for ref in store.heads("parcels") if ref.asset == "chunks")
    store.discard(ref)
    outcome = index_path(indexed)
    assert outcome.published
    assert outcome.buckets_computed == 1
    assert store.holds(ref)


def test_full_makes_everything_anew_and_repairs_a_flipped_byte(indexed: Path) -> None:
    store = ArtifactStore(indexed / ".strata")
    refs = sorted(store.heads("parcels"))
    before = {ref: store.folder(ref).stat().st_ino for ref in refs}
    damaged = next(ref for ref in refs if ref.asset == "chunk_vectors" and store.open(ref).counts["rows"])
    path = store.folder(damaged) / "vectors.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    outcome = index_path(indexed, full=True)
    assert outcome.published
    assert (outcome.buckets_computed, outcome.vectors_embedded) == (BUCKETS, outcome.chunks)
    assert {ref for ref in refs if store.folder(ref).stat().st_ino != before[ref]} == {damaged}
    assert sorted(store.heads("parcels")) == refs
    store.verify(damaged)


def with_pointer_format(root: Path, number: int) -> Path:
    path = root / ".strata" / "repos" / "parcels" / "current.json"
    path.write_text(path.read_text().replace('"format": 1', f'"format": {number}'))
    return path


def test_what_an_older_release_wrote_is_built_again(indexed: Path) -> None:
    with_pointer_format(indexed, 0)
    outcome = index_path(indexed)
    assert outcome.published
    assert outcome.buckets_computed == BUCKETS


def test_what_a_newer_release_wrote_is_refused_and_left_alone(indexed: Path) -> None:
    path = with_pointer_format(indexed, 99)
    before = path.read_text()
    with pytest.raises(FormatUnsupported, match="99"):
        index_path(indexed)
    assert path.read_text() == before


def test_flags_are_part_of_what_is_wanted(indexed: Path) -> None:
    plain = index_path(indexed)
    other = index_path(indexed, overrides={"embedder": {"dimensions": 128}})
    assert other.encoder.dimensions == 128
    assert other.vectors_embedded == other.vectors_total == other.chunks  # nothing of another encoder is taken over
    assert workspace_of(indexed).staleness("parcels") == "fresh"
    assert index_path(indexed).generation == plain.generation


def test_another_number_of_buckets_leaves_no_row_twice(indexed: Path) -> None:
    chunks = index_path(indexed).chunks
    (indexed / "strata.toml").write_text(CONFIG.replace("buckets = 4", "buckets = 2"))
    commit(indexed)
    outcome = index_path(indexed)
    assert outcome.published
    assert (outcome.buckets_total, outcome.chunks) == (2, chunks)
    heads = {ref.bucket for ref in ArtifactStore(indexed / ".strata").heads("parcels")}
    assert heads == {"b00", "b01", "all"}


def test_a_failed_check_keeps_the_old_generation_served(indexed: Path) -> None:
    workspace = workspace_of(indexed)
    served = workspace.store.pointer("parcels")
    (indexed / "pricing.py").write_text("def apply_discount(net):\n    return net\n")
    untouched = bucket("stock.py")
    assert untouched != bucket("pricing.py")
    damaged = break_counts(workspace.store, untouched)
    workspace.store.drop_head(damaged)
    outcome = index_path(indexed)
    assert not outcome.published
    assert [check.name for check in outcome.checks if not check.passed] == ["files_accounted"]
    assert workspace.store.pointer("parcels") == served
    assert not index_path(indexed).published  # and it is not forgotten by the next run
    workspace.store.discard(damaged)
    assert index_path(indexed).published


def break_counts(store: ArtifactStore, name: str) -> ArtifactRef:
    """Make the symbols of a bucket claim a file that they do not list."""
    artifact = store.open_head("parcels", "symbols", name)
    path = artifact.folder / "manifest.json"
    count = artifact.counts["files_indexed"]
    path.write_text(path.read_text().replace(f'"files_indexed": {count}', f'"files_indexed": {count + 1}'))
    return artifact.ref


def test_a_repository_that_left_the_configuration_loses_its_rows(tmp_path: Path) -> None:
    first, second = make_repository(tmp_path / "first"), make_repository(tmp_path / "second")
    deploy = tmp_path / "deploy"
    deploy.mkdir()
    listed = '\n[[repositories]]\nkey = "{0}"\npath = "../{0}"\n'
    (deploy / "strata.toml").write_text(CONFIG + listed.format("first") + listed.format("second"))
    for root in (first, second):
        (root / "strata.toml").unlink()
        assert index_path(root, deploy).repo == root.name
    store = ArtifactStore(deploy / ".strata")
    assert store.repositories() == ("first", "second")
    (deploy / "strata.toml").write_text(CONFIG + listed.format("second"))
    (second / "pricing.py").write_text("x = 1\n")
    assert index_path(second, deploy).published
    assert store.repositories() == ("second",)


def test_a_repository_that_is_known_is_indexed_by_its_key_alone(tmp_path: Path) -> None:
    make_repository(tmp_path / "first")
    deploy = tmp_path / "deploy"
    deploy.mkdir()
    (deploy / "strata.toml").write_text(f'{CONFIG}\n[[repositories]]\nkey = "one"\npath = "../first"\n')
    outcome = index(Environment(deploy), IndexRequest(repo="one"), Silent())
    assert (outcome.repo, outcome.path) == ("one", str(tmp_path / "first"))
    assert outcome.store == str(deploy / ".strata")
    for request in (IndexRequest(), IndexRequest(repo="two")):
        with pytest.raises(InputError, match=r"which repository\?.* one") as caught:
            index(Environment(deploy), request, Silent())
        assert "--repo KEY" in caught.value.hint
    with pytest.raises(InputError, match="taken by"):
        index(Environment(deploy), IndexRequest(deploy, repo="one"), Silent())


class Editor(Silent):
    """Edits a file whenever a piece of work begins, `times` times at most."""

    def __init__(self, path: Path, times: int) -> None:
        self._path = path
        self._times = times

    def begin(self, label: str, total: int) -> None:
        if self._times:
            self._times -= 1
            self._path.write_text(f"def edited_{self._times}(): pass\n")


def test_a_source_that_changes_while_it_is_read_is_listed_again(repository: Path) -> None:
    outcome = index(Environment(repository), IndexRequest(repository), Editor(repository / "stock.py", 1))
    assert outcome.published
    assert workspace_of(repository).staleness("parcels") == "fresh"


def test_a_source_that_never_holds_still_is_given_up(repository: Path) -> None:
    with pytest.raises(SourceMoved):
        index(Environment(repository), IndexRequest(repository), Editor(repository / "stock.py", 1_000))


def test_a_path_that_is_no_folder_is_refused(repository: Path) -> None:
    with pytest.raises(InputError, match="not a folder"):
        index_path(repository / "pricing.py")


def test_two_processes_at_once_end_as_one(repository: Path) -> None:
    processes = [strata(repository, "index", ".", "--json") for _ in range(2)]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert sum("waiting for" in errors for _, errors in outputs) == 1
    assert workspace_of(repository).staleness("parcels") == "fresh"


@pytest.mark.parametrize(("signal_name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_ends_a_waiting_run_with_its_code(indexed: Path, signal_name: str, code: int) -> None:
    (indexed / "pricing.py").write_text("x = 1\n")
    workspace = workspace_of(indexed)
    with workspace.writing("parcels"):
        process = strata(indexed, "index", ".")
        assert process.stderr is not None
        while "waiting for" not in (line := process.stderr.readline()):
            assert line, "the second run did not wait"
        process.send_signal(signal.Signals[signal_name])
        process.communicate()
    assert process.returncode == code
    assert writer_of(workspace.store, "parcels") == ""


def test_an_unchanged_repository_needs_no_dagster(indexed: Path) -> None:
    code = "import sys; from assets_defs.command import main; code = main(); print(code, 'dagster' in sys.modules)"
    process = start(indexed, ["-c", code, "index", "."])
    output, errors = process.communicate()
    assert output.splitlines()[-1] == "0 False", errors
