from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.retrieval.inflection import other_forms
from tests.retrieval.builders import Doc, found, make_searcher


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("decorators", "decorator"),
        ("parsing", "parse"),
        ("parser", "parsing"),
        ("retries", "retry"),
        ("retry", "retries"),
        ("validation", "validate"),
        ("running", "runner"),
        ("run", ""),
        ("classes", "class"),
        ("evicted", "evictions"),
        ("evictions", "evict"),
        ("operations", "operate"),
    ],
)
def test_forms_reach_each_other(word: str, other: str) -> None:
    forms = other_forms(word)
    assert word not in forms
    assert list(forms) == sorted(set(forms))
    assert other in forms if other else forms == ()


@pytest.mark.parametrize("word", ["", "id", "sha256", "snake_case", "초과근무", "x" * 50])
def test_what_is_no_english_word_has_no_forms(word: str) -> None:
    assert other_forms(word) == ()


def test_an_exact_word_stands_before_its_other_forms(tmp_path: Path) -> None:
    docs = [
        Doc("a.py", "the decorator applies", kind="module"),
        Doc("b.py", "the decorators apply", kind="module"),
        Doc("c.py", "nothing of the kind", kind="module"),
    ]
    assert found(make_searcher(tmp_path, docs), "decorators", mode="lexical") == ["b.py", "a.py"]
