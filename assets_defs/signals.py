"""SIGINT and SIGTERM while Dagster runs in this process: each still ends the run, with its own handler.

Dagster catches both without telling one from the other, and raises wherever the main thread happens to be. Inside a
finalizer or a callback of the garbage collector, which SQLAlchemy has many of, Python prints such an exception and goes
on: the signal would be lost, and a traceback would stand where the progress is drawn.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dagster._core.errors import DagsterExecutionInterruptedError

#: A signal that was lost is sent again after so many seconds: by then the callback that swallowed it has ended.
_AGAIN_S = 0.05


@contextmanager
def own_signals() -> Iterator[None]:
    """Give SIGINT and SIGTERM back to their own handlers.

    Dagster leaves SIGTERM with SIGINT's handler. Python's note of every signal on a descriptor tells which one it was,
    also when it came while Dagster looked away.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    reader, writer = socket.socketpair()
    with reader, writer:
        reader.setblocking(False)
        writer.setblocking(False)
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            with _sent_again_if_lost(reader):
                yield
        except DagsterExecutionInterruptedError:
            raise KeyboardInterrupt from None
        finally:
            signal.set_wakeup_fd(before)
            for number, handler in handlers.items():
                signal.signal(number, handler)
            _deliver(reader, handlers)


@contextmanager
def _sent_again_if_lost(reader: socket.socket) -> Iterator[None]:
    """Send the first signal again whenever its exception fell into a place where Python ignores exceptions."""
    timers: list[threading.Timer] = []
    before = sys.unraisablehook

    def ignored(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, (DagsterExecutionInterruptedError, KeyboardInterrupt)):
            before(unraisable)
        elif number := _first(reader):
            timer = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), number))
            timer.daemon = True
            timers.append(timer)
            timer.start()

    sys.unraisablehook = ignored
    try:
        yield
    finally:
        sys.unraisablehook = before
        for timer in timers:
            timer.cancel()


def _first(reader: socket.socket) -> int:
    """Return the number of the signal that came first and leave it there, 0 if none came."""
    try:
        return next(iter(reader.recv(1, socket.MSG_PEEK)), 0)
    except BlockingIOError:
        return 0


def _deliver(reader: socket.socket, handlers: Mapping[int, Any]) -> None:
    """Call the handler of the signal that came first, if one came."""
    try:
        received = reader.recv(64)
    except BlockingIOError:
        return
    for number in received:
        if callable(handlers.get(number)):
            handlers[number](number, None)
