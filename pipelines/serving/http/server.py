"""A running server. The socket is taken first, so that a wrong address is told before anything starts."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from pipelines.errors import InputError
from pipelines.serving.http.access import Access, resolve
from pipelines.serving.http.app import make_app
from pipelines.serving.service import Service

#: Open connections, and bytes that each may send before its headers end; an address holds the query.
_MAX_CONNECTIONS = 512
MAX_HEAD_BYTES = 1 << 17
#: Seconds that a connection may stay idle, and that answers under way have when the server ends.
_IDLE_S, _FINISH_S = 15, 5


def listen(host: str, port: int) -> socket.socket:
    """Take an address.

    :raises InputError: if it is taken, not of this machine, or not allowed.
    """
    address = resolve(host)[0]
    taken = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((address, port))
    except OSError as error:
        taken.close()
        hint = "another process uses it: give another --port" if port else "give another --host"
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror}", hint=hint) from error
    taken.listen(128)
    return taken


def url_of(taken: socket.socket, host: str) -> str:
    """Return the address of the page, as a browser on this machine reaches it."""
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{taken.getsockname()[1]}/"


def server_of(service: Service, access: Access, ready: Callable[[], object]) -> uvicorn.Server:
    """Return a server, whose `run` takes sockets; `ready` is called once, when requests are answered."""
    config = uvicorn.Config(
        make_app(service, access),
        http="h11",  # the one that bounds what a client may send before its headers end
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # an address holds the query
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=_FINISH_S,
    )
    return _Server(config, ready)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()
