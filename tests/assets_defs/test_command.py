from __future__ import annotations

import json
import os
import signal
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path

import pytest

from assets_defs.develop import _answers, child_variables
from assets_defs.host import StrataHost
from assets_defs.signals import own_signals
from pipelines.errors import InputError
from pipelines.serving.http.server import listen
from resources.environment import Environment
from tests.assets_defs.builders import start, strata, workspace_of

MODULES = "import sys; from assets_defs.command import main; code = main(); print([m for m in {} if m in sys.modules])"


def loaded(root: Path, *arguments: str, of: tuple[str, ...]) -> str:
    process = start(root, ["-c", MODULES.format(of), *arguments])
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    return output.splitlines()[-1]


INTERRUPTED = """
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "pipelines.serving.cli.edge":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
from assets_defs.command import main
sys.exit(main())
"""


def test_an_interrupt_in_the_midst_of_the_first_imports_is_130(repository: Path) -> None:
    process = start(repository, ["-c", INTERRUPTED, "status"])
    assert process.communicate() == ("", "error: stopped before the end\nhint: run it again to go on\n")
    assert process.returncode == 130


def test_help_loads_no_engine(repository: Path) -> None:
    assert loaded(repository, "--help", of=("dagster", "pyarrow", "numpy", "tree_sitter")) == "[]"


def test_a_query_loads_neither_dagster_nor_matrices(indexed: Path) -> None:
    assert loaded(indexed, "query", "discount", of=("dagster", "networkx", "scipy")) == "[]"


def test_the_json_of_an_index_run_is_all_that_stands_on_stdout(repository: Path) -> None:
    process = strata(repository, "index", ".", "--json")
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    document = json.loads(output)
    assert (document["repo"], document["published"]) == ("parcels", True)
    assert "DEBUG" not in errors
    assert "Warning" not in errors


def test_a_fault_of_the_user_is_told_without_a_traceback(repository: Path) -> None:
    process = strata(repository, "index", "nowhere")
    _, errors = process.communicate()
    assert process.returncode == 2
    assert "nowhere is not a folder" in errors
    assert "Traceback" not in errors


def test_the_child_of_dev_finds_the_same_store(indexed: Path) -> None:
    deployment = workspace_of(indexed).deployment
    variables = child_variables(deployment, deployment.instance_folder)
    assert variables["STRATA_HOME"] == str(indexed / ".strata")
    assert variables["STRATA_CONFIG"] == str(indexed / "strata.toml")
    assert variables["DAGSTER_HOME"] == str(indexed / ".strata" / "dagster")


def test_dev_tells_of_a_taken_port_before_anything_starts(indexed: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1:{port}"):
            StrataHost(Environment(indexed)).develop(port)


def alive(pid: int) -> bool:
    """Tell whether a process runs; one that has ended and is not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def descendants(pid: int) -> set[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the processes are looked for in /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 0)])
@pytest.mark.parametrize("ready", [True, False])
def test_dev_ends_with_all_that_it_started(indexed: Path, number: signal.Signals, code: int, ready: bool) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
    process = strata(indexed, "dev", "--port", str(port))
    started: set[int] = set()
    deadline = time.monotonic() + 120
    while not started or (ready and not _answers(port)):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
        started |= descendants(process.pid)
    started |= descendants(process.pid)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == code
    assert [pid for pid in started if alive(pid)] == []
    assert "Traceback" not in errors
    assert "Aborted" not in errors or ready  # a part of Dagster that starts after its UI may say so


class Stopped(BaseException):
    """What the handler of these tests raises."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_run_reaches_its_own_handler(number: signal.Signals) -> None:
    import dagster as dg

    received = []

    def stop(number: int, _frame: object) -> None:
        received.append(number)
        raise Stopped

    @dg.op
    def interrupted() -> None:
        os.kill(os.getpid(), number)
        for _ in range(10_000_000):
            pass

    @dg.job
    def job() -> None:
        interrupted()

    before = {item: signal.signal(item, stop) for item in (signal.SIGINT, signal.SIGTERM)}
    try:
        with pytest.raises(Stopped), own_signals():
            job.execute_in_process()
        assert received == [number]
        assert all(signal.getsignal(item) is stop for item in before)
    finally:
        for item, handler in before.items():
            signal.signal(item, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_falls_into_a_callback_is_not_lost(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    import dagster as dg

    class Connection:
        pass

    def collected(_reference: object) -> None:
        os.kill(os.getpid(), number)  # its exception is raised in here, where Python ignores it
        for _ in range(1_000):
            pass

    ended = []

    @dg.op
    def interrupted() -> None:
        connection = Connection()
        reference = weakref.ref(connection, collected)
        del connection
        assert reference() is None
        threading.Event().wait(30)
        ended.append(True)

    @dg.job
    def job() -> None:
        interrupted()

    def stop(number: int, _frame: object) -> None:
        raise Stopped

    before = {item: signal.signal(item, stop) for item in (signal.SIGINT, signal.SIGTERM)}
    try:
        with pytest.raises(Stopped), own_signals():
            job.execute_in_process(run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}})
    finally:
        for item, handler in before.items():
            signal.signal(item, handler)
    assert not ended
    assert "Exception ignored" not in capfd.readouterr().err
