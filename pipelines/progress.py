"""How a long stage tells that it is alive. The command line draws it; in Dagster it is silent."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told the name and size of a piece of work, then each step of it."""

    def begin(self, label: str, total: int) -> None:
        """Start a piece of work of `total` steps."""
        ...

    def advance(self, count: int = 1) -> None:
        """Count steps as done."""
        ...

    def note(self, message: str) -> None:
        """Show a line of text."""
        ...

    def end(self) -> None:
        """Finish the piece of work."""
        ...


class Silent:
    """A Progress that shows nothing."""

    def begin(self, label: str, total: int) -> None:
        """Ignore it."""

    def advance(self, count: int = 1) -> None:
        """Ignore it."""

    def note(self, message: str) -> None:
        """Ignore it."""

    def end(self) -> None:
        """Ignore it."""
