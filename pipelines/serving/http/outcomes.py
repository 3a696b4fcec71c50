"""How what went wrong leaves the server: one status for each kind of error, and never a traceback.

In: an exception. Out: a status with error, detail and hint, as JSON for programs and as a page for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from starlette.exceptions import HTTPException

from pipelines.errors import InputError, NotFound, NothingIndexed, StrataError
from pipelines.serving.folders import without_folders
from pipelines.serving.http.bodies import Refused

_FAULT = ("a fault in Strata; the server's log has the traceback", "please report it")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request has no answer."""

    status: int
    error: str
    detail: str
    hint: str = ""
    headers: Mapping[str, str] | None = None

    @property
    def document(self) -> dict[str, str]:
        """The problem as JSON has it."""
        return {"error": self.error, "detail": self.detail, "hint": self.hint}


def problem_of(error: Exception, folders: Iterable[str] = ()) -> Problem:
    """Return how an exception is told.

    :param error: what went wrong. :param folders: those of the machine that its message may name.
    """
    if isinstance(error, StrataError):
        status, detail, hint = _status(error), error.message, error.hint
        if status == 503:  # of the server; what is wrong with a request is told in its own words
            detail, hint = without_folders(detail, folders), without_folders(hint, folders)
        return Problem(status, type(error).__name__, detail, hint, _retry(status))
    if isinstance(error, Refused):
        return Problem(error.status, _phrase(error.status), error.detail, error.hint, _retry(error.status))
    if isinstance(error, HTTPException):
        detail = error.detail.lower() if error.detail == HTTPStatus(error.status_code).phrase else error.detail
        hint = _HINTS.get(error.status_code, "")
        return Problem(error.status_code, _phrase(error.status_code), detail, hint, error.headers)
    return Problem(500, _phrase(500), *_FAULT)


def refusal(status: int, detail: str, hint: str) -> Problem:
    """Return a problem that no exception stands for."""
    return Problem(status, _phrase(status), detail, hint)


_HINTS = {404: "/api/openapi.json tells what there is", 405: "/api/openapi.json tells what may be asked, and how"}


def _status(error: StrataError) -> int:
    if isinstance(error, NothingIndexed):
        return 503
    if isinstance(error, NotFound):
        return 404
    if isinstance(error, InputError):
        return 422
    return 503


def _retry(status: int) -> Mapping[str, str] | None:
    return {"retry-after": "1"} if status == 503 else None


def _phrase(status: int) -> str:
    """Return the name of a status in the form that the other errors have: 413 -> ContentTooLarge."""
    return "".join(word.capitalize() for word in HTTPStatus(status).phrase.replace("-", " ").split())
