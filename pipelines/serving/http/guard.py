"""What stands before every route: the name of the server, the token, and the headers of every answer.

Plain ASGI, so that a request that is refused costs nothing and no body is read for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipelines.serving.http.access import COOKIE, Access

#: Own files only; nothing inline, nothing from elsewhere, no frame around it.
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",  # an address holds the query
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
#: What a browser that has not signed in needs to do so.
_OPEN_PATHS = ("/static/", "/sign-in")

#: Makes the answer that refuses a request: status, detail, hint, headers.
Refuse = Callable[[Request, int, str, str], Response]


class Guard:
    """Wraps an application."""

    def __init__(self, app: ASGIApp, access: Access, refuse: Refuse) -> None:
        self._app, self._access, self._refuse = app, access, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request itself, or hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refused(Request(scope))
        answer: Callable[[Scope, Receive, Send], Awaitable[None]] = refused or self._app
        await answer(scope, receive, _with_headers(send))

    def _refused(self, request: Request) -> Response | None:
        headers, path = request.headers, request.url.path
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._access.knows_host(hosts[0]):
            names = ", ".join(sorted(self._access.names))
            return self._refuse(request, 421, "the request names another server", f"this one is called {names}")
        if _is_foreign(headers):
            return self._refuse(request, 403, "the request comes from a page of another site", "open this page itself")
        if path.startswith(_OPEN_PATHS):
            return None
        if not self._access.admits(headers.get("authorization", ""), request.cookies.get(COOKIE, "")):
            refusal = self._refuse(
                request, 401, "an access token is needed", "send it as `Authorization: Bearer TOKEN`"
            )
            refusal.headers["www-authenticate"] = "Bearer"
            return refusal
        return None


def _is_foreign(headers: Headers) -> bool:
    """Tell whether another site's page makes its reader's browser ask; following a link is allowed."""
    return headers.get("sec-fetch-site") in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate"


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending
