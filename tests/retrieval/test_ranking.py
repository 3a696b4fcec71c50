from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.retrieval import open_generation
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.ranking import SEMANTIC_WEIGHT, WORD_ENCODER_WEIGHT, branch_weights
from tests.retrieval.builders import Doc, WordEncoder, found, make_generation, make_searcher, make_store


class Vocab(WordEncoder):
    name = "vocab"


@pytest.mark.parametrize(("encoder", "weight"), [(Vocab(), WORD_ENCODER_WEIGHT), (WordEncoder(), SEMANTIC_WEIGHT)])
def test_vectors_that_add_up_words_count_less(tmp_path: Path, encoder: WordEncoder, weight: float) -> None:
    store = make_store(tmp_path)
    document = make_generation(store, [Doc("a.py", "x", kind="module")], encoder=encoder)
    with open_generation(store, "sample", document) as generation:
        assert branch_weights(Corpus([generation]))["semantic"] == weight


def test_definitions_of_one_name_stand_together_before_all_else(tmp_path: Path) -> None:
    """Two overloads in one file: the second is a repeat of its file, and still before a row that only mentions it."""
    docs = [
        Doc("a.cpp", "void seal(Box b) {}", "seal", qualified="one.seal"),
        Doc("a.cpp", "void seal(Crate c) {}", "seal", qualified="two.seal"),
        *(Doc(f"use{n}.cpp", "seal(b); seal(c); seal(d);", f"use{n}") for n in range(8)),
    ]
    assert found(make_searcher(tmp_path, docs), "seal")[:2] == ["a.cpp", "a.cpp"]
