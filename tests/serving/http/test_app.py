from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from pipelines.errors import NothingIndexed, StorageError
from pipelines.serving.http.bodies import MAX_BODY_BYTES
from pipelines.serving.http.workers import MAX_WAITING
from pipelines.serving.service import Service
from tests.serving.http.clients import HTML, TOKEN, client_of
from tests.serving.library_of import SmallLibrary, library_of, wait_until

QUERY = "/api/semantic/query"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with client_of(library_of(tmp_path_factory.mktemp("served"))) as client:
        yield client


def refused(answer: Any, status: int) -> dict[str, str]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    document: dict[str, str] = answer.json()
    assert document.keys() == {"error", "detail", "hint"}
    return document


def test_a_query_is_answered_as_on_the_command_line(client: TestClient) -> None:
    answer = client.post(QUERY, json={"query": "with_retry", "limit": 1, "expand": "neighbors"})
    assert answer.status_code == 200
    document = answer.json()
    assert [hit["path"] for hit in document["hits"]] == ["orders/retry.py"]
    assert document["expansion"]["neighbors"][0]["symbol"] == "backoff"
    assert list(document)[:4] == ["schema_version", "query", "mode", "fusion"]


def test_a_filter_that_fits_nothing_is_told_with_what_is_near(client: TestClient) -> None:
    answer = client.post(QUERY, json={"query": "with_retry", "path": "oders/*.py"})
    assert answer.json()["notes"] == ["no file of the index matches path 'oders/*.py'; near it: orders"]
    unknown = client.post(QUERY, json={"query": "with_retry", "language": "pyhton"})
    assert refused(unknown, 422)["hint"] == "known: python, go, markdown"
    page = client.get("/", params={"q": "with_retry", "path": "oders/*.py"}, headers=HTML).text
    assert "near it: orders" in page


def test_health_and_status(client: TestClient) -> None:
    assert client.get("/api/health").json()["status"] == "ok"
    status = client.get("/api/semantic/status").json()
    assert (status["state"], status["repositories"][0]["repo"]) == ("ready", "sample")


def test_the_description_is_that_of_the_answers(client: TestClient) -> None:
    document = client.get("/api/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert set(document["paths"]) == {"/api/health", "/api/semantic/status", QUERY, "/api/openapi.json"}
    answer = client.post(QUERY, json={"query": "x"}).json()
    assert set(answer) <= set(document["components"]["schemas"]["Answer"]["properties"])


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b"\xff\xfe{\x00}\x00", 400, "not UTF-8"),
        (b"[" * 100_000, 400, "not JSON"),
        (b"[]", 422, "must be a JSON object"),
        (b'"query"', 422, "must be a JSON object"),
        (b'{"query": "x", "limit": ' + b"9" * 5_000 + b"}", 400, "not JSON"),
        (b'{"query": "x", "limit": 1e400}', 422, "whole number"),
        (b'{"query": "x", "limit": NaN}', 422, "whole number"),
        (b'{"query": "x", "\\ud800": 1}', 422, "unknown field"),
        (b'{"query": "x", "repo": "\\ud800"}', 404, "is not served"),
        (b'{"query": "x", "path": "[z-a]"}', 422, "no glob"),
        (b'{"query": "x", "language": "klingon"}', 422, "klingon"),
        (b'{"query": "x", "fusion": "late", "mode": "lexical"}', 422, "semantic pool"),
    ],
)
def test_a_wrong_body_is_told(client: TestClient, body: bytes, status: int, told: str) -> None:
    answer = client.post(QUERY, content=body, headers={"content-type": "application/json"})
    assert told in refused(answer, status)["detail"]


@pytest.mark.parametrize(
    "text", ["\ud800", "\x00", "🙂" * 16_000, "a\u202eb", "*?[]()^$|\\", '"', "-", "AND OR NOT", "%00%ff"]
)
def test_odd_queries_are_text(client: TestClient, text: str) -> None:
    answer = client.post(QUERY, content=json.dumps({"query": text}), headers={"content-type": "application/json"})
    assert answer.status_code == 200


def test_stars_in_a_path_cost_no_time(client: TestClient) -> None:
    answer = client.post(QUERY, json={"query": "retry", "path": ["**/" * 300 + "*a*b*c*d*e*f*g.x"]})
    assert answer.status_code == 200


def test_a_body_that_is_too_long_is_refused(client: TestClient) -> None:
    long = b'{"query": "' + b"x" * MAX_BODY_BYTES + b'"}'
    assert (
        "at most"
        in refused(client.post(QUERY, content=long, headers={"content-type": "application/json"}), 413)["hint"]
    )

    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x" * 16_384

    refused(client.post(QUERY, content=pieces(), headers={"content-type": "application/json"}), 413)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_is_taken_so_that_no_foreign_form_can_ask(client: TestClient, kind: str) -> None:
    refused(client.post(QUERY, content=b'{"query": "x"}', headers={"content-type": kind}), 415)


def test_what_is_not_there_is_told(client: TestClient) -> None:
    assert "openapi" in refused(client.get("/api/nothing"), 404)["hint"]
    answer = client.get(QUERY)
    refused(answer, 405)
    assert answer.headers["allow"] == "POST"
    refused(client.options(QUERY), 405)


def test_no_other_site_is_allowed_to_read(client: TestClient) -> None:
    answer = client.post(QUERY, json={"query": "x"}, headers={"origin": "https://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    foreign = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    refused(client.get("/?q=x", headers=foreign), 403)
    assert client.get("/?q=x", headers={**foreign, "sec-fetch-mode": "navigate"}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8080", ""])
def test_a_request_under_a_foreign_name_is_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/api/health", "/static/page.css"):
        refused(client.get(path, headers={"host": host}), 421)


@pytest.mark.parametrize("path", ["/", "/?q=retry", "/chunk", "/api/health", "/api/nothing", "/static/page.css"])
def test_every_answer_has_the_headers_that_protect_its_reader(client: TestClient, path: str) -> None:
    headers = client.get(path, headers=HTML).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == ("public, max-age=31536000, immutable" if "static" in path else "no-store")
    assert "server" not in headers


def test_without_an_index_there_is_an_answer_all_the_same(tmp_path: Path) -> None:
    library = SmallLibrary(tmp_path)
    with client_of(library) as client:
        assert "strata index" in refused(client.post(QUERY, json={"query": "x"}), 503)["hint"]
        assert client.get("/api/semantic/status").json()["state"] == "error"
        library.publish()
        assert client.post(QUERY, json={"query": "retry"}).status_code == 200


def test_a_store_that_fails_is_told_and_comes_back(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    with client_of(library) as client:
        library.fails = StorageError("the disk is gone", hint="bring it back")
        assert refused(client.post(QUERY, json={"query": "x"}), 503) == {
            "error": "StorageError",
            "detail": "the disk is gone",
            "hint": "bring it back",
        }
        library.fails = None
        assert client.post(QUERY, json={"query": "x"}).status_code == 200


def test_a_store_that_was_moved_away_is_told_without_its_folders(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    library.fails = NothingIndexed("no index found for /srv/secret/code", hint="remove /srv/secret/code first")
    with client_of(library) as client:
        problem = refused(client.post(QUERY, json={"query": "x"}), 503)
        assert (problem["detail"], problem["hint"]) == ("no index found for …/code", "remove …/code first")
        for address in ("/api/semantic/status", "/", "/?q=x", "/chunk?in=sample&id=00"):
            told = client.get(address, headers=HTML).text
            assert "secret" not in told
            assert "no index found" in told


def test_a_fault_shows_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with client_of(library_of(tmp_path)) as client:
        monkeypatch.setattr(Service, "ask", lambda *_: 1 / 0)  # the background, which reads the library too, goes on
        document = refused(client.post(QUERY, json={"query": "x"}), 500)
    assert document["error"] == "InternalServerError"
    assert "ZeroDivision" not in str(document)


def test_requests_beyond_those_that_may_wait_are_told_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = library_of(tmp_path)
    with client_of(library) as client:
        going, entered = threading.Event(), threading.Semaphore(0)
        pointers = library.pointers

        def held() -> Any:
            entered.release()
            going.wait(30)
            return pointers()

        monkeypatch.setattr(library, "pointers", held)
        statuses: list[int] = []
        ask = lambda: statuses.append(client.post(QUERY, json={"query": "x"}).status_code)  # noqa: E731
        threads = [threading.Thread(target=ask) for _ in range(140)]
        for thread in threads:
            thread.start()
        wait_until(lambda: statuses.count(503) == 140 - MAX_WAITING)
        going.set()
        for thread in threads:
            thread.join()
    assert statuses.count(200) == MAX_WAITING


# --- the token ---


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with client_of(library_of(tmp_path_factory.mktemp("guarded")), "0.0.0.0", TOKEN) as client:
        yield client


@pytest.mark.parametrize(
    "path", ["/", "/chunk", "/api/health", "/api/semantic/status", "/api/openapi.json", "/nothing"]
)
def test_without_the_token_nothing_is_told(guarded: TestClient, path: str) -> None:
    answer = guarded.get(path)
    refused(answer, 401)
    assert answer.headers["www-authenticate"] == "Bearer"
    assert guarded.get(path, headers={"authorization": f"Bearer {TOKEN[:-1]}"}).status_code == 401


def test_with_the_token_everything_is(guarded: TestClient) -> None:
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.post(QUERY, json={"query": "x"}, headers=bearer).status_code == 200
    assert "security" in guarded.get("/api/openapi.json", headers=bearer).json()


def test_a_person_signs_in_and_comes_to_the_page_that_was_wanted(guarded: TestClient) -> None:
    page = guarded.get("/?q=retry&language=go", headers=HTML)
    assert page.status_code == 401
    assert 'value="/?q=retry&amp;language=go"' in page.text
    wrong = guarded.post("/sign-in", data={"token": "wrong", "target": "/?q=retry"})
    assert wrong.status_code == 401
    assert "set-cookie" not in wrong.headers
    answer = guarded.post("/sign-in", data={"token": TOKEN, "target": "/?q=retry"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=retry")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    session = {"cookie": cookie.partition(";")[0]}
    assert guarded.get("/?q=retry", headers={**HTML, **session}).status_code == 200
    guarded.cookies.clear()
    assert guarded.get("/", headers={**HTML, "cookie": "strata_session=0"}).status_code == 401


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example", "", "/a\r\nx: y"])
def test_signing_in_leads_to_no_other_site(guarded: TestClient, target: str) -> None:
    answer = guarded.post("/sign-in", data={"token": TOKEN, "target": target})
    guarded.cookies.clear()
    assert answer.headers["location"] == "/"
