from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assets_defs.building import index
from assets_defs.opening import open_index
from pipelines.errors import InputError, NothingIndexed
from pipelines.progress import Silent
from pipelines.retrieval import Query
from pipelines.serving.cli.host import IndexRequest
from resources.environment import Environment
from tests.assets_defs.builders import index_path, make_repository


def test_a_published_index_answers(indexed: Path) -> None:
    opened = open_index(Environment(indexed), ())
    answer = opened.searcher.search(Query("apply_discount"))
    assert answer.hits[0].path == "pricing.py"
    assert opened.staleness == {"parcels": "fresh"}
    assert set(opened.pointers) == {"parcels"}


def test_an_index_is_found_by_key_and_by_any_path_in_it(indexed: Path, tmp_path: Path) -> None:
    (indexed / "docs").mkdir()
    assert set(open_index(Environment(indexed), ["parcels"]).pointers) == {"parcels"}
    for where in (str(indexed), str(indexed / "docs")):
        assert set(open_index(Environment(tmp_path), [where]).pointers) == {"parcels"}


def test_an_unknown_key_names_the_known_ones(indexed: Path) -> None:
    with pytest.raises(InputError, match="known: parcels"):
        open_index(Environment(indexed), ["orders"])


def test_a_folder_without_index_says_what_to_do(repository: Path) -> None:
    with pytest.raises(NothingIndexed, match="strata index"):
        open_index(Environment(repository), ())
    with pytest.raises(NothingIndexed, match="strata index"):
        open_index(Environment(repository), [str(repository)])


def test_the_index_is_stale_after_an_edit_and_unknown_without_its_source(repository: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path, home=tmp_path / "home")
    index(environment, IndexRequest(repository), Silent())
    (repository / "pricing.py").write_text("x = 1\n")
    assert open_index(environment, ()).staleness == {"parcels": "stale"}
    shutil.rmtree(repository)
    opened = open_index(environment, ())
    assert opened.staleness == {"parcels": "unknown"}
    assert opened.searcher.search(Query("apply_discount")).hits


def test_what_is_served_answers_although_the_settings_changed(indexed: Path) -> None:
    config = indexed / "strata.toml"
    config.write_text(config.read_text().replace("hash", "vocab"))
    opened = open_index(Environment(indexed), ())
    assert opened.searcher.encoder is not None
    assert opened.searcher.encoder.name == "hash"
    assert opened.staleness == {"parcels": "stale"}


def test_two_repositories_are_searched_as_one(indexed: Path, tmp_path: Path) -> None:
    other = make_repository(tmp_path / "letters")
    index_path(other)
    opened = open_index(Environment(tmp_path), [str(indexed), str(other)])
    assert {hit.repo for hit in opened.searcher.search(Query("apply_discount")).hits} == {"parcels", "letters"}
