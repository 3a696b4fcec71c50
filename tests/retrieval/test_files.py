from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.retrieval.files import SUPPORTING_ROWS, file_support, places_in_file
from tests.retrieval.builders import Doc, found, make_searcher


def test_rows_of_a_file_support_one_another() -> None:
    files = np.array([7, 9, 7, 7])
    evidence = np.array([0.3, 0.9, 0.2, 0.1])
    assert file_support(files, evidence) == pytest.approx([0.6, 0.9, 0.6, 0.6])


def test_only_the_best_rows_of_a_file_count() -> None:
    many = file_support(np.zeros(50, np.int64), np.full(50, 0.1))
    assert many == pytest.approx([0.1 * SUPPORTING_ROWS] * 50)
    assert file_support(np.zeros(0, np.int64), np.zeros(0)).tolist() == []


def test_places_count_the_better_rows_of_the_same_file() -> None:
    files = np.array([1, 2, 1, 1])
    assert places_in_file(files, np.array([0.1, 0.5, 0.9, 0.1])).tolist() == [1, 0, 0, 2]


def test_a_file_with_many_fair_rows_stands_before_one_with_a_single_fair_row(tmp_path: Path) -> None:
    docs = [
        Doc("single.py", "def x(): session token lifetime", "x"),
        *(Doc("many.py", f"def f{n}(): session token of a client {n}", f"f{n}") for n in range(5)),
        *(Doc(f"other{n}.py", f"def g{n}(): wholly other matter {n}", f"g{n}") for n in range(10)),
    ]
    order = found(make_searcher(tmp_path, docs), "session token client", limit=16)
    assert order[0] == "many.py"
    assert order.index("single.py") <= 2
