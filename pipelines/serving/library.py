"""What a server answers from: the published indexes of one store, as they are now.

The server lives in pipelines/, which neither reads the environment nor knows where repositories are. So it is handed a
Library; assets_defs/library.py makes the real one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipelines.records import Encoder
from pipelines.retrieval import Generation
from pipelines.serving.cli.host import RepositoryStatus
from pipelines.store import Pointer


@dataclass(frozen=True, slots=True)
class Volume:
    """One repository's published generation, open and leased, with the encoder that made its vectors."""

    generation: Generation
    pointer: Pointer
    encoder: Encoder


class Library(Protocol):
    """A store as a process that stays sees it. Methods may be called from several threads."""

    def pointers(self) -> Mapping[str, Pointer]:
        """Return what is published of each repository, read from the store now; one small file each."""
        ...

    def open(self, repo: str) -> Volume:
        """Open what is published of a repository."""
        ...

    def statuses(self) -> Sequence[RepositoryStatus]:
        """Tell how each repository stands to its source, which is listed for it."""
        ...
