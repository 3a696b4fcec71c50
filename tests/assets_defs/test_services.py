"""`strata index` and `strata query` with an embeddings service, end to end."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from assets_defs.building import index
from assets_defs.host import StrataHost
from assets_defs.opening import open_index
from pipelines.errors import NotAgreed, SettingsError
from pipelines.progress import Silent
from pipelines.retrieval import Query
from pipelines.serving.cli import main
from pipelines.serving.cli.host import IndexRequest
from resources.environment import Environment
from resources.services import HOST_VARIABLE, KEY_VARIABLE
from tests.assets_defs.builders import commit, index_path, make_repository, workspace_of
from tests.embedding.api_server import Reply, Service, failing, service

KEY = "sk-end-to-end-0123456789"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOST_VARIABLE, raising=False)
    monkeypatch.setenv(KEY_VARIABLE, KEY)


def flags(there: Service | str) -> list[str]:
    url = there if isinstance(there, str) else there.url
    return ["--embedder", "api", "--url", url, "--model", "tiny", "--dimensions", "64"]


def run(root: Path, *arguments: str) -> int:
    return main(arguments, StrataHost(Environment(root)))


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_run_is_agreed_to_first_then_indexed_and_asked(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with service() as there:
        assert run(repository, "index", ".", *flags(there), "--json") == 2
        refused = document(capsys)
        assert refused["error"] == "NotAgreed"
        assert "tokens" in str(refused["detail"])
        assert "--yes" in str(refused["hint"])
        assert there.asked == []
        assert workspace_of(repository).store.pointer("parcels") is None

        assert run(repository, "index", ".", *flags(there), "--yes", "--json") == 0
        encoder = document(capsys)["encoder"]
        assert isinstance(encoder, dict)
        assert encoder["name"] == "api"
        sent = sum(len(asked) for asked in there.asked)

        assert run(repository, "index", ".", *flags(there), "--json") == 0  # nothing is left to pay for
        assert sum(len(asked) for asked in there.asked) == sent
        capsys.readouterr()
        assert run(repository, "query", "reduce the net price", "--mode", "semantic", "--json") == 0
        assert there.asked[-1] == ["reduce the net price"]
        assert set(there.keys) == {None}  # no host is named, so nobody gets the key

        for name in ("pricing.py", "stock.py"):  # two buckets, about which a run asks once
            (repository / name).write_text(f"def changed():\n    return {name!r}\n")
        capsys.readouterr()
        assert run(repository, "index", ".", *flags(there), "--json") == 2
        assert "embedding 2 texts" in str(document(capsys)["detail"])
    assert run(repository, "query", "reduce the net price", "--mode", "semantic", "--json") == 2
    assert document(capsys)["error"] == "EncoderUnavailable"


def test_an_unwatched_run_may_send_as_much_as_the_settings_say(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = repository / "strata.toml"

    def allow(url: str, tokens: int) -> Environment:
        config.write_text(
            f'[index]\nbuckets = 4\n[embedder]\nname = "api"\nurl = "{url}"\nmodel = "tiny"\ndimensions = 64\n'
            f"price = 0.02\nagreed_tokens = {tokens}\n[evaluation]\nknown_items = 3\n"
        )
        return Environment(repository, config=config)

    with service() as there:
        monkeypatch.setenv(HOST_VARIABLE, there.url.split("/")[2])
        with pytest.raises(NotAgreed, match=r"about \$0\.0000, at 127") as caught:
            index(allow(there.url, 3), IndexRequest(repository), Silent())
        assert caught.value.tokens > 3
        assert index(allow(there.url, 1_000), IndexRequest(repository), Silent()).published
        assert set(there.keys) == {f"Bearer {KEY}"}
    leaks = subprocess.run(["grep", "-rla", KEY, str(repository)], capture_output=True, text=True, check=False)
    assert leaks.stdout == ""


def test_a_service_that_fails_in_the_middle_leaves_what_was_served(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with service() as there:
        assert run(repository, "index", ".", *flags(there), "--yes") == 0
        before = workspace_of(repository).store.pointer("parcels")
        for number in range(150):
            (repository / f"more_{number}.py").write_text(f"def added_{number}():\n    return {number} * number\n")
        commit(repository)
        there.script[:] = [Reply(), failing(400, "quota_exceeded")]
        capsys.readouterr()
        assert run(repository, "index", ".", *flags(there), "--yes", "--json") == 2
        failed = document(capsys)
        assert failed["error"] == "EncoderUnavailable"
        assert "quota_exceeded" in str(failed["detail"])
        assert there.script == []
        assert workspace_of(repository).store.pointer("parcels") == before
        opened = open_index(Environment(repository), ())
        assert opened.searcher.search(Query("apply_discount")).hits[0].path == "pricing.py"
        assert opened.staleness == {"parcels": "stale"}
        assert run(repository, "index", ".", *flags(there), "--yes") == 0
        assert workspace_of(repository).store.pointer("parcels") != before


def test_a_run_that_was_not_agreed_to_changes_nothing_that_is_known_of_the_repository(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(repository, "index", ".") == 0
    with service() as there:
        assert run(repository, "index", ".", *flags(there)) == 2
    assert workspace_of(repository).repository("parcels").request.overrides == {}
    assert open_index(Environment(repository), ()).staleness == {"parcels": "fresh"}
    capsys.readouterr()
    assert run(repository, "index", ".") == 0
    assert "the run before" not in capsys.readouterr().err


def test_a_host_that_nobody_named_is_refused_before_anything_is_agreed_to(repository: Path) -> None:
    overrides = {"embedder": {"name": "api", "model": "tiny", "url": "https://api.example.org/v1"}}
    with pytest.raises(SettingsError, match=r"may not be sent to api\.example\.org"):
        index_path(repository, overrides=overrides, agreed_tokens=10_000)


def test_a_configuration_of_a_clone_sends_nothing_away(tmp_path: Path) -> None:
    with service() as there:
        hostile = f'[embedder]\nname = "api"\nurl = "{there.url}"\nmodel = "x"\nagreed_tokens = 1000000\n'
        root = make_repository(tmp_path / "clone", {"strata.toml": hostile, "a.py": "def a(): pass\n"})
        with pytest.raises(SettingsError, match="sends the texts"):
            index_path(root)
        assert there.asked == []


def test_a_store_of_a_clone_gets_no_question_and_no_key(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOST_VARIABLE, "api.example.org")
    registry = indexed / ".strata" / "repositories.json"
    content = json.loads(registry.read_text())
    there = {"name": "api", "url": "https://elsewhere.example.org/v1", "model": "x"}
    content["requests"]["parcels"] = {"rev": "", "overrides": {"embedder": there}}
    registry.write_text(json.dumps(content))
    with pytest.raises(SettingsError, match=r"elsewhere\.example\.org.*api\.example\.org"):
        workspace_of(indexed).encoder("parcels").encode_query("a question")
