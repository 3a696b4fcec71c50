from __future__ import annotations

import io
import json
import threading
from typing import Any

import pytest

from pipelines.serving.cli.bars import Bars, Beats, shown_progress
from pipelines.serving.cli.lines import coloured, line, plain, table
from pipelines.serving.cli.output import ASCII_MARKS, MARKS, Output
from pipelines.serving.cli.pace import Pace
from pipelines.serving.cli.streams import Stream, encodable, one_line, visible


class Screen(io.TextIOWrapper):
    """A text stream over bytes that says it is a terminal, or that it is none."""

    def __init__(self, *, terminal: bool = False, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def shown(self) -> str:
        data: Any = self.buffer
        return str(data.getvalue().decode(self.encoding))


def output(screen: Screen, *, as_json: bool = False) -> Output:
    return Output(Stream(screen), Stream(screen), as_json)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünï 初 🙂\ttab\nline", "plain ünï 初 🙂\ttab\nline"),
        ("\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"),
        ("cut\rshort", "cut\\x0dshort"),
        ("if admin\u202e }\u2066", "if admin\\u202e }\\u2066"),
        ("a\udcff", "a\\udcff"),
    ],
)
def test_text_never_acts_on_the_terminal(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert one_line(text) == shown.replace("\t", "\\x09").replace("\n", "\\x0a")
    assert plain([line(text)]) == one_line(text) + "\n"


@pytest.mark.parametrize("name", ["zz\n 2  trusted.py:1  admin_check", "a\u2028b", "a\tb", "a\x85b", "a\rb"])
def test_a_name_never_leaves_its_line(name: str) -> None:
    for lines in ([line(("1", "dim"), "  ", name)], list(table([[name, "1"]])), [[("source ", ""), (name, "bold")]]):
        for text in (plain(lines), coloured(lines)):
            assert len(text.splitlines()) == 1
            assert text.endswith("\n")
    assert plain([[("\tsource", "")]]) == "\tsource\n"


def test_json_with_surrogates_is_valid_utf8_and_tells_them() -> None:
    text = encodable(json.dumps({"path": 'a\udcff"b'}, ensure_ascii=False))
    assert json.loads(text.encode("utf-8")) == {"path": 'a\\udcff"b'}


def test_a_stream_writes_out_what_its_encoding_lacks() -> None:
    screen = Screen(encoding="ascii")
    Stream(screen).write("ünï\n")
    assert screen.shown() == "\\xfcn\\xef\n"
    assert output(screen).marks == ASCII_MARKS
    assert output(Screen()).marks == MARKS


def test_a_stream_keeps_its_place_behind_what_others_wrote() -> None:
    screen = Screen()
    screen.write("first ")
    Stream(screen).write("second")
    assert screen.shown() == "first second"


def test_a_closed_stream_takes_everything() -> None:
    closed = Stream(None)
    closed.write("x")
    assert not closed.is_terminal
    assert closed.failure is None


def test_colours_are_for_terminals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal, pipe = Screen(terminal=True), Screen()
    for screen in (terminal, pipe):
        output(screen).lines([line(("bold", "bold"), " [not markup] :smile:")])
    assert terminal.shown() == "\x1b[1mbold\x1b[0m [not markup] :smile:\n"
    assert pipe.shown() == "bold [not markup] :smile:\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in coloured([line(("red", "red"))])


def test_a_long_line_is_neither_wrapped_nor_cut() -> None:
    path = "folder/" * 100 + "file.py:1"
    assert coloured([line(path)]) == path + "\n"


def test_columns_are_aligned_by_what_they_hold() -> None:
    rows = [("初心", "7", "8c1"), ("a", "1200", "x")]
    assert plain(table(rows, header=("name", "count", "id"), indent=" ")).splitlines() == [
        " name  count  id",
        " 初心      7  8c1",
        " a      1200  x",
    ]


def test_a_table_without_rows_is_nothing() -> None:
    assert list(table([], header=("name",))) == []


def test_an_error_after_the_document_does_not_make_a_second_one() -> None:
    screen, err = Screen(), Screen()
    out = Output(Stream(screen), Stream(err), as_json=True)
    out.answer({"a": 1}, [])
    out.fail("Fault", "too late")
    assert json.loads(screen.shown()) == {"a": 1}
    assert err.shown() == "error: too late\n"


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_progress_into_a_pipe_is_a_line_of_counts_per_beat() -> None:
    screen, clock = Screen(), Clock()
    progress = Beats(output(screen), beat_s=1000, pace=Pace(clock))

    def beat(seconds: float) -> None:
        clock.now += seconds
        progress.beat()

    beat(10)
    progress.begin("bucket_job", 0)
    progress.begin("symbols", 16)
    progress.advance(4)
    beat(10)
    progress.begin("parsing b04", 120)
    progress.advance(60)
    beat(8)
    progress.begin("reading", 0)
    progress.advance()
    beat(2)
    progress.end()
    progress.end()
    beat(3_700)
    progress.end()
    beat(1)
    progress.note("slow file")
    progress.close()
    assert screen.shown().splitlines() == [
        "10 s  working",
        "20 s  symbols: 4 of 16, about 30 s left",
        "28 s  symbols: 4 of 16, about 46 s left; parsing b04: 60 of 120",
        "30 s  symbols: 4 of 16, about 51 s left; reading: 1",
        "1 h 2 min  symbols: 4 of 16, about 3 h 6 min left",
        "1 h 2 min  bucket_job",
        "slow file",
    ]


def test_nothing_is_said_of_what_is_left_before_it_is_known() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.begin("embedding", 1_000)
    clock.now += 60
    assert pace.describe() == "1 min 0 s  embedding: 0 of 1000"
    pace.advance(10)
    assert "left" not in pace.describe()
    pace.advance(10)
    assert pace.describe() == "1 min 0 s  embedding: 20 of 1000, about 49 min left"
    pace.begin("half", 2)
    pace.advance(5)
    assert "about 46 min left" in pace.describe()
    clock.now -= 57
    assert "left" not in pace.describe()


def test_progress_beats_by_itself_until_it_is_closed() -> None:
    beaten = threading.Event()

    class Watched(Beats):
        def beat(self) -> None:
            beaten.set()

    progress = Watched(output(Screen()), beat_s=0.001)
    assert beaten.wait(60)
    progress.close()
    assert "progress" not in {thread.name for thread in threading.enumerate()}


def test_progress_that_is_never_begun_shows_nothing() -> None:
    for progress in (Beats(output(Screen())), Bars(output(Screen(terminal=True)))):
        progress.advance()
        progress.end()
        progress.close()


def test_progress_on_a_terminal_is_drawn_and_taken_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with shown_progress(output(Screen(terminal=True))) as progress:
        progress.begin("parsing [x]", 2)
        progress.advance()
        progress.note("slow [file]")
        progress.end()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "parsing [x]" in shown.err
    assert "slow [file]" in shown.err


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_closed_when_the_run_fails(terminal: bool) -> None:
    used: list[Any] = []

    def fail() -> None:
        with shown_progress(output(Screen(terminal=terminal))) as progress:
            used.append(progress)
            progress.begin("parsing", 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    (progress,) = used
    assert not (progress._rich.live.is_started if terminal else progress._thread.is_alive())
