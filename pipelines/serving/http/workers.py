"""The threads that answer: few, since a search is bound by memory and cores; how many requests may wait is bounded."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread

from pipelines.serving.http.bodies import Refused

Given = ParamSpec("Given")
Found = TypeVar("Found")

#: More threads than this only wait for each other.
_MAX_THREADS = 8
#: Requests that wait for a thread; one more is told to come back.
MAX_WAITING = 128


class Workers:
    """Runs calls in threads."""

    def __init__(self, threads: int = 0, waiting: int = MAX_WAITING) -> None:
        self._limiter = CapacityLimiter(threads or min(_MAX_THREADS, os.cpu_count() or 1))
        self._most = waiting
        self._inside = 0

    async def run(self, call: Callable[Given, Found], *given: Given.args, **named: Given.kwargs) -> Found:
        """Return what a call returns.

        :raises Refused: if too many are waiting already.
        """
        if self._inside >= self._most:
            raise Refused(503, f"{self._inside} requests are waiting already", "try again in a second")
        self._inside += 1
        try:
            return await to_thread.run_sync(partial(call, *given, **named), limiter=self._limiter)
        finally:
            self._inside -= 1
