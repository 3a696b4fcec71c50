from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.artifacts import ArtifactRef
from pipelines.errors import ArtifactMissing
from pipelines.retrieval import open_generation
from pipelines.serving.publish import collect_garbage, publish_generation, published_document
from pipelines.settings import override
from pipelines.store import ArtifactStore
from tests.serving.builds import SETTINGS, build, document_of, publish, write_files

FILES = {f"module_{number}.py": f"def function_{number}():\n    return {number}\n" for number in range(12)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path / "code", FILES)
    return tmp_path / "code"


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "store")


def edit(root: Path, number: int) -> None:
    write_files(root, {"module_0.py": f"def function_0():\n    return {number + 1000}\n"})


def test_publishing_swaps_the_pointer_and_keeps_the_generation_before(root: Path, store: ArtifactStore) -> None:
    with pytest.raises(ArtifactMissing, match="nothing of repository sample is published"):
        published_document(store, "sample")
    first = publish(store, build(root, store))
    edit(root, 1)
    second = publish(store, build(root, store), commit="decade")
    pointer = store.pointer("sample")
    assert pointer is not None
    assert (pointer.generation, pointer.previous, pointer.commit) == (second.generation, (first.generation,), "decade")
    assert published_document(store, "sample") == second
    assert set(store.generations("sample")) == {first.generation, second.generation}


def test_publishing_the_same_again_writes_nothing_and_a_new_commit_moves_the_pointer_alone(
    root: Path, store: ArtifactStore
) -> None:
    plan = build(root, store)
    publish(store, plan)
    file = store.root / "repos" / "sample" / "current.json"
    before = file.stat().st_ino
    publish(store, plan)
    assert file.stat().st_ino == before
    publish(store, plan, commit="decade")
    pointer = store.pointer("sample")
    assert pointer is not None
    assert (pointer.commit, pointer.previous) == ("decade", ())


def test_a_generation_with_a_missing_artifact_is_not_published(root: Path, store: ArtifactStore) -> None:
    first = publish(store, build(root, store))
    edit(root, 1)
    plan = build(root, store)
    store.discard(plan.targets["binary_codes"].ref)
    with pytest.raises(ArtifactMissing, match="binary_codes"):
        publish(store, plan)
    assert published_document(store, "sample") == first


def test_old_generations_and_what_only_they_named_are_removed(root: Path, store: ArtifactStore) -> None:
    sizes = []
    for number in range(5):
        edit(root, number)
        publish(store, build(root, store))
        sizes.append(sum(1 for _ in store.artifacts("sample")))
    assert len(store.generations("sample")) == 2
    assert sizes[1] == sizes[-1]
    kept = {ref for generation in store.generations("sample") for ref in refs_of(store, generation)}
    assert set(store.artifacts("sample")) == kept


def refs_of(store: ArtifactStore, generation: str) -> set[object]:
    document = store.read_generation("sample", generation)
    return {
        ref for ref in store.artifacts("sample") if [ref.asset, ref.bucket, ref.fingerprint] in document["artifacts"]
    }


@pytest.mark.parametrize("rule", ["deny", "exclude", "ignore"])
def test_a_rule_that_hides_a_file_hides_it_in_older_generations_too(
    root: Path, store: ArtifactStore, rule: str
) -> None:
    write_files(root, {"plain.py": "def unspoken():\n    return 1\n"})
    publish(store, build(root, store))
    if rule == "deny":
        document = publish(store, build(root, store, deny=("plain.py",)))
    elif rule == "exclude":
        document = publish(store, build(root, store, override(SETTINGS, "index", exclude=("/plain.py",))))
    else:
        write_files(root, {".strataignore": "plain.py\n"})
        document = publish(store, build(root, store))
    assert store.generations("sample") == (document.generation,)
    shown = {path for ref in store.artifacts("sample") if ref.asset == "chunks" for path in chunk_paths(store, ref)}
    assert "plain.py" not in shown
    assert "module_1.py" in shown


def test_a_secret_that_is_no_longer_allowed_is_gone_from_older_generations_too(
    root: Path, store: ArtifactStore
) -> None:
    line = 'KEY = "AKIA' + 'Q3EGRIZ7DOAYNTKV"'
    write_files(root, {"keys.py": f"{line}  # strata: allow-secret\n"})
    publish(store, build(root, store))
    write_files(root, {"keys.py": f"{line}\n"})
    document = publish(store, build(root, store))
    assert store.generations("sample") == (document.generation,)


def test_a_generation_made_by_another_recipe_goes(root: Path, store: ArtifactStore) -> None:
    publish(store, build(root, store, grammars="older"))
    document = publish(store, build(root, store))
    assert store.generations("sample") == (document.generation,)


def chunk_paths(store: ArtifactStore, ref: ArtifactRef) -> list[str]:
    paths: list[str] = store.open(ref).table("chunks.parquet", columns=["path"])["path"].to_pylist()
    return paths


def test_what_a_reader_has_open_stays_until_it_closes(root: Path, store: ArtifactStore) -> None:
    first = publish(store, build(root, store), keep=1)
    with open_generation(store, "sample", first.generation):
        edit(root, 1)
        publish(store, build(root, store), keep=1)
        assert first.generation in store.generations("sample")
        store.verify(first.ref("binary_codes"))
    garbage = collect_garbage(store, "sample", 1, dry_run=True)
    assert first.generation in store.generations("sample")
    assert (garbage.generations, garbage.artifacts > 0, garbage.bytes > 0) == (1, True, True)
    assert collect_garbage(store, "sample", 1) == garbage
    assert first.generation not in store.generations("sample")
    with pytest.raises(ArtifactMissing):
        store.open(first.ref("binary_codes"))


def test_an_unpublished_generation_can_be_opened_and_is_no_pointer(root: Path, store: ArtifactStore) -> None:
    document = document_of(build(root, store))
    with open_generation(store, "sample", document):
        assert store.pointer("sample") is None
    publish_generation(store, document, commit="", dirty=True, keep=1)
    assert store.pointer("sample") is not None
