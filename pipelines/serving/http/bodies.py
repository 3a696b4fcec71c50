"""The body of a request: bounded in size and time, and JSON, or an error that says what it is instead."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request

#: Bytes of a body: a query of the greatest length, each of its characters written out as JSON allows, with its filters.
MAX_BODY_BYTES = 1 << 19
#: A body that has not come in so many seconds does not come.
BODY_TIMEOUT_S = 10.0


class Refused(Exception):
    """A request that cannot be answered, with the status that says so."""

    def __init__(self, status: int, detail: str, hint: str = "") -> None:
        super().__init__(detail)
        self.status, self.detail, self.hint = status, detail, hint


async def read_document(request: Request) -> Mapping[str, Any]:
    """Return the JSON object in the body of a request.

    :raises Refused: if it is none, too long, or slow to come.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "the body must be JSON", "send `Content-Type: application/json`")
    body = await read_body(request)
    try:
        document = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise Refused(400, "the body is not UTF-8", "JSON is sent as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body is not JSON: {str(error)[:200]}", 'send {"query": "..."}') from None
    if not isinstance(document, dict):
        raise Refused(422, "the body must be a JSON object", 'send {"query": "..."}')
    return document


async def read_body(request: Request, most: int = MAX_BODY_BYTES) -> bytes:
    """Return the body of a request of at most so many bytes."""
    announced = request.headers.get("content-length", "0")
    if announced.isascii() and announced.isdigit() and (len(announced) > 18 or int(announced) > most):
        raise Refused(413, f"the body has {announced[:18]} bytes", f"at most {most}")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise Refused(413, f"the body has more than {most} bytes", f"at most {most}")
    except ClientDisconnect:
        raise Refused(400, "the client broke off in the body", "send it whole") from None  # nobody reads this
    except TimeoutError:
        raise Refused(408, f"the body did not come within {BODY_TIMEOUT_S:.0f} s", "send it at once") from None
    return bytes(body)
