from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.evaluation.known_items import first_sentence, known_names, known_sentences
from pipelines.retrieval import open_generation
from tests.retrieval.builders import Doc, make_generation, make_store

DOCS = [
    Doc("a.py", "def apply_tax(): pass", "apply_tax", doc="Add the tax that the country asks for. More."),
    Doc("b.py", "class Cart: pass", "Cart", kind="class", qualified="shop.Cart"),
    Doc("c.py", "def run(): pass", "run"),
    Doc("d.py", "def run(): pass", "run"),
    Doc("e.md", "# Tax\nprose", "Tax", kind="section", language="markdown"),
]


def test_only_symbols_with_a_name_of_their_own_are_drawn(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with open_generation(store, "sample", make_generation(store, DOCS)) as generation:
        names = known_names(generation, 50)
        assert {case.query for case in names} == {"apply_tax", "Cart"}
        assert known_names(generation, 1) == names[:1]
        sentences = known_sentences(store, generation, names)
        assert [(case.query, case.kind) for case in sentences] == [
            ("Add the tax that the country asks for.", "doc_sentence")
        ]


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        ("Return x.", ""),
        ("Count the rows of a table. And more.", "Count the rows of a table."),
        ("Count the\n  rows of a table\n\nBody", "Count the rows of a table"),
        ("Count the rows of it\n:param x: y", "Count the rows of it"),
        ("word " * 60, ""),
        ("", ""),
    ],
)
def test_first_sentence(doc: str, sentence: str) -> None:
    assert first_sentence(doc) == sentence
