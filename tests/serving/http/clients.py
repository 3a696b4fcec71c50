"""A client of the application, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.testclient import TestClient

from pipelines.serving.http.access import make_access
from pipelines.serving.http.app import make_app
from pipelines.serving.service import Service
from tests.serving.library_of import SmallLibrary

TOKEN = "0123456789abcdef0123456789abcdef"
HTML = {"accept": "text/html"}


@contextmanager
def client_of(library: SmallLibrary, host: str = "127.0.0.1", token: str = "") -> Iterator[TestClient]:
    app = make_app(Service(library), make_access(host, token))
    with TestClient(
        app, base_url="http://127.0.0.1:8080", raise_server_exceptions=False, follow_redirects=False
    ) as client:
        yield client
