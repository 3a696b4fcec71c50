"""Who may write, who is reading: kernel-held locks that end with their process, whatever kills it.

A lock file's content is only for the message to a human; its age, its process id and its host decide nothing.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.durable import storage_error
from pipelines.errors import ArtifactMissing, BusyError
from pipelines.store import ArtifactStore

#: How often a waiting writer looks again, in seconds.
_POLL_S = 0.1
_held: dict[Path, int] = {}
_held_guard = threading.RLock()


@contextmanager
def repository_lock(
    store: ArtifactStore, repo: str, *, wait_s: float, on_wait: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the write lock of a repository; a process that holds it already may take it again.

    :param store: the store; :param repo: the repository key.
    :param wait_s: how long to wait for another process, in seconds.
    :param on_wait: told once, with the holder's description, before the waiting begins.
    :raises BusyError: if the other process is still at it after `wait_s`.
    """
    path = store.place("locks", f"{repo}.lock").resolve()
    with _held_guard:
        nested = path in _held
        if nested:
            _held[path] += 1
    if nested:
        try:
            yield
        finally:
            with _held_guard:
                _held[path] -= 1
        return
    handle = _acquire(path, store, repo, wait_s, on_wait)
    with _held_guard:
        _held[path] = 1
    try:
        store.clear_scratch(repo)
        yield
    finally:
        with _held_guard:
            del _held[path]
        os.close(handle)


def _acquire(path: Path, store: ArtifactStore, repo: str, wait_s: float, on_wait: Callable[[str], None] | None) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise storage_error(error, store.root) from error
    deadline = time.monotonic() + wait_s
    told = False
    while not _try_lock(handle, fcntl.LOCK_EX):
        holder = os.pread(handle, 200, 0).decode("utf-8", "replace").strip() or "another process"
        if time.monotonic() >= deadline:
            os.close(handle)
            raise BusyError(f"repository {repo} is being indexed by {holder}", hint="wait for it, then run again")
        if not told and on_wait is not None:
            on_wait(holder)
            told = True
        time.sleep(_POLL_S)
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
    return handle


def writer_of(store: ArtifactStore, repo: str) -> str:
    """Return the description of the process that is writing a repository, "" if none is."""
    try:
        handle = os.open(store.place("locks", f"{repo}.lock"), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    try:
        free = _try_lock(handle, fcntl.LOCK_SH)
        return "" if free else os.pread(handle, 200, 0).decode("utf-8", "replace").strip() or "another process"
    finally:
        os.close(handle)


def lease_generation(store: ArtifactStore, repo: str, generation: str) -> int:
    """Take a shared lock on a generation and return its file descriptor; closing it, or the process's end, gives it up.

    :raises ArtifactMissing: if the generation was removed before the lock was taken.
    """
    path = store.generation_file(repo, generation)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise ArtifactMissing(f"generation {generation} of {repo} is gone") from None
    fcntl.flock(handle, fcntl.LOCK_SH)
    if os.fstat(handle).st_nlink == 0:
        os.close(handle)
        raise ArtifactMissing(f"generation {generation} of {repo} is gone")
    return handle


def remove_generation_unless_leased(store: ArtifactStore, repo: str, generation: str) -> bool:
    """Remove a generation's document unless a reader has it open; tell whether it is gone."""
    path = store.generation_file(repo, generation)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        if not _try_lock(handle, fcntl.LOCK_EX):
            return False
        path.unlink(missing_ok=True)
        return True
    finally:
        os.close(handle)


def _try_lock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN):
            return False
        raise
    return True
