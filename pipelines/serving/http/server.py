"""A running server. The socket is taken first, so that a wrong address is told before anything starts."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pipelines.errors import InputError
from pipelines.serving.http.access import Access, resolve
from pipelines.serving.http.app import make_app
from pipelines.serving.service import Service

#: Open connections, and bytes that each may send before its headers end; an address holds the query.
_MAX_CONNECTIONS = 512
#: From so many open connections on, each further one takes the place of one that only waits for its client.
CROWDED = 256
MAX_HEAD_BYTES = 1 << 17
#: Seconds that a connection has for a whole head, and that answers under way have when the server ends.
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


def server_of(service: Service, access: Access, ready: Callable[[], object], idle_s: int = _IDLE_S) -> uvicorn.Server:
    """Return a server, whose `run` takes sockets; `ready` is called once, when requests are answered.

    :param idle_s: seconds from connection, or from the answer before, until the head of a request must have come.
    """
    config = uvicorn.Config(
        make_app(service, access),
        http=_Punctual,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # an address holds the query
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_keep_alive=idle_s,
        timeout_graceful_shutdown=_FINISH_S,
    )
    return _Server(config, ready)


class _Punctual(H11Protocol):
    """A connection that ends when no request comes; h11 is what bounds the bytes before its headers end.

    The time that uvicorn gives ends with the first byte, so a client that sends half a head, or the rest of a body that
    nobody reads, could hold its connection for ever. This time goes on until a request is there to be answered.
    """

    _due: asyncio.TimerHandle | None = None
    _since = 0.0  # when it was made

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._since = self.loop.time()
        self._watch()
        if len(self.connections) > CROWDED:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop()

    @property
    def _waits_for_its_client(self) -> bool:
        """Whether nothing is done for it until its client sends more, or reads what it was sent."""
        answering = self.cycle is not None and not self.cycle.response_complete
        return not answering or self.conn.their_state is h11.SEND_BODY or self.flow.write_paused

    def _make_room(self) -> None:
        """End the oldest connection that waits for its client, of the client that has most of them.

        So nobody is shut out by connections on which nothing is asked; who is cut off while idle connects anew.
        """
        waiting: dict[object, list[_Punctual]] = {}
        for item in self.connections:
            if isinstance(item, _Punctual) and item is not self and item._waits_for_its_client:
                waiting.setdefault(item.client and item.client[0], []).append(item)
        if waiting:
            most = max(waiting.values(), key=len)
            min(most, key=lambda item: item._since).transport.abort()

    def _watch(self) -> None:
        """Let the time run while no request is being answered; what a client sends does not set it back."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        elif self._due is None:
            self._due = self.loop.call_later(self.timeout_keep_alive, self.transport.abort)

    def _stop(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()
