from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.retrieval import Query
from tests.retrieval.builders import Doc, found, make_searcher


def test_a_test_stands_behind_the_code_it_tests_unless_tests_are_asked_for(tmp_path: Path) -> None:
    text = "retry with growing delay until the limit"
    docs = [
        Doc("tests/test_retry.py", text, "check_retry", is_test=True),
        Doc("src/retry.py", text + " then give up", "back_off"),
    ]
    searcher = make_searcher(tmp_path, docs)
    assert found(searcher, "growing delay until the limit")[0] == "src/retry.py"
    assert found(searcher, "test of growing delay until the limit")[0] == "tests/test_retry.py"


def test_a_hub_is_not_carried_to_a_query_it_does_not_answer(tmp_path: Path) -> None:
    docs = [
        Doc("hub.py", "def log(message): write the message", "log", pagerank=1.0, blast=1.0),
        Doc("a.py", "def tax(): compute value added tax for an order", "tax"),
        Doc("b.py", "def ship(): choose a carrier for the order", "ship"),
    ]
    searcher = make_searcher(tmp_path, docs)
    assert found(searcher, "value added tax")[0] == "a.py"
    assert found(searcher, "choose a carrier")[0] == "b.py"


def test_a_central_row_wins_a_tie(tmp_path: Path) -> None:
    docs = [
        Doc(
            f"{name}.py",
            "carrier of the order",
            kind="function",
            name="choose",
            pagerank=rank,
            qualified=f"{name}.choose",
        )
        for name, rank in (("one", 0.1), ("two", 0.9), ("three", 0.5))
    ]
    answer = make_searcher(tmp_path, docs).search(Query("carrier of the order", mode="lexical"))  # type: ignore[arg-type]
    assert answer.hits[0].path == "two.py"


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("src/run.py", "examples/run.py"),
        ("src/run.md", "src/run.json"),
        ("carrier/mod.rs", "mod/other.rs"),
        ("carrier/run.py", "vendor/run.py"),
    ],
)
def test_the_place_of_a_file_decides_between_equal_rows(tmp_path: Path, better: str, worse: str) -> None:
    docs = [Doc(path, "choose a carrier for the order", kind="window", language="") for path in (worse, better)]
    assert found(make_searcher(tmp_path, docs), "choose a carrier", mode="lexical") == [better, worse]


def test_a_query_that_names_the_place_is_not_turned_away(tmp_path: Path) -> None:
    docs = [
        Doc("src/run.py", "choose a carrier for the order", kind="window"),
        Doc("examples/run.py", "choose a carrier for the order", kind="window"),
    ]
    assert found(make_searcher(tmp_path, docs), "example of a carrier")[0] == "examples/run.py"


def test_a_file_called_like_the_query_stands_first(tmp_path: Path) -> None:
    docs = [
        Doc("Transaction.kt", "open fun begin", kind="window", language="kotlin"),
        Doc("Other.kt", "transaction transaction transaction", kind="window", language="kotlin"),
    ]
    assert found(make_searcher(tmp_path, docs), "Transaction", mode="lexical")[0] == "Transaction.kt"


def test_a_file_named_by_the_query_is_preferred(tmp_path: Path) -> None:
    docs = [
        Doc("shop/pricing.py", "def apply(): work on the rules for an amount", "apply"),
        Doc("shop/other.py", "def apply2(): work on the rules for an amount", "apply2"),
    ]
    assert found(make_searcher(tmp_path, docs), "pricing rules")[0] == "shop/pricing.py"


@pytest.mark.parametrize("path", ["examples/app.py", "benchmarks/app.py", "tests/test_app.py"])
def test_a_sample_declares_nothing_that_other_code_uses(tmp_path: Path, path: str) -> None:
    sample = Doc(path, "retry_limit = 3", kind="module", is_test=path.startswith("tests"))
    use = Doc("shop/send.py", "def send(conf): again(conf.retry_limit)", "send")
    for docs, text in (([sample, use], "retry_limit"), ([sample], "retry_limit"), ([sample, use], "retry_limit test")):
        hits = make_searcher(tmp_path / str(len(docs)) / text[-4:], docs).search(Query(text)).hits
        lifted = {hit.path for hit in hits if "definition" in hit.terms}
        assert lifted == ({path} if len(docs) == 1 else set())
