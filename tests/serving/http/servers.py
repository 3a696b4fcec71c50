"""A real server on a free port of this machine, in a thread of the test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from pipelines.serving.http.access import make_access
from pipelines.serving.http.server import listen, server_of, url_of
from pipelines.serving.service import Service
from tests.serving.library_of import SmallLibrary

HOST = "127.0.0.1"


@contextmanager
def server_for(library: SmallLibrary, token: str = "", idle_s: int = 15) -> Iterator[str]:
    """Serve a library, and give the address."""
    ready = threading.Event()
    with listen(HOST, 0) as taken:
        server: uvicorn.Server = server_of(Service(library), make_access(HOST, token), ready.set, idle_s)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
        thread.start()
        try:
            assert ready.wait(30)
            yield url_of(taken, HOST)
        finally:
            server.should_exit = True
            thread.join()
