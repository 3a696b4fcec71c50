"""Which repositories a store knows, and how each was last asked for: `<store>/repositories.json`.

    {"format": 1,
     "repositories": {key: {"path": "..", "rev": ""}},             added by `strata repos add` or by indexing a path
     "requests": {key: {"rev": "", "overrides": {section: {..}}}}}  flags of the last `strata index`

A path is relative where the store lies inside the repository, so that the folder can be moved; else it is absolute. The
flags are kept because they belong to the wanted state: staleness, sensors and schedules compare with what was asked.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pipelines.containment import inside
from pipelines.durable import replace_file, storage_error
from pipelines.errors import ArtifactCorrupt

_FORMAT = 1
_NAME = "repositories.json"


@dataclass(frozen=True, slots=True)
class Request:
    """How a repository was last asked for: the revision, and settings given as flags, by section, then key."""

    rev: str = ""
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """A repository of the registry. `rev` is what `strata repos add` pinned, "" for the working tree."""

    root: Path
    rev: str = ""


@dataclass(frozen=True, slots=True)
class Registered:
    """The content of a registry."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    requests: Mapping[str, Request] = field(default_factory=dict)

    def with_entry(self, key: str, entry: Entry) -> Registered:
        """Return the content with a repository added or replaced."""
        return replace(self, entries={**self.entries, key: entry})

    def with_request(self, key: str, request: Request) -> Registered:
        """Return the content with the last request for a repository replaced; an empty one is not kept."""
        others = {name: item for name, item in self.requests.items() if name != key}
        return replace(self, requests=others if request == Request() else {**others, key: request})

    def without(self, key: str) -> Registered:
        """Return the content without a repository."""
        entries = {name: item for name, item in self.entries.items() if name != key}
        return replace(self, entries=entries).with_request(key, Request())


class Registry:
    """The registry of one store."""

    def __init__(self, store_root: Path) -> None:
        self._root = store_root
        self._path = store_root / _NAME

    def exists(self) -> bool:
        """Tell whether anything was ever registered."""
        return self._path.exists()

    def read(self) -> Registered:
        """Return the content, empty before the first repository is registered."""
        try:
            document = json.loads(inside(self._root, _NAME).read_bytes())
            entries = {key: self._entry(item) for key, item in document["repositories"].items()}
            requests = {key: Request(item["rev"], item["overrides"]) for key, item in document["requests"].items()}
        except FileNotFoundError:
            return Registered()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            hint = "remove it and add the repositories again with `strata repos add`"
            raise ArtifactCorrupt(f"the registry {self._path} is not readable: {error!r}", hint=hint) from error
        return Registered(entries, requests)

    def update(self, change: Callable[[Registered], Registered]) -> None:
        """Apply a change to the content, one process at a time; nothing is written where nothing changes."""
        if change(before := self.read()) == before:
            return
        try:
            with self._exclusive():
                self._write(change(self.read()))
        except OSError as error:
            raise storage_error(error, self._root) from error

    def _entry(self, item: Mapping[str, str]) -> Entry:
        return Entry(Path(os.path.normpath(self._root.resolve() / item["path"])), item["rev"])

    def _write(self, content: Registered) -> None:
        document = {
            "format": _FORMAT,
            "repositories": {
                key: {"path": self._stored(entry.root), "rev": entry.rev} for key, entry in content.entries.items()
            },
            "requests": {key: {"rev": item.rev, "overrides": item.overrides} for key, item in content.requests.items()},
        }
        replace_file(self._path, json.dumps(document, indent=1, sort_keys=True).encode() + b"\n")

    def _stored(self, root: Path) -> str:
        store, resolved = self._root.resolve(), root.resolve()
        return os.path.relpath(resolved, store) if store.is_relative_to(resolved) else str(resolved)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        self._root.mkdir(parents=True, exist_ok=True)
        handle = os.open(inside(self._root, "repositories.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
