"""One request to an embeddings service that speaks OpenAI's protocol. In: texts. Out: their vectors, checked.

A fault that may pass (no connection, no answer in time, half an answer, 429, 5xx) is tried again, with waits that
double or are as long as the service asks for; number of attempts, each attempt and all of them together are bounded.
Nothing that the service says is repeated in a message but its status and a short code: it may quote the texts or the
key. Redirections are not followed, since they would take the key along.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.endpoint import Endpoint
from pipelines.errors import EncoderUnavailable

#: Gives the key for an address, "" for none; SettingsError where the user has not allowed it. Asked for each request.
KeyOf = Callable[[Endpoint], str]

_GOOD, _TIMEOUT, _TOO_MANY, _SERVER_FAULT = 200, 408, 429, 500
#: Bytes of an answer: the widest vectors in use have 4,096 numbers of about 12 characters.
_BYTES_A_VECTOR, _BYTES_BESIDE = 100_000, 1_000_000
#: A code such as "invalid_api_key"; anything longer, or with what a key or a path has, is not shown.
_CODE = re.compile(r"[a-z_]{1,40}")
#: A model computes in 32 bits; what is beyond them is no vector, and could not be scaled to length 1.
_GREATEST = float(np.finfo(np.float32).max)
_SECONDS = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long a request is tried. Times are seconds."""

    attempts: int = 6
    request_s: float = 60.0  # one attempt, from the connection to the last byte
    total_s: float = 300.0  # all of them with the waits between
    first_wait_s: float = 0.5  # doubled each time
    longest_wait_s: float = 60.0  # whatever the service asks for


class _Passing(Exception):
    """A fault that may be gone at the next attempt. `wait_s` is how long the service wants to be left alone."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class EmbeddingsClient:
    """Asks one service for vectors of one model."""

    def __init__(self, endpoint: Endpoint, model: str, key_of: KeyOf) -> None:
        """Take the address; nothing is sent before `embed`."""
        self._endpoint = endpoint
        self._model = model
        self._key_of = key_of

    def embed(self, texts: Sequence[str], patience: Patience) -> npt.NDArray[np.float64]:
        """Return (len(texts), W) vectors as the service gives them, finite in 32 bits and in the order of the texts.

        :raises EncoderUnavailable: if it refuses, stays silent, or gives something else.
        """
        body = json.dumps({"model": self._model, "input": list(texts), "encoding_format": "float"}).encode()
        deadline = time.monotonic() + patience.total_s
        wait_s = patience.first_wait_s
        for attempt in range(1, patience.attempts + 1):
            try:
                return self._vectors(self._post(body, len(texts), deadline, patience.request_s), len(texts))
            except _Passing as fault:
                pause = min(wait_s if fault.wait_s is None else fault.wait_s, patience.longest_wait_s)
                if attempt == patience.attempts or time.monotonic() + pause >= deadline:
                    raise self._failure(f"{fault}, in {attempt} attempts") from None
            time.sleep(pause)
            wait_s *= 2
        raise AssertionError("unreachable")

    def _post(self, body: bytes, count: int, deadline: float, request_s: float) -> bytes:
        """Send one request and return the body of a good answer."""
        limit_s = max(0.001, min(request_s, deadline - time.monotonic()))
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "strata"}
        if key := self._key_of(self._endpoint):
            headers["Authorization"] = f"Bearer {key}"
        connection = self._connection(limit_s)
        watch: threading.Timer | None = None
        late = threading.Event()
        try:
            connection.connect()
            # The time limit of a socket begins anew with every byte; this one does not.
            watch = threading.Timer(limit_s, _cut, [connection.sock, late])
            watch.daemon = True
            watch.start()
            connection.request("POST", self._endpoint.path, body, headers)
            data = self._read(connection.getresponse(), _BYTES_BESIDE + count * _BYTES_A_VECTOR)
            if late.is_set():  # where its length was not announced, what was cut off looks whole
                raise TimeoutError
            return data
        except ssl.SSLCertVerificationError as error:
            raise self._failure(f"its certificate is not trusted: {error.verify_message}") from None
        except (OSError, http.client.HTTPException) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise _Passing(f"no whole answer in {limit_s:.3g} s") from None
            half = isinstance(error, http.client.IncompleteRead)
            raise _Passing("half an answer" if half else type(error).__name__) from None
        finally:
            if watch is not None:
                watch.cancel()
            connection.close()

    def _connection(self, limit_s: float) -> http.client.HTTPConnection:
        endpoint = self._endpoint
        if endpoint.secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(endpoint.host, endpoint.port, timeout=limit_s, context=context)
        return http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=limit_s)

    def _read(self, response: http.client.HTTPResponse, most: int) -> bytes:
        status = response.status
        if status in (_TIMEOUT, _TOO_MANY) or status >= _SERVER_FAULT:
            raise _Passing(f"it answers with status {status}", _seconds(response.getheader("Retry-After")))
        data = response.read(most + 1)
        if status != _GOOD:
            raise self._failure(f"it refuses with status {status}{_code(data)}")
        if len(data) > most:
            raise self._failure(f"its answer has more than {most} bytes")
        if response.length:
            raise http.client.IncompleteRead(data, response.length)
        return data

    def _vectors(self, data: bytes, count: int) -> npt.NDArray[np.float64]:
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            raise _Passing("half an answer") from None
        items = document.get("data") if isinstance(document, dict) else None
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise self._failure("its answer holds no embeddings")
        if len(items) != count:
            raise self._failure(f"it gave {len(items)} vectors for {count} texts")
        by_index = {item.get("index"): item.get("embedding") for item in items if type(item.get("index")) is int}
        rows = [by_index.get(index) for index in range(count)]
        if len(by_index) != count or any(row is None for row in rows):
            raise self._failure("its vectors do not tell which texts they are of")
        return self._numbers(rows)

    def _numbers(self, rows: list[Any]) -> npt.NDArray[np.float64]:
        whole = [isinstance(row, list) and all(type(number) in (int, float) for number in row) for row in rows]
        widths = {len(row) for row in rows if isinstance(row, list)}
        if not all(whole) or len(widths) != 1:
            raise self._failure("its vectors are not rows of numbers of one width")
        try:
            vectors = np.array(rows, np.float64)
        except OverflowError:
            raise self._failure("a vector holds what is no finite number of 32 bits") from None
        if not (np.abs(vectors) <= _GREATEST).all():
            raise self._failure("a vector holds what is no finite number of 32 bits")
        return vectors

    def _failure(self, what: str) -> EncoderUnavailable:
        return EncoderUnavailable(
            f"the embeddings service {self._endpoint} with model {self._model} cannot be used: {what}",
            hint="what was published is still served, and `strata query --mode lexical` answers without it",
        )


def _cut(connection: socket.socket, late: threading.Event) -> None:
    """End a connection that took too long, so that whoever waits for it goes on, and knows why."""
    late.set()
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _seconds(header: str | None) -> float | None:
    """Return the seconds of a Retry-After; a date there is not read, so the usual wait holds."""
    return float(header) if header and _SECONDS.fullmatch(header.strip()) else None


def _code(data: bytes) -> str:
    """Return the code of an error answer, "" where it has none that can be shown."""
    try:
        error = json.loads(data)["error"]
        code = error.get("code") or error.get("type") or ""
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return ""
    return f" ({code})" if isinstance(code, str) and _CODE.fullmatch(code) else ""
