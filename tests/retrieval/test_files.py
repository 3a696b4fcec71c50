from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.retrieval.files import best_of_file, places_in_file, rows_of_file, sum_of_file
from tests.retrieval.builders import Doc, found, make_searcher


def test_a_file_has_the_best_and_the_sum_of_its_rows() -> None:
    files = np.array([7, 9, 7, 7])
    values = np.array([0.3, 0.9, 0.2, 0.1])
    assert best_of_file(files, values) == pytest.approx([0.3, 0.9, 0.3, 0.3])
    assert sum_of_file(files, values, 2) == pytest.approx([0.5, 0.9, 0.5, 0.5])
    assert rows_of_file(files).tolist() == [3, 1, 3, 3]


def test_of_no_rows_there_is_nothing_to_say() -> None:
    nothing = np.zeros(0, np.int64)
    for values in (best_of_file(nothing, np.zeros(0)), sum_of_file(nothing, np.zeros(0), 5), rows_of_file(nothing)):
        assert values.tolist() == []


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
