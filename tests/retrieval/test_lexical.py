from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.retrieval import Query, Searcher, open_generation
from pipelines.retrieval.analysis import analyse
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.lexical import K1, B, search_lexical, weigh
from pipelines.tokens import terms
from tests.retrieval.builders import Doc, WordEncoder, found, make_generation, make_searcher, make_store, open_docs

WORDS = ["cart", "total", "discount", "retry", "queue", "order", "zone", "ship"]


def make_prose(count: int) -> list[Doc]:
    random = np.random.default_rng(5)
    return [
        Doc(f"d{number}/x{number % 7}.txt", " ".join(random.choice(WORDS, int(random.integers(1, 30)))), kind="window")
        for number in range(count)
    ]


def paths_of(corpus: Corpus, rows: np.ndarray[Any, Any]) -> list[str]:
    located = (corpus.locate(row) for row in rows.tolist())
    return [generation.rows.labels["path"][row] for generation, row in located]


def expected_scores(docs: list[Doc], query: list[str]) -> dict[str, float]:
    """BM25 straight from its definition, over the fields that the index holds."""
    held = {}
    for doc in docs:
        stem = doc.path.rpartition("/")[2].partition(".")[0]
        held[doc.path] = Counter(term for field in (doc.text, doc.path, stem) for term in terms(field))
    average = sum(item.total() for item in held.values()) / len(held)
    scores = {}
    for path, counts in held.items():
        score = 0.0
        for term in query:
            df = sum(1 for item in held.values() if item[term])
            idf = math.log(1 + (len(held) - df + 0.5) / (df + 0.5))
            tf = counts[term]
            score += idf * tf / (tf + K1 * (1 - B + B * counts.total() / average))
        if score:
            scores[path] = score
    return scores


def test_scores_are_those_of_the_definition(tmp_path: Path) -> None:
    docs = make_prose(60)
    corpus = Corpus([open_docs(tmp_path, docs)])
    ranking = search_lexical(corpus, [None], weigh(corpus, {"retry": 1, "queue": 1}), 60)
    found = dict(zip(paths_of(corpus, ranking.rows), ranking.scores.tolist(), strict=True))
    assert found == pytest.approx(expected_scores(docs, ["retry", "queue"]))


@pytest.mark.parametrize("size", [1, 5, 20, 300])
@pytest.mark.parametrize("masked", [False, True])
def test_every_way_of_summing_gives_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, masked: bool
) -> None:
    """Rare words first, then words that every row has: the array may stop early, the sort never does."""
    random = np.random.default_rng(3)
    docs = [
        Doc(f"{n}.txt", " ".join(["cart", *random.choice(WORDS, 12), *(["needle"] * int(n % 37 == 0))]), kind="window")
        for n in range(300)
    ]
    corpus = Corpus([open_docs(tmp_path, docs)])
    mask = np.arange(300) % 3 > 0 if masked else None
    terms = weigh(corpus, {"needle": 3, "retry": 1, "cart": 1, "zone": 1})
    dense = search_lexical(corpus, [mask], terms, size)
    monkeypatch.setattr("pipelines.retrieval.lexical._DENSE_SHARE", 0)
    sparse = search_lexical(corpus, [mask], terms, size)
    assert dense.rows.tolist() == sparse.rows.tolist()
    assert dense.scores.tolist() == sparse.scores.tolist()
    assert mask is None or mask[dense.rows].all()


def test_several_repositories_are_ranked_as_one_collection(tmp_path: Path) -> None:
    docs = make_prose(60)
    store = make_store(tmp_path)
    halves = [
        open_generation(store, repo, make_generation(store, part, repo=repo))
        for repo, part in (("left", docs[:30]), ("right", docs[30:]))
    ]
    corpus = Corpus(halves)
    ranking = search_lexical(corpus, [None, None], weigh(corpus, {"retry": 1}), 60)
    found = dict(zip(paths_of(corpus, ranking.rows), ranking.scores.tolist(), strict=True))
    assert found == pytest.approx(expected_scores(docs, ["retry"]))


def test_ties_at_the_edge_of_the_pool_break_by_chunk_id(tmp_path: Path) -> None:
    docs = [Doc(f"{number}.txt", "same words", kind="window") for number in range(40)]
    corpus = Corpus([open_docs(tmp_path, docs)])
    ranking = search_lexical(corpus, [None], weigh(corpus, {"same": 1}), 5)
    ids = sorted(doc.id("sample") for doc in docs)[:5]
    assert [corpus.generations[0].rows.ids[row].tobytes() for row in ranking.rows.tolist()] == ids


def test_a_long_query_keeps_its_rarest_terms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.retrieval.lexical.MAX_TERMS", 1)
    docs = [Doc("a.txt", "common rare", kind="window"), Doc("b.txt", "common", kind="window")]
    corpus = Corpus([open_docs(tmp_path, docs)])
    assert weigh(corpus, analyse("common rare absent").terms).terms == ("rare",)


AND_DOCS = [
    Doc("a.py", "def getUserById(): fetch user by id", "getUserById"),
    Doc("b.py", "def other(): the user is sold out", "other"),
    Doc("c.py", "def more(): out they sold, draft user", "more"),
    Doc("d.py", "# package-lock.json is read here", kind="module"),
]


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
@pytest.mark.parametrize("no_fusion", [False, True])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user", ["a.py", "b.py", "c.py"]),
        ("USER sold", ["b.py", "c.py"]),
        ('user "sold out"', ["b.py"]),
        ("user sold -draft", ["b.py"]),
        ("getuserbyid", ["a.py"]),
        ("package-lock.json", ["d.py"]),
        ("user absent", []),
    ],
)
def test_keyword_and_holds_in_every_mode(
    tmp_path: Path, mode: str, no_fusion: bool, text: str, expected: list[str]
) -> None:
    searcher = make_searcher(tmp_path, AND_DOCS)
    assert sorted(found(searcher, text, keyword_and=True, mode=mode, no_fusion=no_fusion)) == expected


def test_keyword_and_is_decided_before_the_pool_is_cut(tmp_path: Path) -> None:
    """The one row that has both words is far outside the pool of either branch."""
    docs = [Doc(f"{number}.py", "alpha " * 9, kind="module") for number in range(60)]
    needle = Doc("needle.py", "alpha beta " + "filler words stand here " * 40, kind="module")
    searcher = make_searcher(tmp_path, [*docs, needle])
    for options in ({}, {"no_fusion": True}, {"mode": "lexical"}, {"mode": "semantic"}):
        answer = found(searcher, "alpha beta", keyword_and=True, limit=1, candidate_pool=1, **options)
        assert answer == ["needle.py"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"paths": ("src/*",)}, {"src/a.py", "src/b.go"}),
        ({"languages": ("go",)}, {"src/b.go"}),
        ({"scopes": ("web",)}, {"web/c.py"}),
        ({"kinds": ("class",)}, {"web/c.py"}),
        ({"paths": ("src",), "languages": ("python",)}, {"src/a.py"}),
        ({"languages": ("golang", "Python"), "kinds": ("Function",)}, {"src/a.py", "src/b.go"}),
        ({"scopes": ("w*",)}, {"web/c.py"}),
        ({"languages": ("go",), "scopes": ("web",)}, set()),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical", "symbol"])
def test_filters_hold_in_every_mode(
    tmp_path: Path, options: dict[str, tuple[str, ...]], expected: set[str], mode: str
) -> None:
    docs = [
        Doc("src/a.py", "def total(): pass", "total"),
        Doc("src/b.go", "func total() {}", "total", language="go"),
        Doc("web/c.py", "class total: pass", "total", kind="class", scope="web"),
    ]
    searcher = Searcher([open_docs(tmp_path, docs)], WordEncoder())
    answer = searcher.search(Query("total", mode=mode, **options))  # type: ignore[arg-type]
    assert {hit.path for hit in answer.hits} == expected


def test_filters_apply_before_the_pool_is_cut(tmp_path: Path) -> None:
    docs = [Doc(f"near/{number}.py", "cart total", kind="module") for number in range(30)]
    searcher = make_searcher(tmp_path, [*docs, Doc("far/x.py", "cart and much else besides", kind="module")])
    for mode in ("hybrid", "semantic", "lexical"):
        assert found(searcher, "cart total", mode=mode, limit=1, candidate_pool=1, paths=("far/*",)) == ["far/x.py"]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("초과근무", "ko.md"),
        ("铁律", "zh.md"),
        ("кассовый разрыв", "ru.md"),
        ("naïve", "fr.md"),
        ("HCA060T", "part.md"),
    ],
)
def test_other_scripts_are_found_by_their_words(tmp_path: Path, text: str, path: str) -> None:
    prose = {
        "ko.md": "초과근무 수당을 계산한다",
        "zh.md": "SSH铁律服务器必须重启",
        "ru.md": "кассовый разрыв закрывается",
        "fr.md": "une approche naïve",
        "part.md": "connector HCA060T fits",
    }
    docs = [Doc(name, content, kind="section", language="markdown") for name, content in prose.items()]
    assert found(make_searcher(tmp_path, docs), text, mode="lexical") == [path]
