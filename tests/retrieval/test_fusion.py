from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from pipelines.retrieval import Query
from pipelines.retrieval.fusion import LATE_WEIGHTS, RESERVED, late, reciprocal_ranks, reserve, stand_in, union
from tests.retrieval.builders import Call, Doc, make_searcher


def rows(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def test_a_rank_counts_by_its_reciprocal() -> None:
    found = reciprocal_ranks(rows(3, 7, 9), rows(7, 3), 8)
    assert found == pytest.approx([9 / 10, 1, 0])
    assert reciprocal_ranks(rows(3), rows(), 8).tolist() == [0]


def test_the_order_in_which_branches_complete_changes_no_bit() -> None:
    branches = {"lexical": rows(5, 1, 4), "semantic": rows(4, 2, 5), "symbol": rows(1)}
    results = set()
    for order in itertools.permutations(branches):
        permuted = {name: branches[name] for name in order}
        results.add((union(permuted).tobytes(), reserve(rows(2, 4, 5, 1), permuted).tobytes()))
    assert len(results) == 1


def test_reserving_moves_only_what_is_missing() -> None:
    ordered = rows(1, 2, 3, 4, 5, 6, 7)
    assert reserve(ordered, {"lexical": rows(7, 1)}, {"lexical": 3}).tolist() == [1, 2, 7, 3, 4, 5, 6]
    assert reserve(ordered, {"lexical": rows(2)}, {"lexical": 3}) is ordered
    assert reserve(ordered, {"semantic": rows(7)}, {"lexical": 3}) is ordered
    both = {"lexical": rows(7), "semantic": rows(6)}
    assert reserve(ordered, both, {"semantic": 1, "lexical": 2}).tolist() == [6, 7, 1, 2, 3, 4, 5]


def test_the_exact_token_of_one_branch_is_among_the_first_hits(tmp_path: Path) -> None:
    """Rows that share every other word of the question are near in both branches; only one holds the error code."""
    crowd = [
        Doc(f"c{number:02}.py", "payment provider error code retry payment error code provider", kind="module")
        for number in range(40)
    ]
    exact = Doc("exact.py", "zz9001 " + "wholly unrelated filler " * 30, kind="module")
    answer = make_searcher(tmp_path, [*crowd, exact]).search(Query("payment provider error code zz9001"))
    assert "exact.py" in [hit.path for hit in answer.hits[: RESERVED["lexical"]]]


def test_late_is_the_weighted_sum_of_its_terms() -> None:
    terms = {name: np.array([1.0, 0.5]) for name in LATE_WEIGHTS}
    assert late(rows(1, 2), terms).scores == pytest.approx([1.0, 0.5])
    assert sum(LATE_WEIGHTS.values()) == pytest.approx(1.0)


def test_weights_of_inactive_terms_go_to_the_others() -> None:
    fused = late(rows(1), {"semantic": np.array([0.8]), "sketch": np.array([0.4])})
    assert fused.scores == pytest.approx([(0.35 * 0.8 + 0.15 * 0.4) / 0.5])


def test_late_reports_terms_that_are_the_same_for_every_row(tmp_path: Path) -> None:
    docs = [Doc("a.py", "def cart(): pass", "cart"), Doc("b.py", "def zone(): pass", "zone")]
    answer = make_searcher(tmp_path, docs).search(Query("cart", fusion="late"))
    assert set(answer.inactive) == {"blast", "centrality"}
    assert set(answer.hits[0].terms) >= {"semantic", "name", "sketch"}
    assert not {"blast", "centrality"} & set(answer.hits[0].terms)


def test_late_uses_ranks_names_and_sketches(tmp_path: Path) -> None:
    docs = [
        Doc("a.py", "def cart(): pass", "cart", pagerank=0.2, blast=0.3),
        Doc("b.py", "def zone(): pass", "zone", pagerank=0.9, blast=0.8),
    ]
    answer = make_searcher(tmp_path, docs, calls=[Call("cart", "zone")]).search(Query("cart", fusion="late"))
    terms = {hit.symbol: hit.terms for hit in answer.hits}
    assert answer.inactive == {}
    assert (terms["cart"]["centrality"], terms["cart"]["blast"]) == pytest.approx((0.2, 0.3))
    assert (terms["cart"]["name"], terms["cart"]["sketch"]) == (1.0, 1.0)
    assert (terms["zone"]["name"], terms["zone"]["sketch"]) == (0.0, 0.0)
    for hit in answer.hits:
        weighed = sum(weight * hit.terms[name] for name, weight in LATE_WEIGHTS.items())
        assert hit.score == pytest.approx(weighed, abs=1e-5)
        assert all(0 <= hit.terms[name] <= 1 for name in LATE_WEIGHTS)


def test_a_row_without_a_vector_has_the_rank_of_its_words() -> None:
    lexical, semantic = np.array([7, 3, 9, 1]), np.array([3, 1, 5])
    nowhere = np.array([True, False, True, False])
    assert stand_in(lexical, nowhere, semantic).tolist() == [7, 3, 9, 1, 5]
    assert stand_in(lexical, ~nowhere & nowhere, semantic).tolist() == semantic.tolist()
    assert stand_in(lexical, nowhere | ~nowhere, semantic[:0]).tolist() == lexical.tolist()


def test_settings_are_found_by_their_words_as_well_as_code_is(tmp_path: Path) -> None:
    docs = [
        Doc("tox.ini", "line length of the wheel", kind="window", language="cfg"),
        *(Doc(f"a{n}.py", f"length of a wheel {n}", f"a{n}") for n in range(8)),
    ]
    answer = make_searcher(tmp_path, docs).search(Query("line length wheel"))
    assert answer.hits[0].path == "tox.ini"
    assert answer.hits[0].distance is None
