"""How far a run is, and how long it will take. In: pieces of work as they begin, advance and end. Out: a sentence.

Pieces are nested. What is left is reckoned for the outermost piece whose size is known, from the time that its finished
part took, and only once that says something; of later pieces nothing is known, so nothing is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

#: Before so many seconds, or below this share, a guess would jump about.
_MIN_SECONDS, _MIN_SHARE = 5.0, 0.02


@dataclass(slots=True)
class _Piece:
    label: str
    total: int  # 0: not known
    began: float
    done: int = 0

    def __str__(self) -> str:
        if self.total:
            return f"{self.label}: {self.done} of {self.total}"
        return f"{self.label}: {self.done}" if self.done else self.label


class Pace:
    """The pieces of work under way, outermost first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()
        self._pieces: list[_Piece] = []

    def begin(self, label: str, total: int) -> None:
        """Start a piece of work inside the one begun last."""
        self._pieces.append(_Piece(label, total, self._clock()))

    def advance(self, count: int = 1) -> None:
        """Count steps of the piece begun last."""
        if self._pieces:
            self._pieces[-1].done += count

    def end(self) -> None:
        """Finish the piece begun last."""
        if self._pieces:
            self._pieces.pop()

    def describe(self) -> str:
        """Say how long the run has taken, how far it is, and how long the present piece will still take."""
        last = len(self._pieces) - 1
        sized = next((place for place, piece in enumerate(self._pieces) if piece.total), last)
        texts = [str(self._pieces[place]) for place in sorted({sized, last}) if place >= 0]
        if texts and (left := self._left(sized)) is not None:
            texts[0] += f", about {duration(left)} left"
        return f"{duration(self._clock() - self._start)}  {'; '.join(texts) or 'working'}"

    def _left(self, place: int) -> float | None:
        share = 0.0
        for piece in reversed(self._pieces[place:]):
            share = min(1.0, (piece.done + share) / piece.total) if piece.total else share
        spent = self._clock() - self._pieces[place].began
        return spent * (1 - share) / share if spent >= _MIN_SECONDS and share >= _MIN_SHARE else None


def duration(seconds: float) -> str:
    """Return seconds as a person says them."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s" if whole < 600 else f"{whole // 60} min"
    return f"{whole // 3_600} h {whole % 3_600 // 60} min"
