from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.retrieval import Query, Searcher
from tests.retrieval.builders import Doc, make_searcher

PATHS = (
    "core/retrieval/searcher.py",
    "core/retrieval/fusion.py",
    "core/discover/listing.py",
    "docs/guide.md",
    "run.py",
)


def searcher_of(root: Path, paths: tuple[str, ...] = PATHS) -> Searcher:
    docs = [
        Doc(path, "def total(): pass", "total", language="markdown" if path[-1] == "d" else "python") for path in paths
    ]
    return make_searcher(root, docs)


def notes(searcher: Searcher, **filters: tuple[str, ...]) -> tuple[str, ...]:
    answer = searcher.search(Query("total", **filters))  # type: ignore[arg-type]
    assert not answer.hits
    return answer.notes


@pytest.mark.parametrize(
    ("glob", "instead"),
    [
        ("core/retreival/*.py", "near it: core/retrieval"),
        ("core/retrieval/sercher.py", "near it: core/retrieval/searcher.py"),
        ("CORE/**", "near it: core"),
        ("Docs/guide.md", "near it: docs"),
        ("retrieval/*.py", "near it: core/retrieval"),
        ("**/retreival/*.py", "near it: retrieval"),
        ("serch.py", "near it: searcher.py"),
        ("*.pyi", "near it: *.py"),
        ("*.zig", "there are: *.md, *.py"),
        ("/web", "there are: core, docs, run.py"),
        ("core/web/x.py", "there are: core/discover, core/retrieval"),
        ("///", "there are: core, docs, run.py"),
    ],
)
def test_a_path_that_fits_nothing_is_told_with_what_is_near(tmp_path: Path, glob: str, instead: str) -> None:
    assert notes(searcher_of(tmp_path), paths=(glob,)) == (f"no file of the index matches path {glob!r}; {instead}",)


def test_one_path_of_several_that_fits_is_enough(tmp_path: Path) -> None:
    searcher = searcher_of(tmp_path)
    assert searcher.search(Query("total", paths=("cor", "docs"))).notes == ()
    assert len(notes(searcher, paths=("cor", "dosc"))) == 2


def test_filters_that_exclude_one_another_are_told_together(tmp_path: Path) -> None:
    assert notes(searcher_of(tmp_path), paths=("core",), languages=("markdown",)) == (
        "no file of the index passes all the filters together: path 'core', language 'markdown'",
    )


def test_a_kind_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    assert notes(searcher_of(tmp_path), kinds=("class",)) == (
        "the index has no chunk of kind class; there are: function",
    )


def test_nothing_is_told_of_filters_that_leave_something(tmp_path: Path) -> None:
    answer = searcher_of(tmp_path).search(Query('"no such phrase"', keyword_and=True, paths=("core",)))
    assert (answer.hits, answer.notes) == ((), ())


def test_what_is_told_is_bounded(tmp_path: Path) -> None:
    searcher = searcher_of(tmp_path, tuple(f"folder{number}/{'x' * 200}.py" for number in range(50)))
    (note,) = notes(searcher, paths=("folders/" + "y" * 900,))
    assert len(note) < 400
    (note,) = notes(searcher, paths=("zzz/" * 200,))
    assert note.endswith("and 42 more")
    assert len(note) < 1_000
