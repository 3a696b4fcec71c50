from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.errors import ArtifactMismatch, EncoderError
from pipelines.quantization import BitMap
from pipelines.retrieval import Query, Searcher, open_generation
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.semantic import Stored
from tests.retrieval.builders import Doc, WordEncoder, found, make_generation, make_searcher, make_store, open_docs
from tests.retrieval.test_lexical import make_prose


def test_the_pool_is_the_nearest_codes_ranked_by_cosine(tmp_path: Path) -> None:
    corpus = Corpus([open_docs(tmp_path, make_prose(80))])
    vector = WordEncoder().encode_query("retry queue")
    pool = Stored().pool(corpus, [None], vector, 20)
    codes = corpus.generations[0].codes
    bits = np.unpackbits(codes.codes, axis=1, bitorder="little").astype(bool)
    distances = (bits != (vector > 0)).sum(axis=1)
    nearest = np.lexsort((np.arange(80), distances))[:20]
    assert sorted(pool.rows.tolist()) == sorted(nearest.tolist())
    assert pool.distances.tolist() == distances[pool.rows].tolist()
    assert pool.scores.tolist() == sorted(pool.scores.tolist(), reverse=True)
    cosines = (codes.rescoring[pool.rows].astype(np.float32) @ vector) * codes.scales[pool.rows]
    assert pool.scores == pytest.approx(cosines, abs=1e-5)


def test_two_repositories_give_the_pool_of_one(tmp_path: Path) -> None:
    docs = make_prose(60)
    store = make_store(tmp_path)
    whole = Corpus([open_generation(store, "whole", make_generation(store, docs, repo="whole"))])
    halves = Corpus(
        [
            open_generation(store, repo, make_generation(store, part, repo=repo))
            for repo, part in (("left", docs[:30]), ("right", docs[30:]))
        ]
    )
    vector = WordEncoder().encode_query("order zone")
    one = Stored().pool(whole, [None], vector, 60)
    two = Stored().pool(halves, [None, None], vector, 60)
    assert one.scores == pytest.approx(two.scores)


def test_a_row_without_a_vector_is_found_by_its_words_only(tmp_path: Path) -> None:
    class Silent(WordEncoder):
        def encode_query(self, text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
            if "mute" in text:
                return np.zeros(self.dimensions, np.float32)
            return super().encode_query(text)

    store = make_store(tmp_path)
    docs = [Doc("a.py", "mute words", kind="module"), Doc("b.py", "other things", kind="module")]
    generation = open_generation(store, "sample", make_generation(store, docs, encoder=Silent()))
    searcher = Searcher([generation], Silent())
    assert found(searcher, "words", mode="semantic") == ["b.py"]
    assert found(searcher, "words", mode="lexical") == ["a.py"]
    assert "a.py" in found(searcher, "words")
    answer = searcher.search(Query("mute words"))
    assert answer.counts["semantic"] == 0
    assert "no word" in answer.inactive["semantic"]


@pytest.mark.parametrize("bits", [64, 128, 1024])
def test_the_query_goes_through_the_map_of_the_codes(tmp_path: Path, bits: int) -> None:
    store = make_store(tmp_path)
    generation = open_generation(store, "sample", make_generation(store, make_prose(80), bits=bits))
    corpus = Corpus([generation])
    vector = WordEncoder().encode_query("retry queue")
    mapped = BitMap(64, bits, 0)
    assert generation.bit_map == mapped
    pool = Stored().pool(corpus, [None], vector, 20)
    codes = np.unpackbits(generation.codes.codes, axis=1, bitorder="little")
    distances = (codes != np.unpackbits(mapped.codes(vector), bitorder="little")).sum(axis=1)
    assert pool.distances.tolist() == distances[pool.rows].tolist()
    assert max(pool.distances) <= np.sort(distances)[19]
    signed = Stored("asymmetric").pool(corpus, [None], vector, 20)
    values = mapped.values(vector)
    expected = (2.0 * codes - 1) @ values / np.linalg.norm(values) / np.sqrt(bits)
    assert sorted(signed.rows.tolist()) == sorted(pool.rows.tolist())
    assert signed.scores == pytest.approx(expected[signed.rows], abs=1e-5)
    assert signed.scores.tolist() == sorted(signed.scores.tolist(), reverse=True)


def test_codes_of_two_widths_are_not_searched_together(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    opened = [
        open_generation(store, repo, make_generation(store, make_prose(9), repo=repo, bits=bits))
        for repo, bits in (("one", 64), ("two", 128))
    ]
    with pytest.raises(ArtifactMismatch, match=r"one has codes of 64 bits .*two of 128 bits"):
        Searcher(opened, WordEncoder())
    assert Searcher(opened, None).search(Query("retry", mode="lexical")).hits  # type: ignore[arg-type]  # as typed


def test_scoring_changes_what_the_semantic_branch_says_alone(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, make_prose(50))
    plain, signed = (
        searcher.search(Query("retry queue", scoring=scoring, limit=50)) for scoring in ("int8", "asymmetric")
    )
    assert {hit.chunk_id: hit.terms.get("bm25") for hit in plain.hits} == {
        hit.chunk_id: hit.terms.get("bm25") for hit in signed.hits
    }
    assert [hit.terms["cosine"] for hit in plain.hits] != [hit.terms["cosine"] for hit in signed.hits]


def test_another_encoder_is_refused_by_name(tmp_path: Path) -> None:
    generation = open_docs(tmp_path, [Doc("a.py", "x", kind="module")])
    with pytest.raises(ArtifactMismatch, match=r"words-64.*words-128"):
        Searcher([generation], WordEncoder("words-128"))


def test_without_an_encoder_words_and_names_still_answer(tmp_path: Path) -> None:
    searcher = Searcher([open_docs(tmp_path, [Doc("a.py", "def cart(): pass", "cart")])], None)
    answer = searcher.search(Query("cart"))
    assert [hit.path for hit in answer.hits] == ["a.py"]
    assert answer.inactive["semantic"] == "there is no encoder"
    for options in ({"mode": "semantic"}, {"no_fusion": True}, {"fusion": "late"}):
        with pytest.raises(EncoderError, match="there is no encoder"):
            found(searcher, "cart", **options)


def test_no_fusion_is_plain_hamming_order(tmp_path: Path) -> None:
    answer = make_searcher(tmp_path, make_prose(50)).search(Query("retry queue", no_fusion=True, limit=50))
    distances = [hit.distance for hit in answer.hits]
    assert len(distances) == 50
    assert distances == sorted(distances, key=lambda value: value or 0)
    assert [hit.score for hit in answer.hits] == [pytest.approx(1 - (value or 0) / 64, abs=1e-6) for value in distances]
