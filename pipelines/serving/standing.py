"""How the repositories stand to their sources: looked at in the background, and never told from too long ago.

A look lists every source through git, which costs a second where there are many files, so no query waits for one. It
is repeated while somebody asks, and the older what is known becomes, the less is claimed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum

from pipelines.errors import StorageError, StrataError
from pipelines.records import Staleness
from pipelines.serving.cli.host import RepositoryStatus
from pipelines.serving.folders import without_folders

#: A look is due when the last one is this old, in seconds, and costs at most this share of one core.
_LOOK_EVERY_S = 5.0
_LOOK_SHARE = 0.05
#: What was seen so long ago, in seconds, is no longer told as if it were now.
_BELIEVED_S = 60.0
#: How often the background thread looks whether something is due, in seconds.
_TICK_S = 0.5

#: Repositories that one message names for the same reason.
_MOST_NAMED = 5

_STALENESS: Mapping[str, Staleness] = {"ready": Staleness.FRESH, "stale": Staleness.STALE}


class State(StrEnum):
    """How the whole index stands, from best to worst."""

    READY = "ready"
    STALE = "stale"  # or not comparable with its source
    BUILDING = "building"
    ERROR = "error"  # nothing can be searched, or something is damaged


@dataclass(frozen=True, slots=True)
class Look:
    """What one look saw. `at` is the time of day, `seen` that of the monotonic clock; both in seconds."""

    repositories: Sequence[RepositoryStatus] = ()
    error: StrataError | None = None
    at: float = 0.0
    seen: float = -_BELIEVED_S
    cost: float = 0.0
    by_repo: Mapping[str, RepositoryStatus] = field(default_factory=dict)

    @property
    def age(self) -> float:
        """Seconds since the look."""
        return time.monotonic() - self.seen

    @property
    def state(self) -> State:
        """The state of the index as a whole."""
        states = [item.state for item in self.repositories]
        if self.error is not None or "error" in states:
            return State.ERROR
        if "building" in states:
            return State.BUILDING
        if not any(item.pointer for item in self.repositories):
            return State.ERROR
        return State.READY if all(state == "ready" for state in states) else State.STALE

    @property
    def folders(self) -> set[str]:
        """The folders of the machine that were seen: of the repositories, and of their stores."""
        return {folder for item in self.repositories for folder in (item.path, item.store)}

    @property
    def message(self) -> str:
        """What is to be said of a state that is not ready, with the next step but no folder of the machine."""
        if self.error is not None:
            return without_folders(str(self.error), self.folders)
        if not any(item.pointer for item in self.repositories) and self.state is not State.BUILDING:
            return "nothing is published yet: run `strata index PATH`"
        said: dict[str, list[str]] = {}
        for item in self.repositories:
            if text := _said(item, self.folders):
                said.setdefault(text, []).append(item.repo)
        return "; ".join(f"{_named(repos)}: {text}" for text, repos in said.items())

    def of(self, repos: Collection[str]) -> Look:
        """Return what was seen of some repositories alone."""
        return replace(self, repositories=[item for item in self.repositories if item.repo in repos])

    def staleness(self, repo: str, generation: str) -> Staleness:
        """Return how a generation stands to its source: unknown if it was not seen, or too long ago."""
        status = self.by_repo.get(repo)
        if self.age > _BELIEVED_S or status is None or status.pointer is None:
            return Staleness.UNKNOWN
        return (
            _STALENESS.get(status.state, Staleness.UNKNOWN)
            if status.pointer.generation == generation
            else Staleness.UNKNOWN
        )


class Standing:
    """Keeps the last look, and renews it in the background while it is asked for.

    :param look: lists the sources; it may take seconds. :param tick: called about twice a second all the same.
    """

    def __init__(self, look: Callable[[], Sequence[RepositoryStatus]], tick: Callable[[], object]) -> None:
        self._look, self._tick = look, tick
        self._last = Look()
        self._asked = True
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="standing", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Stop looking."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def last(self) -> Look:
        """Return the last look without waiting."""
        self._asked = True
        return self._last

    def recent(self) -> Look:
        """Return a look that may be believed, waiting for one if need be."""
        self._asked = True
        return self._last if self._last.age <= _BELIEVED_S else self._renew(_BELIEVED_S)

    def outdated(self) -> None:
        """Have the next look come soon: something was published."""
        self._last = Look()
        self._asked = True

    def _renew(self, believed_s: float) -> Look:
        with self._guard:
            if self._last.age <= believed_s:  # another thread has looked in the meantime
                return self._last
            began = time.monotonic()
            repositories: Sequence[RepositoryStatus] = ()
            error: StrataError | None = None
            try:
                repositories = self._look()
            except StrataError as caught:
                error = caught
            except OSError as caught:
                error = StorageError(f"the repositories cannot be looked at: {caught}")
            seen = time.monotonic()
            by_repo = {item.repo: item for item in repositories}
            self._last = Look(tuple(repositories), error, time.time(), seen, seen - began, by_repo)
            return self._last

    def _run(self) -> None:
        while not self._closing.is_set():
            self._tick()
            due = max(_LOOK_EVERY_S, self._last.cost / _LOOK_SHARE)
            if self._asked and self._last.age > due:
                self._asked = False
                self._renew(due)
            self._closing.wait(_TICK_S)


def _named(repos: Sequence[str]) -> str:
    more = len(repos) - _MOST_NAMED
    return ", ".join(repos[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _said(status: RepositoryStatus, folders: Set[str]) -> str:
    if status.state == "ready":
        return ""
    if status.state == "stale":
        return "older than its source: run `strata index`"
    if status.state == "missing":
        return "nothing of it is published: run `strata index`"
    return without_folders(status.message, folders) or status.state
