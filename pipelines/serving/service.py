"""The index as a process that stays serves it: opened once, opened anew when something is published.

Each request reads the pointers, which is one small file a repository. What has changed is opened before the request is
answered; a request that is under way keeps the generations that it began with, and the last one to leave an old
generation gives up its lease. Methods may be called from several threads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from pipelines.errors import NotFound, NothingIndexed, StrataError
from pipelines.formats import JSON_SCHEMA_VERSION
from pipelines.generation import EncoderInfo
from pipelines.records import Staleness
from pipelines.retrieval import Answer, ChunkReader, Expansion, Query, Searcher, StoredChunk
from pipelines.serving.asking import Question, quoted
from pipelines.serving.folders import without_folders
from pipelines.serving.library import Library, Volume
from pipelines.serving.render import query_document, status_document
from pipelines.serving.standing import Look, Standing
from pipelines.store import Pointer

#: Searchers over some of the repositories that are kept: each holds a few small arrays.
_MAX_SEARCHERS = 32
#: Filter values that are offered to a person.
_MAX_LABELS = 300


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, and what it was searched in."""

    answer: Answer
    pointers: Mapping[str, Pointer]
    staleness: Mapping[str, Staleness]
    encoder: EncoderInfo

    def document(self) -> dict[str, Any]:
        """Return the answer as `strata query --json` has it."""
        return query_document(self.answer, self.pointers, self.staleness, self.encoder)


@dataclass(slots=True)
class _Shelf:
    """The open repositories at one time. `readers` counts the requests under way, and the service itself."""

    volumes: Mapping[str, Volume]
    readers: int = 1
    searchers: dict[tuple[str, ...], Searcher] = field(default_factory=dict)
    labels: Mapping[str, Sequence[str]] | None = None


class Service:
    """Answers questions from a library until it is closed."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._guard = threading.Lock()  # of the shelf and its readers
        self._opening = threading.Lock()  # one thread opens at a time; the others go on with what is there
        self._shelf = _Shelf({})
        self._open_counts: dict[int, int] = {}
        self.standing = Standing(library.statuses, self._follow)

    def start(self) -> None:
        """Open what is published, and follow what is published from now on.

        One question is put, so that nobody who asks waits for what is loaded on first use.
        """
        with suppress(StrataError):
            self.ask(Question(Query("warm")))
        self.standing.start()

    def close(self) -> None:
        """Give up what is open."""
        self.standing.close()
        with self._opening:
            self._replace(_Shelf({}))

    # --- questions ---

    def ask(self, question: Question) -> Answered:
        """Answer a question.

        :raises NothingIndexed: if nothing is published. :raises NotFound: for a key that is not served.
        """
        with self._reading() as shelf:
            repos = self._chosen(shelf, question.repos)
            searcher = self._searcher(shelf, repos)
            answer = searcher.search(question.query)
            pointers = {repo: shelf.volumes[repo].pointer for repo in repos}
            encoder = shelf.volumes[repos[0]].generation.document.encoder
        look = self.standing.last()
        staleness = {repo: look.staleness(repo, pointer.generation) for repo, pointer in pointers.items()}
        return Answered(answer, pointers, staleness, encoder)

    def chunk(self, repo: str, chunk_id: str) -> StoredChunk:
        """Return a chunk of a repository."""
        with self._reading() as shelf:
            found = ChunkReader(self._volume(shelf, repo).generation).read(chunk_id)
        if found is None:
            raise _unknown_chunk(repo, chunk_id)
        return found

    def related(self, repo: str, chunk_id: str, mode: str, depth: int) -> Expansion:
        """Return what stands around a chunk in the call graph."""
        with self._reading() as shelf:
            found = ChunkReader(self._volume(shelf, repo).generation).related(chunk_id, mode, depth)
        if found is None:
            raise _unknown_chunk(repo, chunk_id)
        return found

    def labels(self) -> Mapping[str, Sequence[str]]:
        """Return the values that filters may have, by column; the repositories as `repo`."""
        with self._reading() as shelf:
            if shelf.labels is None:
                columns = ("language", "scope", "kind")
                shelf.labels = {"repo": tuple(shelf.volumes), **{name: _labels(shelf, name) for name in columns}}
            return shelf.labels

    def status(self) -> dict[str, Any]:
        """Return how the index stands, without the folders of the machine that serves it."""
        look = self.standing.recent()
        repositories = status_document(look.repositories)["repositories"]
        for item in repositories:
            item.pop("path"), item.pop("store")
            item["message"] = without_folders(item["message"], look.folders)
        return {
            "schema_version": JSON_SCHEMA_VERSION,
            "state": look.state,
            "message": look.message,
            "repositories": repositories,
        }

    def look(self) -> Look:
        """Return how the index stands."""
        return self.standing.recent()

    # --- the shelf ---

    @contextmanager
    def _reading(self) -> Iterator[_Shelf]:
        self._refresh()
        with self._guard:
            shelf = self._shelf
            shelf.readers += 1
        try:
            yield shelf
        finally:
            self._leave(shelf)

    def _follow(self) -> None:
        """Open what was published while nobody asked, so that old generations are not held for long."""
        with suppress(StrataError, OSError):  # who asks next is told
            self._refresh()

    def _refresh(self) -> None:
        """Open what has been published since the last time."""
        pointers = self._library.pointers()
        if _same(self._shelf.volumes, pointers):
            return
        with self._opening:
            pointers = self._library.pointers()
            before = self._shelf.volumes
            if _same(before, pointers):
                return
            kept = {
                repo: before[repo] for repo in pointers if repo in before and before[repo].pointer == pointers[repo]
            }
            opened: dict[str, Volume] = {}
            try:
                for repo in pointers:
                    if repo not in kept:
                        opened[repo] = self._library.open(repo)
            except BaseException:
                for volume in opened.values():
                    volume.generation.close()
                raise
            self._replace(_Shelf({repo: kept.get(repo) or opened[repo] for repo in sorted(pointers)}))
        self.standing.outdated()

    def _replace(self, shelf: _Shelf) -> None:
        with self._guard:
            old, self._shelf = self._shelf, shelf
            for volume in shelf.volumes.values():
                self._open_counts[id(volume)] = self._open_counts.get(id(volume), 0) + 1
        self._leave(old)

    def _leave(self, shelf: _Shelf) -> None:
        """Count a reader out; the last one of a shelf closes what no other shelf holds."""
        with self._guard:
            shelf.readers -= 1
            if shelf.readers:
                return
            for volume in shelf.volumes.values():
                self._open_counts[id(volume)] -= 1
                if not self._open_counts[id(volume)]:
                    del self._open_counts[id(volume)]
                    volume.generation.close()

    def _chosen(self, shelf: _Shelf, repos: Sequence[str]) -> tuple[str, ...]:
        _require_something(shelf)
        for repo in repos:
            self._volume(shelf, repo)
        return tuple(sorted(set(repos))) or tuple(shelf.volumes)

    def _volume(self, shelf: _Shelf, repo: str) -> Volume:
        _require_something(shelf)
        if repo not in shelf.volumes:
            known = ", ".join(shelf.volumes) or "none"
            raise NotFound(f"repository {quoted(repo)} is not served", hint=f"served: {known}")
        return shelf.volumes[repo]

    def _searcher(self, shelf: _Shelf, repos: tuple[str, ...]) -> Searcher:
        found = shelf.searchers.get(repos)
        if found is None:
            volumes = [shelf.volumes[repo] for repo in repos]
            found = Searcher([volume.generation for volume in volumes], volumes[0].encoder)
            if len(shelf.searchers) < _MAX_SEARCHERS:
                shelf.searchers[repos] = found
        return found


def _require_something(shelf: _Shelf) -> None:
    if not shelf.volumes:
        raise NothingIndexed("nothing is published", hint="run `strata index PATH`")


def _same(volumes: Mapping[str, Volume], pointers: Mapping[str, Pointer]) -> bool:
    return volumes.keys() == pointers.keys() and all(volumes[repo].pointer == pointers[repo] for repo in pointers)


def _labels(shelf: _Shelf, column: str) -> tuple[str, ...]:
    values = {label for volume in shelf.volumes.values() for label in volume.generation.rows.labels[column].values()}
    return tuple(sorted(value for value in values if value)[:_MAX_LABELS])


def _unknown_chunk(repo: str, chunk_id: str) -> NotFound:
    return NotFound(f"{repo} has no chunk {quoted(chunk_id)}", hint="it may have gone with a change: search again")
