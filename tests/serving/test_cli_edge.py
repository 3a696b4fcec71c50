from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import BusyError, InputError, StrataError
from pipelines.records import Staleness
from pipelines.serving.cli import main
from tests.serving.fake_host import FAILED, WARNED, FakeHost, FakeSearcher, make_outcome

ROOT = Path(__file__).parents[2]
JSON_COMMANDS = [
    ["index"],
    ["index", "--dry-run"],
    ["query", "retry"],
    ["status"],
    ["check"],
    ["eval"],
    ["gc"],
    ["gc", "--dry-run"],
    ["repos", "list"],
    ["repos", "add", "other", "."],
    ["repos", "remove", "other"],
]


def run(
    arguments: Sequence[str], scenario: str = "plain", flags: Sequence[str] = (), **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, *flags, "-m", "tests.serving.fake_host", scenario, *arguments],
        cwd=ROOT,
        capture_output=True,
        env=os.environ | environment,
        check=False,
    )


def raiser(error: BaseException) -> FakeHost:
    def fail() -> None:
        raise error

    return FakeHost(before=fail)


def nothing_found() -> FakeHost:
    return FakeHost(searcher=FakeSearcher(()))


@pytest.mark.parametrize("arguments", JSON_COMMANDS, ids=" ".join)
def test_done_is_0_and_one_document_in_json(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments, FakeHost()) == 0
    assert capsys.readouterr().out
    assert main([*arguments, "--json"], FakeHost()) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == 1


@pytest.mark.parametrize(
    ("arguments", "host"),
    [
        (["query", "x"], nothing_found()),
        (["index"], FakeHost(outcome=make_outcome(published=False, checks=[FAILED]))),
        (["status"], FakeHost(statuses=())),
        (["repos", "list"], FakeHost(statuses=())),
        (["check"], FakeHost(checks=[FAILED])),
        (["check"], FakeHost(checks=())),
        (["eval"], FakeHost(runs=())),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_nothing_found_or_a_failed_check_is_1(
    arguments: list[str], host: FakeHost, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments, host) == 1
    assert capsys.readouterr().err
    assert main([*arguments, "--json"], host) == 1
    json.loads(capsys.readouterr().out)


def test_a_failed_warning_is_shown_and_is_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"], FakeHost(checks=[WARNED])) == 0
    assert "3 bits are constant" in capsys.readouterr().out


def test_an_error_is_2_with_its_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    error = BusyError("repository sample is being indexed", hint="wait for it")
    assert main(["index"], raiser(error)) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "error: repository sample is being indexed\nhint: wait for it\n"
    assert main(["index", "--json"], raiser(error)) == 2
    assert json.loads(capsys.readouterr().out) == {
        "error": "BusyError",
        "detail": "repository sample is being indexed",
        "hint": "wait for it",
    }


def test_a_fault_is_2_with_its_traceback_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--json"], raiser(ZeroDivisionError("a fault"))) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["error"] == "ZeroDivisionError"
    assert "Traceback" in shown.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["nope"],
        ["query"],
        ["query", "a", "b"],
        ["query", "x", "--mode", "psychic"],
        ["query", "x", "--limit", "many"],
        ["index", "--embedder", "oracle"],
        ["index", "--no-such-option"],
        ["--no-such-option"],
    ],
    ids=" ".join,
)
def test_arguments_that_do_not_parse_are_2_with_a_hint(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments, FakeHost()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert "--help` tells what it takes" in shown.err
    assert main([*arguments, "--json"], FakeHost()) == 2
    assert json.loads(capsys.readouterr().out).keys() == {"error", "detail", "hint"}


@pytest.mark.parametrize("option", [["--limit", "0"], ["--candidate-pool", "1"], ["--expand-depth", "99"]])
def test_a_query_out_of_bounds_is_an_input_error(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "x", *option, "--json"], FakeHost()) == 2
    assert json.loads(capsys.readouterr().out)["error"] == InputError.__name__


def test_text_that_starts_with_a_dash_is_told_where_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "--error-on-warnings"], FakeHost()) == 2
    assert "strata query -- " in capsys.readouterr().err
    assert main(["query", "two", "words"], FakeHost()) == 2
    assert "quote a text of several words" in capsys.readouterr().err
    assert main(["query", "word", "--mode", "guess"], FakeHost()) == 2
    assert "quote" not in capsys.readouterr().err
    host = FakeHost()
    assert main(["query", "--json", "--", "--error-on-warnings"], host) == 0
    assert json.loads(capsys.readouterr().out)["query"] == "--error-on-warnings"
    assert main(["query", "--", "--json"], host) == 0
    assert capsys.readouterr().out.startswith(" 1  ")


@pytest.mark.parametrize("text", ["a\0b", "a\udcffb", "\ud800", "🙂", "C++ $x->y \\", '"unclosed', "x" * 10_000])
def test_any_text_is_a_query(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", text, "--json"], FakeHost()) == 0
    assert "query" in json.loads(capsys.readouterr().out)
    assert main(["query", text], FakeHost()) == 0


def test_interrupts_are_130_and_143() -> None:
    for scenario, code, name in (("interrupted", 130, "Interrupted"), ("terminated", 143, "Terminated")):
        plain = run(["index"], scenario)
        assert (plain.returncode, plain.stdout) == (code, b"")
        assert b"Traceback" not in plain.stderr
        as_json = run(["query", "x", "--json"], scenario)
        assert as_json.returncode == code
        assert json.loads(as_json.stdout)["error"] == name


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_of_which_a_library_makes_an_error_is_an_interrupt(number: signal.Signals, code: int) -> None:
    def load() -> None:
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            raise ImportError("initialization failed") from None

    assert main(["gc"], FakeHost(before=load)) == code


def test_signals_have_their_handlers_back_afterwards() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    main(["gc"], FakeHost())
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


@pytest.mark.parametrize(
    "arguments", [["query", "x", "--json"], ["index", "--json"], ["check", "--json"]], ids=" ".join
)
def test_nothing_but_the_document_reaches_stdout(arguments: list[str]) -> None:
    done = run(arguments, "noisy", ["-W", "always"])
    assert done.returncode == 0
    json.loads(done.stdout)
    for noise in (b"DeprecationWarning", b"a library is chatty", b"a library logs"):
        assert noise in done.stderr


@pytest.mark.parametrize("scenario", ["refuse", "broken"])
def test_an_error_in_json_is_the_only_document(scenario: str) -> None:
    done = run(["query", "x", "--json"], scenario)
    assert done.returncode == 2
    assert json.loads(done.stdout).keys() == {"error", "detail", "hint"}


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
    ids=str,
)
def test_no_locale_breaks_the_output(locale: dict[str, str]) -> None:
    done = run(["query", "naïve 初 🙂", "--json"], **locale)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.decode("utf-8"))["query"]
    assert run(["query", "naïve 初 🙂", "--limit", "0"], **locale).returncode == 2


def test_marks_are_ascii_where_the_encoding_has_no_others() -> None:
    assert run(["check"], PYTHONIOENCODING="ascii").stdout.startswith(b"ok")
    assert run(["check"], PYTHONIOENCODING="utf-8").stdout.decode().startswith("✓")


@pytest.mark.parametrize("arguments", [["query", "x"], ["query", "x", "--json"], ["--help"]], ids=" ".join)
def test_a_reader_who_leaves_is_no_error(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tests.serving.fake_host", "plain", *arguments],
            cwd=ROOT,
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(redirection: str) -> None:
    command = f"{sys.executable} -m tests.serving.fake_host plain index {redirection}"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["query", "x"], b"cannot write to standard output"),
        (["query", "x", "--json"], b"cannot write to standard output"),
        (["--help"], b"cannot write to standard output"),
        (["--version"], b"cannot write to standard output"),
        (["index", "--help"], b"cannot write to standard output"),
        (["query", "--json"], b"Missing argument"),
    ],
)
def test_an_answer_that_cannot_be_written_is_an_error(arguments: list[str], told: bytes) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tests.serving.fake_host", "plain", *arguments],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: " + told)
    assert b"Traceback" not in done.stderr


def test_a_value_for_the_flag_of_json_is_an_error_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "x", "--json=1"], FakeHost()) == 2
    assert "does not take a value" in json.loads(capsys.readouterr().out)["detail"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["index", ""],
        ["index", "--repo", ""],
        ["query", "x", "--repo", "sample", "--repo", ""],
        ["query", "x", "--path", ""],
        ["status", "--repo", ""],
        ["repos", "add", "other", ""],
        ["eval", "--output", ""],
    ],
    ids=" ".join,
)
def test_an_empty_value_does_not_stand_for_what_is_at_hand(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--json"], FakeHost()) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["error"] == InputError.__name__
    assert told["detail"].endswith(" is empty")


def test_help_and_version_are_0(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["--version"], ["query", "--help"], ["repos", "add", "--help"]):
        assert main(arguments, FakeHost()) == 0
        assert capsys.readouterr().out


@pytest.mark.parametrize("command", [[], ["query"], ["index"], ["repos"], ["repos", "add"], ["mcp"]], ids=" ".join)
def test_help_is_asked_for_in_its_short_form_too(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"], FakeHost()) == 0
    told = capsys.readouterr().out
    assert "-h, --help" in told
    assert main([*command, "-h"], FakeHost()) == 0
    assert capsys.readouterr().out == told


@pytest.mark.parametrize(
    ("group", "commands"),
    [
        ([], ["index", "query", "status", "check", "eval", "gc", "serve", "mcp", "dev", "repos"]),
        (["repos"], ["add", "remove", "list"]),
    ],
    ids=["strata", "strata repos"],
)
def test_no_command_is_2_and_tells_which_there_are(
    group: list[str], commands: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(group, FakeHost()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    rows = [row.split() for row in shown.err.partition("Commands:\n")[2].splitlines()]
    assert [row[0] for row in rows] == commands
    assert all(row[-1].endswith(".") and not row[-1].endswith("...") for row in rows)


def loaded_by(statement: str) -> set[str]:
    script = f"import sys; {statement}; sys.stdout = sys.__stdout__; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_help_loads_no_engine() -> None:
    loaded = loaded_by(
        "from pipelines.serving.cli import main; main(['--version'], None); main(['query', '--x'], None)"
    )
    assert not loaded & {"numpy", "pyarrow", "faiss", "scipy", "onnxruntime", "rich", "dagster", "tree_sitter"}


def test_a_query_into_a_pipe_loads_nothing_of_the_build() -> None:
    statement = "from tests.serving.fake_host import FakeHost, main; main(['query', 'x'], FakeHost())"
    assert not loaded_by(statement) & {"rich", "dagster", "tree_sitter", "onnxruntime", "networkx"}


def test_every_error_is_told_as_its_class(capsys: pytest.CaptureFixture[str]) -> None:
    def subclasses(kind: type[StrataError]) -> list[type[StrataError]]:
        return [kind, *(inner for item in kind.__subclasses__() for inner in subclasses(item))]

    for kind in subclasses(StrataError):
        error: Any = kind.__new__(kind)
        StrataError.__init__(error, "what", hint="next")
        assert main(["gc", "--json"], raiser(error)) == 2
        assert json.loads(capsys.readouterr().out) == {"error": kind.__name__, "detail": "what", "hint": "next"}


def test_staleness_is_a_hint_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "x"], FakeHost(staleness={"sample": Staleness.STALE})) == 0
    assert "index is stale: run `strata index`" in capsys.readouterr().err
    assert main(["query", "x"], FakeHost(staleness={"sample": Staleness.UNKNOWN})) == 0
    assert "cannot be compared" in capsys.readouterr().err
    assert main(["query", "x"], FakeHost()) == 0
    assert capsys.readouterr().err == ""
