"""How `strata index` shows that it is alive: bars on a terminal, else a line of counts every few seconds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipelines.serving.cli.output import Output
from pipelines.serving.cli.pace import Pace
from pipelines.serving.cli.streams import one_line

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from pipelines.progress import Progress

#: Seconds between two lines of a run that nobody watches: a log that is silent for longer looks like one that hangs.
_BEAT_S = 10.0


@contextmanager
def shown_progress(output: Output) -> Iterator[Progress]:
    """Give a Progress that writes to stderr for as long as the block lasts."""
    progress = Bars(output) if output.err.is_terminal else Beats(output)
    try:
        yield progress
    finally:
        progress.close()


class Beats:
    """Progress as lines: one every `beat_s` seconds, so that a short run is silent and a long one never is."""

    def __init__(self, output: Output, beat_s: float = _BEAT_S, pace: Pace | None = None) -> None:
        self._output = output
        self._beat_s = beat_s
        self._pace = pace or Pace()
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._thread.start()

    def begin(self, label: str, total: int) -> None:
        """Start a piece of work."""
        with self._guard:
            self._pace.begin(label, total)

    def advance(self, count: int = 1) -> None:
        """Count steps of the piece begun last."""
        with self._guard:
            self._pace.advance(count)

    def note(self, message: str) -> None:
        """Show a line of text."""
        self._output.note(message)

    def end(self) -> None:
        """Finish the piece begun last."""
        with self._guard:
            self._pace.end()

    def close(self) -> None:
        """Stop the beat."""
        self._closing.set()
        self._thread.join()

    def beat(self) -> None:
        """Write how far the run is."""
        with self._guard:
            text = self._pace.describe()
        self._output.note(text)

    def _run(self) -> None:
        while not self._closing.wait(self._beat_s):
            self.beat()


class Bars:
    """Progress as rich bars; they vanish at the end, so that the summary is what stays."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._rich: RichProgress | None = None
        self._tasks: list[TaskID] = []

    def begin(self, label: str, total: int) -> None:
        """Draw a bar; the first one starts the drawing, so that a run with nothing to do draws nothing."""
        if self._rich is None:
            self._rich = _rich_progress()
            self._rich.start()
        self._tasks.append(self._rich.add_task(one_line(label), total=total or None))

    def advance(self, count: int = 1) -> None:
        """Move the bar drawn last."""
        if self._rich is not None and self._tasks:
            self._rich.advance(self._tasks[-1], count)

    def note(self, message: str) -> None:
        """Show a line of text above the bars."""
        if self._rich is None:
            self._output.note(message)
        else:
            self._rich.console.print(one_line(message), markup=False, highlight=False)

    def end(self) -> None:
        """Take the bar drawn last away."""
        if self._rich is not None and self._tasks:
            self._rich.remove_task(self._tasks.pop())

    def close(self) -> None:
        """End the drawing."""
        if self._rich is not None:
            self._rich.stop()


def _rich_progress() -> RichProgress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    label = TextColumn("{task.description}", markup=False)
    times = (TimeElapsedColumn(), TextColumn("left", style="dim"), TimeRemainingColumn())
    return Progress(label, BarColumn(), MofNCompleteColumn(), *times, console=Console(stderr=True), transient=True)
