from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipelines.errors import InputError
from pipelines.serving.http.server import CROWDED, MAX_HEAD_BYTES, listen, url_of
from tests.retrieval.builders import Doc
from tests.serving.http.servers import HOST, server_for
from tests.serving.library_of import DOCS, library_of


def ask(url: str, text: str) -> tuple[int, bytes]:
    body = json.dumps({"query": text}).encode()
    request = urllib.request.Request(url + "api/semantic/query", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return answer.status, answer.read()


def raw(url: str, data: bytes) -> bytes:
    """Send bytes and return what comes back until the server closes; b"" where it cuts what it does not read."""
    name, _, port = url.removeprefix("http://").strip("/").rpartition(":")
    received = bytearray()
    cut = contextlib.suppress(OSError)
    with socket.create_connection((name, int(port)), timeout=5) as connection, cut:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(65_536):
            received += piece
    return bytes(received)


def test_sixteen_at_once_get_equal_answers(tmp_path: Path) -> None:
    with server_for(library_of(tmp_path)) as url, ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: ask(url, "retry a failed call"), range(160)))
    assert {status for status, _ in answers} == {200}
    hits = {json.dumps(json.loads(body)["hits"]) for _, body in answers}
    assert len(hits) == 1


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),  # HTTP/1.1 asks for a Host
        (b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nhost: evil.example\r\n\r\n", b"421"),
        (b"NONSENSE\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * 200_000 + b"\r\n\r\n", b"400"),
        (b"GET /?q=" + b"y" * 200_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n", b"400"),
        (b"POST /api/semantic/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
         b"content-length: 99999999999999999999\r\n\r\n{}", b"413"),
    ],
)  # fmt: skip
def test_what_is_no_request_of_this_server_is_refused(tmp_path: Path, data: bytes, status: bytes) -> None:
    with server_for(library_of(tmp_path)) as url:
        answer = raw(url, data)
        assert answer.startswith(b"HTTP/1.1 " + status) or (len(data) > MAX_HEAD_BYTES and not answer)
        assert ask(url, "retry")[0] == 200


def test_a_client_that_leaves_early_harms_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with server_for(library_of(tmp_path)) as url:
        name, _, port = url.removeprefix("http://").strip("/").rpartition(":")
        for _ in range(20):
            with socket.create_connection((name, int(port)), timeout=5) as connection:
                connection.sendall(
                    b"POST /api/semantic/query HTTP/1.1\r\nhost: localhost\r\n"
                    b"content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"
                )
        assert ask(url, "retry")[0] == 200
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [b"GET / HTTP/1.1\r\n"],
        [b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\n"],
        [b"GET /api/health HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n", b"a"],  # no one reads that
    ],
)
def test_a_client_that_sends_half_a_request_is_let_go(tmp_path: Path, sent: list[bytes]) -> None:
    with server_for(library_of(tmp_path), idle_s=1) as url:
        name, _, port = url.removeprefix("http://").strip("/").rpartition(":")
        with socket.create_connection((name, int(port)), timeout=30) as connection:
            for piece in sent[:-1]:
                connection.sendall(piece)
                assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
            for piece in sent[-1:]:
                connection.sendall(piece)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(65_536) == b""
        assert ask(url, "retry")[0] == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nhost:",
        b"POST /api/semantic/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"content-length: 1000\r\n\r\n{",
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_one_client_with_many_connections_shuts_nobody_out(tmp_path: Path, sent: bytes) -> None:
    with server_for(library_of(tmp_path)) as url, contextlib.ExitStack() as opened:
        name, _, port = url.removeprefix("http://").strip("/").rpartition(":")
        for _ in range(CROWDED + 300):
            connection = opened.enter_context(socket.create_connection((name, int(port)), timeout=10))
            connection.sendall(sent)
        assert [ask(url, "retry")[0] for _ in range(10)] == [200] * 10


def test_a_client_that_reads_nothing_shuts_nobody_out(tmp_path: Path) -> None:
    docs = [Doc(f"a{number}.py", "retry " + "x" * 2_000, f"retry{number}") for number in range(200)]
    request = b'{"query": "retry", "limit": 200}'
    head = b"POST /api/semantic/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    with server_for(library_of(tmp_path, docs, ())) as url, contextlib.ExitStack() as opened:
        name, _, port = url.removeprefix("http://").strip("/").rpartition(":")
        for _ in range(30):
            connection = opened.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.connect((name, int(port)))
            connection.sendall(head + b"content-length: %d\r\n\r\n" % len(request) + request)
        assert ask(url, "retry")[0] == 200


def test_what_is_published_while_eight_ask_is_taken_up_without_a_fault(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    ended = threading.Event()

    def ask_on(url: str) -> set[tuple[int, str]]:
        seen = set()
        while not ended.is_set():
            status, body = ask(url, "retry a failed call")
            seen.add((status, json.loads(body)["generation"]))
        return seen

    with server_for(library) as url, ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(ask_on, url) for _ in range(8)]
        try:
            published = [library.publish([*DOCS, Doc(f"new{number}.py", "retry", "retry")]) for number in range(6)]
            assert json.loads(ask(url, "retry")[1])["generation"] == published[-1]
        finally:
            ended.set()
        seen = set[tuple[int, str]]().union(*(item.result() for item in asking))
    assert {status for status, _ in seen} == {200}
    assert {generation for _, generation in seen} & set(published)


@pytest.mark.parametrize(
    ("method", "address", "status", "allowed"),
    [
        ("HEAD", "", 200, ""),
        ("HEAD", "api/health", 200, ""),
        ("OPTIONS", "api/semantic/query", 405, "POST"),
        ("GET", "api/semantic/query", 405, "POST"),
        ("DELETE", "api/semantic/status", 405, "GET"),
        ("TRACE", "", 405, "GET"),
    ],
)
def test_a_method_is_answered_or_told_which_may_be_used(
    tmp_path: Path, method: str, address: str, status: int, allowed: str
) -> None:
    with server_for(library_of(tmp_path)) as url:
        connection = http.client.HTTPConnection(url.removeprefix("http://").strip("/"), timeout=30)
        connection.request(method, f"/{address}")
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
    assert answer.status == status
    assert answer.headers["cache-control"] == "no-store"
    assert (body == b"") == (method == "HEAD")
    assert allowed in answer.headers.get("allow", "")


def test_the_token_is_asked_for_over_the_wire(tmp_path: Path) -> None:
    with server_for(library_of(tmp_path), "0123456789abcdef") as url:
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(url, "retry")
        caught.value.close()
    assert caught.value.code == 401


def test_an_address_that_is_taken_is_told() -> None:
    with listen(HOST, 0) as taken, pytest.raises(InputError) as caught:
        listen(HOST, taken.getsockname()[1])
    assert "--port" in caught.value.hint


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(InputError, match="cannot listen on"):
        listen("192.0.2.1", 0)


def test_the_address_that_is_told_can_be_opened() -> None:
    with listen(HOST, 0) as taken:
        port = taken.getsockname()[1]
        assert url_of(taken, HOST) == f"http://127.0.0.1:{port}/"
        assert url_of(taken, "0.0.0.0") == f"http://127.0.0.1:{port}/"
        assert url_of(taken, "::1") == f"http://[::1]:{port}/"
