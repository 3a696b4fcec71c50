"""What an agent sends over standard input. In: a descriptor. Out: the lines that are messages of JSON-RPC.

Others are answered with an error at once, because whoever sent them waits. The descriptor is read by a
thread that holds nothing up: a server that is told to end need not wait for another line.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress

import anyio
from mcp import types

#: Bytes of one message: a query of the greatest length with its filters, each character written out, fits many times.
MAX_LINE_BYTES = 4 << 20
_READ_BYTES = 1 << 16
#: Codes of JSON-RPC 2.0.
NO_JSON, NO_REQUEST = -32700, -32600
_SURROGATE = re.compile("[\ud800-\udfff]")

#: Sends an error to the agent.
Refuse = Callable[[types.JSONRPCError], Awaitable[None]]


class AgentInput:
    """The lines of one descriptor; `refuse` is told of those that are no message."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.refuse: Refuse | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each message, as JSON that holds nothing but text."""
        async for line in self._lines():
            if not line.strip():
                continue
            read = read_message(line)
            if isinstance(read, str):
                yield read
            elif self.refuse is not None:
                await self.refuse(read)

    async def _lines(self) -> AsyncIterator[bytes]:
        sender, receiver = anyio.create_memory_object_stream[bytes](0)
        loop = asyncio.get_running_loop()

        def read() -> None:
            with suppress(RuntimeError, asyncio.CancelledError, anyio.BrokenResourceError):  # the loop has ended
                for line in split_lines(lambda: os.read(self._descriptor, _READ_BYTES)):
                    asyncio.run_coroutine_threadsafe(sender.send(line), loop).result()
                loop.call_soon_threadsafe(sender.close)

        threading.Thread(target=read, name="agent input", daemon=True).start()
        async with receiver:
            async for line in receiver:
                yield line


def split_lines(read: Callable[[], bytes]) -> Iterator[bytes]:
    """Yield the lines of what is read until nothing comes; of one that is too long only its beginning is kept."""
    kept = bytearray()
    while piece := read():
        *lines, rest = piece.split(b"\n")
        for line in lines:
            kept += line
            yield bytes(kept[: MAX_LINE_BYTES + 1])
            kept.clear()
        kept += rest[: MAX_LINE_BYTES + 1 - len(kept)]
    if kept:
        yield bytes(kept)


def read_message(line: bytes) -> str | types.JSONRPCError:
    """Return the message of a line, or the error that answers it; what the line said is not told back.

    Half a character, which JSON can name and no text can hold, becomes the sign for one that is unknown.
    """
    if len(line) > MAX_LINE_BYTES:
        return _refusal(NO_JSON, f"a message has more than {MAX_LINE_BYTES} bytes")
    try:
        document = json.loads(line.decode("utf-8", "replace"))
        text = json.dumps(document, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    except (ValueError, RecursionError):
        return _refusal(NO_JSON, "a line is no JSON: each message is one JSON object on a line of its own")
    named = document.get("id") if isinstance(document, dict) else None
    whole = not isinstance(named, str) or _SURROGATE.search(named) is None  # an answer must name it as it came
    try:
        message = types.jsonrpc_message_adapter.validate_json(text, by_name=False) if whole else None
    except ValueError:
        message = None
    # a notification with an id is a request that is waited for, whose id can be none
    if message is not None and not (isinstance(message, types.JSONRPCNotification) and "id" in document):
        return text
    known = named if whole and isinstance(named, (str, int)) and not isinstance(named, bool) else None
    wanted = 'it has "jsonrpc": "2.0", a "method", and for an answer an "id"'
    return _refusal(NO_REQUEST, f"a line is no message of JSON-RPC: {wanted}", known)


def _refusal(code: int, message: str, answered: str | int | None = None) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=answered, error=types.ErrorData(code=code, message=message))
