from __future__ import annotations

from pathlib import Path

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


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    assert Environment.of({"STRATA_HOME": "", "DAGSTER_HOME": ""}, tmp_path) == Environment(tmp_path)


def test_a_child_gets_the_given_variables_and_loses_those_that_are_none() -> None:
    variables = variables_for_child({"STRATA_HOME": "/store", "PATH": None})
    assert variables["STRATA_HOME"] == "/store"
    assert "PATH" not in variables
