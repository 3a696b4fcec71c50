"""Which definitions and scopes are open at each place of a file. In: these as the walker meets them. Out: frames.

The walker opens frames in document order. A frame closes where it ends, once all opened inside it are closed, so a
region that does not parse cannot leave one open for ever. Afterwards any place can be asked for its innermost frame.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Self


@dataclass(slots=True)
class Frame:
    """A definition or scope with what it means for what stands inside it."""

    outer: Frame | None
    end: int
    parts: tuple[str, ...]  # of the qualified names inside
    holds_methods: bool
    caller: int | None  # the place of the innermost callable among the file's definitions
    is_test: bool
    owner: int | None = None  # the innermost definition that can own a typing
    replaceable: bool = False  # ends where another one of its kind begins
    clause: tuple[int, int | None] | None = None  # the last definition directly inside, and its arity


class Nesting:
    """The open frames, and where each was the innermost one."""

    def __init__(self, file: Frame) -> None:
        self.top = file
        self._end = file.end
        self._starts = [0]
        self._frames = [file]

    def close(self, position: int) -> None:
        """Close the innermost frame at a position."""
        if self.top.outer is not None:
            self.top = self.top.outer
            self._note(max(position, self._starts[-1]))

    def close_until(self, position: int) -> None:
        """Close what ends at a position or before it."""
        while self.top.end <= position and self.top.outer is not None:
            self.close(self.top.end)

    def open(self, start: int, frame: Frame) -> None:
        """Open a frame inside the innermost one."""
        self.top = frame
        self._note(start)

    def finished(self) -> Self:
        """Close all frames and return this, to be asked with `at`."""
        self.close_until(self._end)
        return self

    def at(self, position: int) -> Frame:
        """Return the innermost frame at a position."""
        return self._frames[bisect_right(self._starts, position) - 1]

    def _note(self, start: int) -> None:
        if start == self._starts[-1]:
            self._frames[-1] = self.top
        else:
            self._starts.append(start)
            self._frames.append(self.top)
