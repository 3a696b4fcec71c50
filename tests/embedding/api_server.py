"""A real embeddings service on this machine, whose answers a test scripts one by one."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WIDTH = 96


def vector_of(text: str, width: int = WIDTH) -> list[float]:
    """Return numbers that follow from a text alone."""
    drawn = hashlib.shake_128(text.encode()).digest(width)
    return [byte / 128 - 1 for byte in drawn]


def document_of(texts: Sequence[str], width: int = WIDTH) -> dict[str, Any]:
    """Return a good answer."""
    data = [
        {"object": "embedding", "index": row, "embedding": vector_of(text, width)} for row, text in enumerate(texts)
    ]
    return {"object": "list", "data": data, "model": "tiny"}


@dataclass
class Reply:
    """An answer other than a good one. `content` makes its body from the texts."""

    status: int = 200
    content: Callable[[Sequence[str]], Any] = document_of
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None  # bytes that are sent of those that were announced
    pause_s: float = 0.0  # before each byte


def good(texts: Sequence[str]) -> Reply:
    return Reply()


def failing(status: int, code: str = "", **headers: str) -> Reply:
    return Reply(status, lambda _: {"error": {"code": code, "message": "the text was: secret words"}}, headers)


@dataclass
class Service:
    """What a service was asked, and what it answers: `script` for the first requests, then `then`."""

    script: list[Reply] = field(default_factory=list)
    then: Callable[[Sequence[str]], Reply] = good
    asked: list[list[str]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    stopping: threading.Event = field(default_factory=threading.Event)


@contextmanager
def service(*script: Reply, then: Callable[[Sequence[str]], Reply] = good) -> Iterator[Service]:
    """Run a service for as long as the block lasts."""
    state = Service(list(script), then)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = body["input"]
            state.asked.append(texts)
            state.keys.append(self.headers.get("Authorization"))
            state.paths.append(self.path)
            state.bodies.append(body)
            self.answer(state.script.pop(0) if state.script else state.then(texts), texts)

        def answer(self, reply: Reply, texts: Sequence[str]) -> None:
            content = reply.content(texts)
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            sent = data[: reply.cut]
            if not reply.pause_s:
                self.wfile.write(sent)
                return
            for byte in sent:
                if state.stopping.wait(reply.pause_s):
                    return
                self.wfile.write(bytes([byte]))

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

        def handle(self) -> None:
            try:
                super().handle()
            except (BrokenPipeError, ConnectionResetError):  # the client gave up, as some tests want it to
                self.close_connection = True

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_port}/v1"
        runner = threading.Thread(target=server.serve_forever, args=[0.01], daemon=True)
        runner.start()
        try:
            yield state
        finally:
            state.stopping.set()
            server.shutdown()
            runner.join()
