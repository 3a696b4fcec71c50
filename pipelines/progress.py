"""How a long stage tells that it is alive. The command line draws it; in Dagster it is silent."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told the name and size of a piece of work, then each step of it."""

    def begin(self, label: str, total: int) -> None: ...

    def advance(self, count: int = 1) -> None: ...

    def note(self, message: str) -> None: ...

    def end(self) -> None: ...


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
