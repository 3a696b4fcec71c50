from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import InputError
from pipelines.evaluation.benchmark import Question, Subject, Target, hits_target, outcome, read_benchmark
from tests.retrieval.builders import Doc, make_searcher

QUESTION = {"query": "retry", "category": "symbol", "relevant": ["src/retry.py"], "secondary": []}


def write(root: Path, *questions: Any, **entry: Any) -> Path:
    (root / "annotations").mkdir()
    repository = {"name": "shop", "language": "python", "benchmark_root": "src", **entry}
    (root / "repos.json").write_text(json.dumps([repository, {"name": "unasked", "language": "go"}]))
    (root / "annotations" / "shop.json").write_text(json.dumps(questions))
    return root


def test_repositories_with_questions_are_read(tmp_path: Path) -> None:
    lines = {"path": "src/cart.py", "start_line": 3, "end_line": 9}
    folder = write(tmp_path, {**QUESTION, "secondary": [lines]})
    assert read_benchmark(folder) == (
        Subject(
            "shop",
            "python",
            "src",
            (Question("retry", "symbol", (Target("src/retry.py"), Target("src/cart.py", 3, 9))),),
        ),
    )


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ({**QUESTION, "relevant": []}, "has no target"),
        ({**QUESTION, "relevant": [{"start_line": 3}]}, "no 'path'"),
        ({"query": "x", "relevant": ["a"]}, "no 'category'"),
        ("retry", "no 'relevant'"),
    ],
)
def test_a_question_of_another_form_is_refused_by_its_file(tmp_path: Path, question: Any, told: str) -> None:
    with pytest.raises(InputError, match=rf"shop.json.*{told}"):
        read_benchmark(write(tmp_path, question))


def test_a_folder_without_a_benchmark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_benchmark(tmp_path)
    (tmp_path / "repos.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        read_benchmark(tmp_path)
    (tmp_path / "repos.json").write_text("{}")
    with pytest.raises(InputError, match="must hold a list"):
        read_benchmark(tmp_path)
    (tmp_path / "repos.json").write_text("[]")
    with pytest.raises(InputError, match="has no questions"):
        read_benchmark(tmp_path)


@pytest.mark.parametrize(
    ("target", "path", "lines", "found"),
    [
        (Target("src/retry.py"), "retry.py", (1, 2), True),
        (Target("retry.py"), "deep/retry.py", (1, 2), True),
        (Target("try.py"), "retry.py", (1, 2), False),
        (Target("src/retry.py", 3, 9), "retry.py", (9, 12), True),
        (Target("src/retry.py", 3, 9), "retry.py", (10, 12), False),
    ],
)
def test_a_target_is_hit_by_the_end_of_a_path_and_by_its_lines(
    target: Target, path: str, lines: tuple[int, int], found: bool
) -> None:
    assert hits_target(Subject("shop", "python", "src", ()), target, path, *lines) is found


def test_each_target_has_the_rank_of_the_first_hit(tmp_path: Path) -> None:
    searcher = make_searcher(
        tmp_path, [Doc("retry.py", "def retry(): pass", "retry"), Doc("cart.py", "retry the cart")]
    )
    from pipelines.retrieval import Query

    hits = searcher.search(Query("retry")).hits
    question = Question("retry", "symbol", (Target("cart.py"), Target("retry.py"), Target("gone.py")))
    assert outcome(Subject("shop", "python", "", ()), question, hits).primary == (2, 1, None)
