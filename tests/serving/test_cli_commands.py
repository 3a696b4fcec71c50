from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from pipelines.records import SearchMode
from pipelines.retrieval import Query
from pipelines.retrieval import query as retrieval_query
from pipelines.serving.cli import commands, main
from pipelines.serving.cli.host import IndexRequest
from tests.serving.fake_host import FakeHost


def request(*arguments: str) -> IndexRequest:
    host = FakeHost()
    assert main(["index", *arguments], host) == 0
    (asked,) = host.asked
    assert isinstance(asked, IndexRequest)
    return asked


def asked(*arguments: str) -> tuple[Any, Query]:
    host = FakeHost()
    assert main(["query", *arguments], host) == 0
    return host.asked[0], host.searcher.asked[0]


def test_index_without_options_overrides_nothing() -> None:
    assert request() == IndexRequest()


def test_only_given_options_override_settings() -> None:
    given = request("src", "--repo", "key", "--rev", "main", "--full", "--no-diffuse", "--dimensions", "128")
    overrides: dict[str, dict[str, Any]] = {"embedder": {"dimensions": 128}, "diffusion": {"enabled": False}}
    assert given == IndexRequest(Path("src"), "key", "main", True, overrides)


def test_every_setting_has_its_option() -> None:
    given = request(
        *("--embedder", "onnx", "--model", "/m/model.onnx", "--tokenizer", "/m/tokenizer.json", "--dimensions", "384"),
        *("--bits", "512"),
        *("--diffuse", "--diffuse-alpha", "0.5", "--diffuse-iterations", "3", "--diffuse-bidirectional"),
        *("--content", "docs"),
    )
    assert given.overrides == {
        "embedder": {"name": "onnx", "model": "/m/model.onnx", "tokenizer": "/m/tokenizer.json", "dimensions": 384},
        "quantization": {"bits": 512},
        "diffusion": {"enabled": True, "alpha": 0.5, "iterations": 3, "bidirectional": True},
        "index": {"content": "docs"},
    }


def test_a_model_is_found_from_where_the_command_was_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    given = request("elsewhere", "--embedder", "onnx", "--model", "model.onnx")
    assert given.overrides["embedder"]["model"] == str(tmp_path / "model.onnx")


def test_a_dry_run_asks_for_the_listing_with_the_same_request() -> None:
    assert request("--content", "code", "--dry-run") == request("--content", "code")


def test_a_query_without_options_keeps_the_defaults_of_query() -> None:
    assert asked("retry") == ((), Query("retry"))


def test_every_field_of_a_query_has_its_option() -> None:
    where, query = asked(
        *("retry", "--repo", "one", "--repo", "./two", "--limit", "3", "--mode", "semantic", "--fusion", "late"),
        *(
            "--no-fusion",
            "--keyword-and",
            "--candidate-pool",
            "64",
            "--scoring",
            "asymmetric",
            "--path",
            "*.py",
            "--path",
            "src",
        ),
        *("--language", "python", "--scope", "web", "--expand", "blast", "--expand-depth", "2", "--explain"),
    )
    assert where == ("one", "./two")
    assert query == Query(
        "retry",
        limit=3,
        mode=SearchMode.SEMANTIC,
        fusion="late",
        no_fusion=True,
        keyword_and=True,
        candidate_pool=64,
        scoring="asymmetric",
        paths=("*.py", "src"),
        languages=("python",),
        scopes=("web",),
        expand="blast",
        expand_depth=2,
        explain=True,
    )


def test_the_choices_and_defaults_in_the_help_are_those_of_retrieval() -> None:
    assert commands.FUSIONS == retrieval_query.FUSIONS
    assert commands.EXPANSIONS == retrieval_query.EXPANSIONS
    assert commands.SCORINGS == retrieval_query.SCORINGS
    query = Query("x")
    shown = {item.name: item.help or "" for item in commands.strata.commands["query"].params}
    for name in ("limit", "mode", "fusion", "candidate_pool", "scoring", "expand_depth"):
        assert shown[name].endswith(f"[default: {getattr(query, name)}]")


def test_commands_are_those_of_the_design_and_no_other() -> None:
    group = commands.strata
    repos = group.commands["repos"]
    assert isinstance(repos, click.Group)
    assert list(group.commands) == ["index", "query", "status", "check", "eval", "gc", "serve", "mcp", "dev", "repos"]
    assert list(repos.commands) == ["add", "remove", "list"]


def test_dev_gives_the_hosts_exit_code() -> None:
    assert main(["dev", "--port", "3"], FakeHost()) == 3


def test_the_order_of_options_and_text_is_free() -> None:
    assert asked("--limit", "3", "retry") == asked("retry", "--limit", "3")
