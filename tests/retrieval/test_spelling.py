from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.retrieval import Query, Searcher
from tests.retrieval.builders import Doc, WordEncoder, make_searcher, paths

DOCS = [
    Doc("recovery.py", "def recover_panic(context):\n    return recovery(context)", "recover_panic"),
    Doc("middleware.py", "def middleware(chain):\n    return chain", "middleware"),
    Doc("bind.py", "def shouldBindJSON(data):\n    return data", "shouldBindJSON"),
    Doc("limits.py", "def abortIndex():\n    return 63", "abortIndex"),
]


class Reader(WordEncoder):
    """Knows one word that no text holds."""

    def knows(self, word: str) -> bool:
        return word == "recovers"


@pytest.mark.parametrize(
    ("text", "first", "notes"),
    [
        ("recovry", "recovery.py", ['no text holds "recovry"; searched for "recovery"']),
        ("midleware", "middleware.py", ['no text holds "midleware"; searched for "middleware"']),
        ("where is the reocvery", "recovery.py", ['no text holds "reocvery"; searched for "recovery"']),
        ("shouldBindJSN", "bind.py", ['no text holds "shouldBindJSN"; searched for "shouldbindjson"']),
        ("recovryMidleware", "", ['no text holds "recovryMidleware"; searched for "recovery middleware"']),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_a_word_that_differs_by_a_letter_is_read_as_the_one_there_is(
    tmp_path: Path, text: str, first: str, notes: list[str], mode: str
) -> None:
    answer = make_searcher(tmp_path, DOCS).search(Query(text, mode=mode))  # type: ignore[arg-type]  # checked there
    assert list(answer.notes) == notes
    assert paths(answer)[0] == first or not first
    assert answer.query.text == text


@pytest.mark.parametrize("text", ["recovery", "reco", "rcvr", "abort_index", "3141592", "Fehlerbehandlung", "рекавери"])
def test_what_is_known_short_spelt_otherwise_or_like_nothing_stays_as_it_is(tmp_path: Path, text: str) -> None:
    notes = make_searcher(tmp_path, DOCS).search(Query(text)).notes
    assert not [note for note in notes if "searched for" in note]


def test_a_word_that_must_occur_or_that_the_encoder_knows_stays_as_it_is(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, DOCS)
    assert searcher.search(Query("recovry", keyword_and=True)).hits == ()
    assert searcher.search(Query("recovry", mode="lexical", no_fusion=True)).hits == ()  # type: ignore[arg-type]
    knowing = Searcher(searcher.generations, Reader(), weights={})
    assert not [note for note in knowing.search(Query("recoverz")).notes if "recovers" in note]


def test_of_several_words_the_commonest_is_meant_and_of_equals_the_first(tmp_path: Path) -> None:
    docs = [Doc(f"{number}.py", "def parser(): pass", "parser") for number in range(3)]
    docs += [Doc("p.py", "def parsed(): pass", "parsed"), Doc("q.py", "def stolen(): wooden()", "stolen")]
    searcher = make_searcher(tmp_path, docs)
    assert searcher.search(Query("parsew")).notes == ('no text holds "parsew"; searched for "parser"',)


def test_a_long_text_is_meant_as_it_is(tmp_path: Path) -> None:
    text = "recovry " + " ".join(f"word{number}" for number in range(20))
    notes = make_searcher(tmp_path, DOCS).search(Query(text)).notes
    assert not [note for note in notes if "searched for" in note]
