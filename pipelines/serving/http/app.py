"""The application: which address answers what. In: a service and the rules of access. Out: an ASGI application.

GET  /api/health            the process answers
GET  /api/semantic/status   how the index stands
POST /api/semantic/query    a question, as `strata query --json` answers it
GET  /api/openapi.json      what of this a program needs to know
GET  /                      the search page;  /chunk  one chunk;  /sign-in  where a token is needed
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pipelines.errors import StrataError
from pipelines.formats import JSON_SCHEMA_VERSION
from pipelines.serving.asking import question
from pipelines.serving.cli.streams import encodable
from pipelines.serving.http.access import COOKIE, Access
from pipelines.serving.http.bodies import Refused, read_body, read_document
from pipelines.serving.http.guard import Guard
from pipelines.serving.http.openapi import description
from pipelines.serving.http.outcomes import Problem, problem_of, refusal
from pipelines.serving.http.page import Page, sign_in_target
from pipelines.serving.http.workers import Workers
from pipelines.serving.service import Service

#: Bytes of the form with the token.
_MAX_FORM_BYTES = 8_192


def make_app(service: Service, access: Access) -> Starlette:
    """Return the application. It starts the service with itself, and closes it."""
    handlers = _Handlers(service, access, Workers())

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await handlers.workers.run(service.start)
        try:
            yield
        finally:
            await handlers.workers.run(service.close)

    routes = [
        Route("/api/health", handlers.health, methods=["GET"]),
        Route("/api/semantic/status", handlers.status, methods=["GET"]),
        Route("/api/semantic/query", handlers.query, methods=["POST"]),
        Route("/api/openapi.json", handlers.openapi, methods=["GET"]),
        Route("/", handlers.search, methods=["GET"]),
        Route("/chunk", handlers.chunk, methods=["GET"]),
        Route("/sign-in", handlers.sign_in, methods=["POST"]),
        Route("/static/{name}", handlers.static, methods=["GET"]),
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, access=access, refuse=handlers.refuse)],
        exception_handlers={
            StrataError: handlers.failed,
            Refused: handlers.failed,
            HTTPException: handlers.failed,
            Exception: handlers.failed,
        },
    )


class _Handlers:
    """One method per route."""

    def __init__(self, service: Service, access: Access, workers: Workers) -> None:
        self._service, self._access, self.workers = service, access, workers
        self._others = Workers()  # pages and the status may wait for a look at the sources, which no query does
        self._page = Page(service)
        self._description = description(needs_token=bool(access.token))
        self._version = version("codestrata")

    # --- programs ---

    async def health(self, _request: Request) -> Response:
        return _json({"schema_version": JSON_SCHEMA_VERSION, "status": "ok", "version": self._version})

    async def status(self, _request: Request) -> Response:
        return _json(await self._others.run(self._service.status))

    async def query(self, request: Request) -> Response:
        document = await read_document(request)
        return await self.workers.run(self._answer, document)

    async def openapi(self, _request: Request) -> Response:
        return _json(self._description)

    def _answer(self, document: Mapping[str, Any]) -> Response:
        return _json(self._service.ask(question(document)).document())

    # --- people ---

    async def search(self, request: Request) -> Response:
        return await self._others.run(self._page.search, request.query_params)

    async def chunk(self, request: Request) -> Response:
        return await self._others.run(self._page.chunk, request.query_params)

    async def static(self, request: Request) -> Response:
        return self._page.static(request.path_params["name"])

    async def sign_in(self, request: Request) -> Response:
        token, target = sign_in_target(await read_body(request, _MAX_FORM_BYTES))
        if not self._access.token or not self._access.is_token(token):
            return self._page.sign_in(target, wrong=True)
        answer = RedirectResponse(target, status_code=303)
        secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, self._access.session, httponly=True, samesite="strict", secure=secure)
        return answer

    # --- what goes wrong ---

    async def failed(self, request: Request, error: Exception) -> Response:
        return self._tell(request, problem_of(error, self._service.standing.last().folders))

    def refuse(self, request: Request, status: int, detail: str, hint: str) -> Response:
        if status == 401 and _is_for_a_person(request):
            return self._page.sign_in(_address(request), wrong=False)
        return self._tell(request, refusal(status, detail, hint))

    def _tell(self, request: Request, problem: Problem) -> Response:
        if _is_for_a_person(request):
            return self._page.problem(problem)
        return _json(problem.document, problem.status, problem.headers)


def _json(document: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(encodable(text).encode(), status, headers, media_type="application/json")


def _is_for_a_person(request: Request) -> bool:
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def _address(request: Request) -> str:
    """Return the path and query of a request, to come back to."""
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")
