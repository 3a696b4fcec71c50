from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from assets_defs.library import StoreLibrary
from pipelines.errors import NothingIndexed
from resources.environment import Environment, variables_for_child
from tests.assets_defs.builders import CODE, index_path, make_repository, start

SERVE = "import sys; from assets_defs.command import main; code = main(); print([m for m in {} if m in sys.modules])"


def test_what_is_published_can_be_opened(indexed: Path) -> None:
    library = StoreLibrary(Environment(indexed))
    (repo,) = library.pointers()
    volume = library.open(repo)
    with volume.generation:
        assert volume.generation.repo == repo == "parcels"
        assert volume.encoder.digest == volume.generation.document.encoder.digest
        assert volume.pointer == library.pointers()[repo]


def test_the_source_is_looked_at_anew_each_time(indexed: Path) -> None:
    library = StoreLibrary(Environment(indexed))
    assert [item.state for item in library.statuses()] == ["ready"]
    (indexed / "pricing.py").write_text("def apply_discount(net):\n    return net\n")
    assert [item.state for item in library.statuses()] == ["stale"]


def test_a_repository_that_is_added_is_seen(indexed: Path, tmp_path: Path) -> None:
    library = StoreLibrary(Environment(indexed))
    assert list(library.pointers()) == ["parcels"]
    other = make_repository(tmp_path / "letters", {"post.py": "def frank(letter):\n    return letter\n"})
    environment = Environment(indexed, home=indexed / ".strata")
    from assets_defs.upkeep import add_repository

    add_repository(environment, "letters", other, "")
    assert [(item.repo, item.state) for item in library.statuses()] == [("letters", "missing"), ("parcels", "ready")]


def test_without_a_store_there_is_nothing_to_serve(repository: Path) -> None:
    with pytest.raises(NothingIndexed) as caught:
        StoreLibrary(Environment(repository))
    assert "strata index" in caught.value.hint


def served(root: Path, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    """Start `strata serve` on a free port, and return it with its address."""
    process = start(root, ["-c", SERVE.format(("dagster", "networkx")), "serve", "--port", "0", *arguments])
    assert process.stderr is not None
    told = process.stderr.readline()
    found = re.search(r"http://\S+?/", told)
    assert found, told + process.stderr.read()
    return process, found[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_ended_and_never_loads_dagster(indexed: Path, number: signal.Signals) -> None:
    process, url = served(indexed)
    request = urllib.request.Request(
        url + "api/semantic/query", b'{"query": "apply_discount"}', {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        document = json.load(answer)
    assert document["hits"][0]["path"] == "pricing.py"
    with urllib.request.urlopen(url + "?q=discount") as answer:
        assert b"pricing.py" in answer.read()
    with urllib.request.urlopen(url + "api/semantic/status") as answer:
        assert json.load(answer)["state"] == "ready"
    process.send_signal(number)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert output.splitlines()[-1] == "[]"
    assert "Traceback" not in errors


def test_an_index_that_is_published_meanwhile_is_served(indexed: Path) -> None:
    process, url = served(indexed)
    try:
        (indexed / "stamps.py").write_text("def lick_stamp(stamp):\n    return stamp\n")
        assert index_path(indexed).published
        request = urllib.request.Request(
            url + "api/semantic/query", b'{"query": "lick_stamp"}', {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            assert json.load(answer)["hits"][0]["path"] == "stamps.py"
    finally:
        process.terminate()
        process.communicate(timeout=30)


def run(root: Path, *arguments: str, token: str | None = None) -> subprocess.CompletedProcess[str]:
    variables = variables_for_child({"PYTHONPATH": str(CODE), "STRATA_HOME": None, "STRATA_TOKEN": token})
    command = [sys.executable, "-m", "assets_defs.command", "serve", *arguments]
    return subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, timeout=60)


def test_another_address_without_a_token_is_refused_with_the_next_step(indexed: Path) -> None:
    ended = run(indexed, "--host", "0.0.0.0", "--port", "0")
    assert ended.returncode == 2
    assert "there is no access token" in ended.stderr
    assert "STRATA_TOKEN" in ended.stderr


def test_a_weak_token_is_refused(indexed: Path) -> None:
    (indexed / "token").write_text("secret\n")
    for ended in (run(indexed, "--token-file", "token"), run(indexed, token="secret")):
        assert ended.returncode == 2
        assert "16 characters" in ended.stderr
        assert "secret" not in ended.stderr


def test_a_port_that_is_taken_is_told(indexed: Path) -> None:
    process, url = served(indexed)
    try:
        ended = run(indexed, "--port", url.rpartition(":")[2].strip("/"))
        assert ended.returncode == 2
        assert "--port" in ended.stderr
    finally:
        process.terminate()
        process.communicate(timeout=30)
