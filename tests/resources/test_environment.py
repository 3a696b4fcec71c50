from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import InputError
from resources.environment import Environment, variables_for_child


def test_an_empty_environment_names_nothing(tmp_path: Path) -> None:
    environment = Environment.of({}, tmp_path)
    assert environment == Environment(tmp_path)
    assert not environment.named


def test_variables_become_absolute_paths(tmp_path: Path) -> None:
    environment = Environment.of({"STRATA_HOME": "store", "STRATA_CONFIG": "../strata.toml"}, tmp_path / "work")
    assert environment.home == tmp_path / "work" / "store"
    assert environment.config == tmp_path / "strata.toml"
    assert environment.named
    assert Environment.of({"STRATA_TRAINING": "t"}, tmp_path).training == tmp_path / "t"


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    assert Environment.of({"STRATA_HOME": "", "DAGSTER_HOME": ""}, tmp_path) == Environment(tmp_path)


def test_a_child_gets_the_given_variables_and_loses_those_that_are_none() -> None:
    variables = variables_for_child({"STRATA_HOME": "/store", "PATH": None})
    assert variables["STRATA_HOME"] == "/store"
    assert "PATH" not in variables


def test_the_token_is_that_of_the_file_else_of_the_environment(tmp_path: Path) -> None:
    environment = Environment.of({"STRATA_TOKEN": " from-the-environment \n"}, tmp_path)
    (tmp_path / "token").write_text("from-the-file\n")
    assert environment.access_token(None) == "from-the-environment"
    assert environment.access_token(Path("token")) == "from-the-file"
    assert "from-the-environment" not in repr(environment)


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe"])
def test_a_token_file_without_a_token_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(InputError, match="token file"):
        Environment(tmp_path).access_token(Path("token"))
    with pytest.raises(InputError, match="token file"):
        Environment(tmp_path).access_token(Path("nowhere"))
