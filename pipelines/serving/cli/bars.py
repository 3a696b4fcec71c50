"""How `strata index` shows that it is alive: bars on a terminal, else a line of counts every few seconds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.serving.cli.output import Output
from pipelines.serving.cli.streams import visible

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


@dataclass(slots=True)
class _Piece:
    label: str
    total: int  # 0: not known
    done: int = 0


class Beats:
    """Progress as lines: one every `beat_s` seconds, so that a short run is silent and a long one never is."""

    def __init__(self, output: Output, beat_s: float = _BEAT_S) -> None:
        self._output = output
        self._beat_s = beat_s
        self._beats = 0
        self._pieces: list[_Piece] = []
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._thread.start()

    def begin(self, label: str, total: int) -> None:
        """Start a piece of work."""
        with self._guard:
            self._pieces.append(_Piece(label, total))

    def advance(self, count: int = 1) -> None:
        """Count steps of the piece begun last."""
        with self._guard:
            if self._pieces:
                self._pieces[-1].done += count

    def note(self, message: str) -> None:
        """Show a line of text."""
        self._output.note(message)

    def end(self) -> None:
        """Finish the piece begun last."""
        with self._guard:
            if self._pieces:
                self._pieces.pop()

    def close(self) -> None:
        """Stop the beat."""
        self._closing.set()
        self._thread.join()

    def beat(self) -> None:
        """Write how long the run has taken, and how far the present piece of work is."""
        with self._guard:
            self._beats += 1
            text = "working"
            if self._pieces:
                piece = self._pieces[-1]
                text = f"{piece.label}: {piece.done}" + (f" of {piece.total}" if piece.total else "")
            spent = f"{self._beats * self._beat_s:.0f} s"
        self._output.note(f"{spent}  {text}")

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
        self._tasks.append(self._rich.add_task(visible(label), total=total or None))

    def advance(self, count: int = 1) -> None:
        """Move the bar drawn last."""
        if self._rich is not None and self._tasks:
            self._rich.advance(self._tasks[-1], count)

    def note(self, message: str) -> None:
        """Show a line of text above the bars."""
        if self._rich is None:
            self._output.note(message)
        else:
            self._rich.console.print(visible(message), markup=False, highlight=False)

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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
