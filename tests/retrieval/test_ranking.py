from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.retrieval import Query, Searcher, open_generation
from pipelines.retrieval.weights import FROM_VECTORS, LEAST, LOWERING, WEIGHTS, WORD_ENCODER_SHARE
from tests.retrieval.builders import Doc, WordEncoder, found, make_generation, make_searcher, make_store


class Vocab(WordEncoder):
    name = "vocab"


def test_vectors_that_add_up_words_count_less(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    terms = []
    for repo, encoder in (("words", WordEncoder()), ("vocab", Vocab())):
        document = make_generation(store, [Doc("a.py", "retry", "retry")], repo=repo, encoder=encoder)
        with open_generation(store, repo, document) as generation:
            (hit,) = Searcher([generation], encoder).search(Query("how to retry")).hits
            terms.append(hit.terms)
    whole, less = terms
    assert less["meaning"] == pytest.approx(whole["meaning"] * WORD_ENCODER_SHARE)
    assert less["words"] == whole["words"]


def test_a_score_is_the_sum_of_its_terms(tmp_path: Path) -> None:
    docs = [Doc(f"f{n % 3}.py", f"def retry{n}(): retry the call {n} times", f"retry{n}") for n in range(9)]
    for hit in make_searcher(tmp_path, docs).search(Query("retry the call")).hits:
        added = [hit.terms.get(name, 0.0) for name in (*WEIGHTS, "repeat", "definition", "held")]
        assert hit.score == pytest.approx(sum(added), abs=1e-4)


def test_the_repositorys_own_name_tells_no_file_from_another(tmp_path: Path) -> None:
    docs = [Doc("sample.py", "the default of a timeout"), Doc("limits.py", "the default of a timeout")]
    searcher = make_searcher(tmp_path, docs)
    assert searcher.generations[0].repo == "sample"
    assert all("file_name" not in hit.terms for hit in searcher.search(Query("sample default timeout")).hits)
    assert "file_name" in searcher.search(Query("sample")).hits[0].terms


def test_every_weight_has_the_sign_that_is_given() -> None:
    assert all(value <= 0 if name in LOWERING else value >= LEAST.get(name, 0.0) for name, value in WEIGHTS.items())
    assert WEIGHTS.keys() >= LOWERING | FROM_VECTORS | LEAST.keys()


def test_every_weight_is_that_of_a_feature(tmp_path: Path) -> None:
    compared = make_searcher(tmp_path, [Doc("a.py", "retry", "retry")]).compare(Query("retry"))
    assert compared.features.keys() == WEIGHTS.keys()
    assert all(0 <= float(values.min()) <= float(values.max()) <= 1 for values in compared.features.values())


def test_definitions_of_one_name_stand_together_before_all_else(tmp_path: Path) -> None:
    """Two overloads in one file: the second is a repeat of its file, and still before a row that only mentions it."""
    docs = [
        Doc("a.cpp", "void seal(Box b) {}", "seal", qualified="one.seal"),
        Doc("a.cpp", "void seal(Crate c) {}", "seal", qualified="two.seal"),
        *(Doc(f"use{n}.cpp", "seal(b); seal(c); seal(d);", f"use{n}") for n in range(8)),
    ]
    assert found(make_searcher(tmp_path, docs), "seal")[:2] == ["a.cpp", "a.cpp"]
