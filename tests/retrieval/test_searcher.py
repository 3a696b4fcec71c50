from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import InputError
from pipelines.retrieval import Query, Searcher, open_generation
from pipelines.retrieval import searcher as searcher_module
from tests.retrieval.builders import Doc, WordEncoder, found, make_generation, make_searcher, make_store
from tests.retrieval.test_lexical import make_prose

ODD = [
    *("multi-agent", "v1.2", "don't", "std::map", "NOT", "a AND", "*", '"unclosed', "col:x", "(", "^foo"),
    *("--error-on-warnings", "C++", "$x->y", "\\\\", "🙂", "[a-", "(?P<", ".*+?{1,", "the of", "%s", "\0", "a\0b"),
    *("x " * 5_000, "y" * 10_000, "\u202e", "İ", "ﬁ", "a.b.c.d.e", "/", "::", "#", "-", '""', "()", "\ud800"),
]


@pytest.mark.parametrize("text", ODD, ids=[ascii(text[:20]) for text in ODD])
def test_any_text_is_a_query(tmp_path: Path, text: str) -> None:
    docs = [
        Doc("a.py", "def map(): don't std::map v1.2 multi-agent", "map", qualified="std.map"),
        Doc("b.md", "# C++\nnotes 🙂", "C++", kind="section", language="markdown"),
    ]
    searcher = make_searcher(tmp_path, docs)
    for mode in ("hybrid", "semantic", "lexical", "symbol"):
        for keyword_and in (False, True):
            answer = searcher.search(Query(text, mode=mode, keyword_and=keyword_and, expand="neighbors"))  # type: ignore[arg-type]
            json.dumps(asdict(answer), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("text", "path"),
    [("multi-agent", "a.py"), ("v1.2", "a.py"), ("don't", "a.py"), ("std::map", "a.py"), ("C++", "b.md")],
)
def test_punctuation_is_literal(tmp_path: Path, text: str, path: str) -> None:
    docs = [
        Doc("a.py", "def map(): don't std::map v1.2 multi-agent", "map", qualified="std.map"),
        Doc("b.md", "# C++\nnotes in c", "C++", kind="section", language="markdown"),
    ]
    assert found(make_searcher(tmp_path, docs), text, mode="lexical")[0] == path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("user", "a.py"),
        ("get user", "a.py"),
        ("parse html", "b.py"),
        ("PARSE response", "b.py"),
        ("snake name", "c.py"),
        ("oauth client", "d.py"),
        ("kebab", "kebab-file.py"),
    ],
)
def test_identifiers_are_found_by_their_parts(tmp_path: Path, text: str, path: str) -> None:
    docs = [
        Doc("a.py", "def getUserById(): pass", "getUserById"),
        Doc("b.py", "def parseHTMLResponse(): pass", "parseHTMLResponse"),
        Doc("c.py", "def snake_case_name2(): pass", "snake_case_name2"),
        Doc("d.py", "def oauth2Client(): pass", "oauth2Client"),
        Doc("kebab-file.py", "pass", kind="module"),
    ]
    for mode in ("hybrid", "lexical"):
        assert found(make_searcher(tmp_path / mode, docs), text, mode=mode)[0] == path


def test_a_paraphrase_that_shares_no_name_is_found_by_the_semantic_branch(tmp_path: Path) -> None:
    docs = [*make_prose(20), Doc("x.py", "giraffe elephant", kind="module")]
    answer = make_searcher(tmp_path, docs).search(Query("elephant giraffe lion", mode="semantic"))  # type: ignore[arg-type]
    assert answer.hits[0].path == "x.py"
    assert answer.counts["lexical"] == 0


def test_the_order_of_repositories_changes_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    docs = make_prose(60)
    parts = {"one": docs[:20], "two": docs[20:40], "three": docs[40:]}
    opened = [open_generation(store, repo, make_generation(store, part, repo=repo)) for repo, part in parts.items()]
    for options in ({}, {"fusion": "late"}, {"no_fusion": True}, {"mode": "lexical"}, {"keyword_and": True}):
        query = Query("retry order", limit=40, candidate_pool=40, **options)
        forward = Searcher(opened, WordEncoder()).search(query)
        backward = Searcher(opened[::-1], WordEncoder()).search(query)
        assert forward.hits == backward.hits
        assert forward.counts == backward.counts


def test_two_equal_queries_give_equal_answers(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, make_prose(50))
    first, second = (searcher.search(Query("queue of orders", expand="blast")) for _ in range(2))
    assert first.hits == second.hits


def test_an_answer_counts_times_and_explains(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, make_prose(50))
    answer = searcher.search(Query("retry the queue", limit=3, candidate_pool=20, explain=True, expand="blast"))
    assert len(answer.hits) == 3
    assert set(answer.counts) == {"lexical", "semantic", "symbol", "fused"}
    assert answer.counts["semantic"] == 20
    assert set(answer.timing_ms) == {
        *("filter", "lexical", "symbol", "encode", "semantic", "fuse", "excerpt", "expand", "total"),
    }
    assert answer.analysis["terms"] == ["retry", "queue"]
    assert [item.rank for item in answer.hits] == [1, 2, 3]


def test_a_smaller_limit_is_a_prefix(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, make_prose(50))
    many = searcher.search(Query("retry order zone", limit=30)).hits
    assert searcher.search(Query("retry order zone", limit=5)).hits == many[:5]


@pytest.mark.parametrize("options", [{}, {"fusion": "late"}, {"no_fusion": True}, {"mode": "lexical"}])
def test_scores_fall_with_the_rank(tmp_path: Path, options: dict[str, object]) -> None:
    docs = [
        *make_prose(40),
        *(Doc("long.py", f"def settle(): retry the queue {part}", "settle", part=part) for part in range(6)),
    ]
    searcher = make_searcher(tmp_path, docs)
    for text in ("retry the queue", "settle", "order zone", "queue of settle"):
        scores = [hit.score for hit in searcher.search(Query(text, limit=40, candidate_pool=40, **options)).hits]  # type: ignore[arg-type]
        assert scores == sorted(scores, reverse=True)


def test_a_symbol_is_shown_once_while_anything_else_is_left(tmp_path: Path) -> None:
    parts = [Doc("long.py", f"def settle(): accounts step {part}", "settle", part=part) for part in range(3)]
    other = Doc("other.py", "settle the shop", kind="module")
    searcher = make_searcher(tmp_path, [*parts, other])
    assert found(searcher, "settle", limit=2) == ["long.py", "other.py"]
    hits = searcher.search(Query("settle")).hits
    assert [hit.path for hit in hits] == ["long.py", "other.py", "long.py", "long.py"]
    assert hits[1].score >= hits[2].score


def test_a_name_that_stands_nowhere_is_told(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, make_prose(10))
    assert searcher.search(Query("where does retry use circuitBreakerX")).notes == ('no text holds "circuitBreakerX"',)
    assert searcher.search(Query("where does retry happen")).notes == ()


def test_large_branches_are_asked_at_the_same_time_with_equal_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = make_searcher(tmp_path, make_prose(50))
    texts = ("retry the queue", "zone", "order of the day")
    one_by_one = [searcher.search(Query(text)).hits for text in texts]
    monkeypatch.setattr(searcher_module, "_THREADS_FROM_ROWS", 0)
    assert [searcher.search(Query(text)).hits for text in texts] == one_by_one


class Slow(Searcher):
    """A searcher of which one branch or the other is done last."""

    last = ""

    def _by_words(self, *arguments: Any) -> Any:
        time.sleep(0.02 if self.last == "words" else 0)
        return super()._by_words(*arguments)

    def _pool(self, *arguments: Any) -> Any:
        time.sleep(0.02 if self.last == "meaning" else 0)
        return super()._pool(*arguments)


@pytest.mark.parametrize("options", [{}, {"fusion": "late"}, {"keyword_and": True}])
def test_which_branch_is_done_first_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(searcher_module, "_THREADS_FROM_ROWS", 0)
    searcher = Slow(make_searcher(tmp_path, make_prose(50)).generations, WordEncoder())
    answers = []
    for last in ("words", "meaning"):
        searcher.last = last
        answers.append([searcher.search(Query(text, **options)) for text in ("retry the queue", "zone", "order day")])
    assert [item.hits for item in answers[0]] == [item.hits for item in answers[1]]
    assert [item.counts for item in answers[0]] == [item.counts for item in answers[1]]


@pytest.mark.parametrize(("limit", "pool"), [(1, 1), (3, 7), (10, 10), (40, 50), (200, 10_000)])
def test_the_limit_and_the_pool_are_kept(tmp_path: Path, limit: int, pool: int) -> None:
    searcher = make_searcher(tmp_path, make_prose(60))
    for fusion in ("rrf", "late"):
        answer = searcher.search(Query("retry the queue", limit=limit, candidate_pool=pool, fusion=fusion))
        assert answer.counts["semantic"] == min(pool, 60)
        assert answer.counts["lexical"] <= pool
        assert len(answer.hits) == min(limit, answer.counts["fused"])


def test_a_thousand_queries_have_one_answer_each(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, make_prose(30))
    words = ["retry", "queue", "order", "zone", "Cart", "stock", "ship", "tax", "the", "zzz"]
    texts = [f"{first} {second} {third}" for first in words for second in words for third in words]
    asked = [[hit.chunk_id for hit in searcher.search(Query(text, limit=3)).hits] for text in texts]
    again = [[hit.chunk_id for hit in searcher.search(Query(text, limit=3)).hits] for text in reversed(texts)]
    assert again[::-1] == asked


def test_a_query_of_which_no_word_occurs_says_so(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, make_prose(10))
    assert searcher.search(Query("nonsensewordxyz")).notes == (
        'no text holds "nonsensewordxyz"; these are only near in meaning',
    )
    assert searcher.search(Query("retry")).notes == ()
    assert searcher.search(Query("nonsensewordxyz", mode="semantic")).notes == ()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "known"), [({"languages": ("cobol",)}, "known: python"), ({"scopes": ("web",)}, "has no scopes")]
)
def test_a_filter_that_nothing_can_meet_is_an_error(
    tmp_path: Path, options: dict[str, tuple[str, ...]], known: str
) -> None:
    searcher = make_searcher(tmp_path, [Doc("a.py", "def total(): pass", "total")])
    with pytest.raises(InputError, match=known):
        searcher.search(Query("total", **options))  # type: ignore[arg-type]


def test_a_label_that_is_not_there_is_told_with_the_nearest_of_those_that_are(tmp_path: Path) -> None:
    docs = [Doc(f"a{number}.py", "total", "total", scope=f"scope{number}") for number in range(20)]
    docs.append(Doc("b.py", "total", "total", scope="web-client"))
    with pytest.raises(InputError) as caught:
        make_searcher(tmp_path, docs).search(Query("total", scopes=("webclient",)))
    assert caught.value.message == "no file of the index has scope 'webclient'"
    assert caught.value.hint.startswith("known: web-client, scope0, ")
    assert caught.value.hint.endswith(", and 13 more")
