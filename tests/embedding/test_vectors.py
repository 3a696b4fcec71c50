from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from pipelines.artifacts import Artifact
from pipelines.embedding import build_vectors, make_encoder
from pipelines.errors import ArtifactMissing, EncoderError
from pipelines.progress import Silent
from pipelines.settings import EmbedderSettings
from pipelines.store import ArtifactStore
from tests.embedding.builders import DATA, OneShapeEncoder, WordsEncoder, embed, make_store, publish, vector_target


@dataclass
class InBulkEncoder(WordsEncoder):
    texts_at_once: int = 2


FILES = {f"src/m{index}.py": f"def function{'x' * index}(): return {'a' * index}" for index in range(1, 6)}


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return make_store(tmp_path)


def content(artifact: Artifact) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in artifact.folder.iterdir() if path.name != "manifest.json"}


def test_rows_stand_in_the_order_of_the_chunks(store: ArtifactStore) -> None:
    encoder = WordsEncoder()
    report, artifact = embed(store, FILES, encoder)
    assert (report.rows, report.reused, report.computed) == (5, 0, 5)
    assert report.extra == {"embedded_texts": 5, "truncated": 0}
    (asked,) = encoder.asked
    np.testing.assert_array_equal(artifact.array("vectors.npy"), WordsEncoder().encode(asked).astype(np.float16))
    assert artifact.array("valid.npy").all()
    assert artifact.array("embed_keys.npy").shape == (5, 16)
    assert artifact.facts == {"encoder": {"name": "words", "digest": "words-1", "dimensions": 64}}


def test_equal_texts_are_embedded_once(store: ArtifactStore) -> None:
    encoder = WordsEncoder()
    report, artifact = embed(store, {f"{place}/lib/same.py": "open the file" for place in "abc"}, encoder)
    assert (report.rows, report.computed, report.extra["embedded_texts"]) == (3, 3, 1)
    assert len(np.unique(artifact.array("embed_keys.npy"), axis=0)) == 1
    assert len(np.unique(artifact.array("vectors.npy"), axis=0)) == 1


def test_what_has_no_vector_is_marked_and_counted(store: ArtifactStore) -> None:
    odd = {"a.py": "zeroword", "b.py": "nanword", "c.py": "infword", "d.py": " {} \n", "e.py": "🙂", "f.py": "ordinary"}
    report, artifact = embed(store, odd, WordsEncoder())
    assert report.skipped == {"blank_text": 2, "not_finite": 2, "zero_vector": 1}
    assert report.rows == 6
    valid, vectors = artifact.array("valid.npy"), artifact.array("vectors.npy")
    assert valid.sum() == 1
    assert not vectors[~valid].any()
    assert artifact.counts["skipped"] == {"blank_text": 2, "not_finite": 2, "zero_vector": 1}
    again, _ = embed(store, {**odd, "g.py": "one more"}, WordsEncoder())
    assert (again.reused, again.computed) == (3, 4)  # what failed is tried again, what is blank stays blank
    assert again.skipped == report.skipped


def test_data_and_settings_have_no_vector(store: ArtifactStore) -> None:
    files = {"a.py": "ordinary", "b.toml": "ordinary", "c.json": "🙂"}
    report, artifact = embed(store, files, WordsEncoder())
    assert report.skipped == {"lexical_only": 2}
    assert (report.extra["embedded_texts"], artifact.array("valid.npy").sum()) == (1, 1)


def test_an_empty_bucket_has_empty_arrays(store: ArtifactStore) -> None:
    report, artifact = embed(store, {}, WordsEncoder())
    assert report.rows == 0
    assert artifact.array("vectors.npy").shape == (0, 64)
    assert artifact.array("embed_keys.npy").shape == (0, 16)


def test_only_changed_chunks_are_embedded_and_the_bytes_are_those_of_a_fresh_build(tmp_path: Path) -> None:
    store, fresh = make_store(tmp_path / "a"), make_store(tmp_path / "b")
    embed(store, FILES, WordsEncoder())
    changed = {**FILES, "src/m3.py": "def other(): return nothing at all"}
    encoder = WordsEncoder()
    report, artifact = embed(store, changed, encoder)
    assert (report.reused, report.computed) == (4, 1)
    assert [len(texts) for texts in encoder.asked] == [1]
    assert content(artifact) == content(embed(fresh, changed, WordsEncoder())[1])


def test_an_equal_target_is_not_made_again(store: ArtifactStore) -> None:
    embed(store, FILES, WordsEncoder())
    encoder = WordsEncoder()
    report, _ = embed(store, FILES, encoder)
    assert (report.built, report.rows, report.reused, encoder.asked) == (False, 5, 5, [])


def test_a_file_that_moves_to_another_bucket_takes_its_vector_along(store: ArtifactStore) -> None:
    _, before = embed(store, {"one/lib/a.py": "moved text", "x/b.py": "stays"}, WordsEncoder(), bucket="b00")
    publish(store, "sample", before.ref)
    # The bucket that the file leaves is rebuilt first: only the published generation still has its vector.
    embed(store, {"x/b.py": "stays"}, WordsEncoder(), bucket="b00")
    encoder = WordsEncoder()
    report, _ = embed(store, {"two/lib/a.py": "moved text"}, encoder, bucket="b01")
    assert (report.reused, report.computed, encoder.asked) == (1, 0, [])


def test_another_repository_gives_its_vectors(store: ArtifactStore) -> None:
    embed(store, FILES, WordsEncoder(), repo="upstream")
    encoder = WordsEncoder()
    report, _ = embed(store, FILES, encoder, repo="fork", bucket="b05")
    assert (report.reused, encoder.asked) == (5, [])


@pytest.mark.parametrize("other", [WordsEncoder("words-2"), WordsEncoder(dimensions=128), WordsEncoder(name="other")])
def test_another_encoder_never_reuses(store: ArtifactStore, other: WordsEncoder) -> None:
    embed(store, FILES, WordsEncoder())
    report, artifact = embed(store, FILES, other, bucket="b01")
    assert (report.reused, report.computed) == (0, 5)
    assert artifact.array("vectors.npy").shape == (5, other.dimensions)


def remove_array(artifact: Artifact) -> None:
    (artifact.folder / "vectors.npy").unlink()


def cut_array(artifact: Artifact) -> None:
    path = artifact.folder / "embed_keys.npy"
    path.write_bytes(path.read_bytes()[:-1])


def spoil_manifest(artifact: Artifact) -> None:
    (artifact.folder / "manifest.json").write_text("{")


@pytest.mark.parametrize("damage", [remove_array, cut_array, spoil_manifest])
def test_a_broken_predecessor_costs_its_reuse_only(store: ArtifactStore, damage: Callable[[Artifact], None]) -> None:
    _, before = embed(store, FILES, WordsEncoder())
    publish(store, "sample", before.ref)
    damage(before)
    report, _ = embed(store, {**FILES, "new.py": "new"}, WordsEncoder())
    assert (report.reused, report.computed) == (0, 6)


def test_a_failing_encoder_names_the_chunk_and_publishes_nothing(store: ArtifactStore) -> None:
    encoder = WordsEncoder()
    target = vector_target(store, {**FILES, "src/bad.py": "a badword\nin two lines"}, encoder)
    with pytest.raises(EncoderError, match=r"src/bad\.py:1-2.*no such word"):
        build_vectors(store, target, encoder, Silent())
    with pytest.raises(ArtifactMissing):
        store.open(target.ref)
    assert store.head("sample", "chunk_vectors", "b00") is None


def test_a_wrong_shape_is_refused(store: ArtifactStore) -> None:
    with pytest.raises(EncoderError, match=r"shape \(1, 64\)"):
        embed(store, FILES, OneShapeEncoder())


def test_more_chunks_than_one_batch_are_all_embedded(tmp_path: Path) -> None:
    files = {f"d{index % 7}/f{index}.py": f"word{index} " * 3 + "🙂" * (index % 3) for index in range(1_300)}
    whole, artifact = embed(make_store(tmp_path), files, WordsEncoder())
    assert (whole.computed, whole.extra["embedded_texts"]) == (1_300, 1_300)
    assert artifact.array("valid.npy").all()


def test_blocks_of_rows_are_composed_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"d{index}/lib/f.py": f"word{index % 40} naïve" if index % 9 else "🙂" for index in range(100)}
    report, whole = embed(make_store(tmp_path / "a"), files, WordsEncoder())
    monkeypatch.setattr("pipelines.embedding.texts._BLOCK_ROWS", 7)
    again, parts = embed(make_store(tmp_path / "b"), files, WordsEncoder())
    assert (report.extra["embedded_texts"], report.skipped) == (40, {"blank_text": 12})
    assert (again.extra, again.skipped) == (report.extra, report.skipped)
    assert content(parts) == content(whole)


def test_odd_texts_have_a_vector_or_a_reason(store: ArtifactStore) -> None:
    odd = {
        "a": "",
        "b": " \n\t",
        "c": "\0",
        "d": "🙂",
        "e": "数据库连接",
        "f": "x\0y",
        "g": "read " * 200_000,
        "h": "z" * 65,
    }
    report, artifact = embed(store, odd, make_encoder(EmbedderSettings("code"), DATA))
    assert report.skipped == {"blank_text": 5}
    lengths = np.linalg.norm(artifact.array("vectors.npy").astype(np.float64), axis=1)
    np.testing.assert_allclose(lengths, artifact.array("valid.npy").astype(float), atol=1e-3)


def test_an_encoder_is_given_as_many_texts_as_it_wants(store: ArtifactStore) -> None:
    encoder = InBulkEncoder()
    embed(store, FILES, encoder)
    assert [len(texts) for texts in encoder.asked] == [2, 2, 1]
