"""The pages for people: search, one chunk, sign-in, and what went wrong. In: an address's parameters. Out: HTML.

Made on the server, so an address can be shared and nothing depends on scripts. Whatever comes from a repository is
escaped, and characters that would act instead of being shown are written out, as on a terminal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any
from urllib.parse import parse_qs, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.datastructures import QueryParams
from starlette.responses import HTMLResponse, Response

from pipelines.errors import StrataError
from pipelines.records import Hit
from pipelines.retrieval import Expansion, Query, StoredChunk
from pipelines.serving.asking import FIELDS, Question, default_of, question_of_strings
from pipelines.serving.cli.streams import visible
from pipelines.serving.http.outcomes import Problem, problem_of
from pipelines.serving.http.shares import LABELS, bars, is_definition
from pipelines.serving.marking import marked
from pipelines.serving.service import Answered, Service
from pipelines.serving.terms import placing_terms, telling_terms

_HERE = Path(__file__).parent
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
#: The parameter that holds the query; the others are called like the fields of a question.
_QUERY = "q"
#: Parameters of a search that the page offers, the rare ones folded away; others in an address say nothing here.
_ADVANCED = ("fusion", "candidate_pool", "scoring", "expand", "expand_depth")
_OFFERED = ("repo", "limit", "mode", "keyword_and", "path", "language", "scope", "kind", *_ADVANCED)
_FILTERS = ("repo", "path", "language", "scope", "kind")
_LIMITS = (10, 20, 50, 100)
#: Digits of a line's number in any file that is read.
_MAX_LINE_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Form:
    """What is asked for, as it was given: shown again even where it is wrong."""

    text: str
    given: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def values(self, name: str) -> Sequence[str]:
        """Return all values of a parameter."""
        return self.given.get(name, ())

    def value(self, name: str, default: object = "") -> str:
        """Return the last value of a parameter."""
        values = self.values(name)
        return values[-1] if values else str(default)

    @property
    def filters(self) -> list[tuple[str, str, str]]:
        """The filters that hold: name, value, and the address without it."""
        return [(name, value, self.address(without=(name, value))) for name in _FILTERS for value in self.values(name)]

    @property
    def advanced(self) -> list[str]:
        """The names of what differs from its default and stands behind the others."""
        return [name for name in _ADVANCED if name in self.given and self.value(name) != default_of(name)]

    @property
    def marks(self) -> Set[str]:
        """The words that a text shows as found, whatever else is wrong with what was asked."""
        with suppress(StrataError):  # no words, or too many
            return Query(self.text).marks
        return frozenset()

    def parameters(self, without: tuple[str, str] = ("", "")) -> list[tuple[str, str]]:
        """Return the parameters of the address that asks for this."""
        others = [(name, value) for name in _OFFERED for value in self.values(name)]
        return [(_QUERY, self.text), *(item for item in others if item != without)] if self.text else others

    def address(self, without: tuple[str, str] = ("", "")) -> str:
        """Return the address that asks for this."""
        return _address("/", self.parameters(without))

    def chunk_address(self, repo: str, chunk_id: str, line: int = 0) -> str:
        """Return the address of a chunk, opened at a line, from which one comes back to this."""
        at = [("line", str(line))] if line else []
        address = _address("/chunk", [("in", repo), ("id", chunk_id), *at, *self.parameters()])
        return f"{address}#L{line}" if line else address


def read_form(parameters: QueryParams) -> Form:
    """Return what an address asks for."""
    given = {name: [item for item in parameters.getlist(name) if item.strip()] for name in _OFFERED}
    return Form(" ".join(parameters.getlist(_QUERY)).strip(), {name: items for name, items in given.items() if items})


def sign_in_target(body: bytes) -> tuple[str, str]:
    """Return the token of the sign-in form, and the address on this server to go on to."""
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=8)
    except ValueError:
        fields = {}
    target = fields.get("target", ["/"])[0]
    own = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return fields.get("token", [""])[0].strip(), target if own else "/"


class Page:
    """Renders the pages of a service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._static = {path.name: path.read_bytes() for path in sorted((_HERE / "static").iterdir())}
        digest = hashlib.blake2b(b"".join(self._static.values()), digest_size=6).hexdigest()
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_finalized,
            auto_reload=False,
        )
        self._templates.filters["ticked"] = _ticked
        self._templates.globals |= {
            "edition": digest,
            "labels": LABELS,
            "fields": FIELDS,
            "limits": _LIMITS,
            "default_of": default_of,
        }

    def search(self, parameters: QueryParams) -> Response:
        """Return the search page, with the answer if something is asked."""
        form = read_form(parameters)
        status, shown = 200, dict[str, Any](answered=None, problem=None, hits=())
        if form.text:
            try:
                answered = self._service.ask(_question(form))
                shown |= {"answered": answered, "hits": list(_hits(answered, form))}
            except StrataError as error:
                problem = problem_of(error, self._service.standing.last().folders)
                status, shown["problem"] = problem.status, problem
        return self._html("search.html", status, form=form, choices=self._choices(), **shown)

    def chunk(self, parameters: QueryParams) -> Response:
        """Return the page of one chunk."""
        form = read_form(parameters)
        try:
            repo, chunk_id = parameters.get("in", ""), parameters.get("id", "")
            chunk = self._service.chunk(repo, chunk_id)
            around = self._service.related(repo, chunk_id, "neighbors", 1)
        except StrataError as error:
            return self.problem(problem_of(error, self._service.standing.last().folders))
        line = _line_of(parameters.get("line", ""), chunk)
        return self._html(
            "chunk.html", 200, form=form, chunk=chunk, line=line, lines=_lines(chunk, form, line), around=around
        )

    def sign_in(self, target: str, *, wrong: bool) -> Response:
        """Return the page that asks for the token."""
        answer = self._html("sign_in.html", 401, look=None, target=target, wrong=wrong)
        answer.headers["www-authenticate"] = "Bearer"
        return answer

    def problem(self, problem: Problem) -> Response:
        """Return a page that says what went wrong; it asks the index nothing, since that may be what is wrong."""
        answer = self._html("problem.html", problem.status, look=None, problem=problem)
        answer.headers.update(problem.headers or {})
        return answer

    def static(self, name: str) -> Response:
        """Return a file of the page. Its address holds the edition of all of them, so it may be kept."""
        if name not in self._static:
            problem = Problem(404, "NotFound", f"there is no file {name[:80]!r}")
            return self.problem(problem)
        headers = {"cache-control": "public, max-age=31536000, immutable"}
        return Response(self._static[name], headers=headers, media_type=_TYPES[name.rpartition(".")[2]])

    def _choices(self) -> Mapping[str, Sequence[str]]:
        try:
            return self._service.labels()
        except StrataError:
            return dict.fromkeys(("repo", "language", "scope", "kind"), ())

    def _html(self, template: str, status: int, **shown: Any) -> Response:
        shown = {"look": self._service.look() if "look" not in shown else shown.pop("look"), **shown}
        text = self._templates.get_template(template).render(**shown)
        return HTMLResponse(text.encode("utf-8", "replace"), status)


def _question(form: Form) -> Question:
    return question_of_strings({"query": [form.text], **form.given})


@dataclass(frozen=True, slots=True)
class _ShownHit:
    """A hit as the page shows it."""

    hit: Hit
    address: str
    lines: Sequence[Sequence[tuple[str, bool]]]
    bar: Sequence[Any]
    defines: bool
    terms: Sequence[tuple[str, str]]
    placing: Mapping[str, float]
    around: Sequence[tuple[Any, str]]
    reach: Sequence[Any]


def _hits(answered: Answered, form: Form) -> Iterator[_ShownHit]:
    answer = answered.answer
    wanted = answer.query.marks
    expansion = answer.expansion or Expansion("")
    for hit, bar in zip(answer.hits, bars(answer.hits), strict=True):
        around = [item for item in expansion.neighbors if item.anchor == hit.chunk_id and item.repo == hit.repo]
        yield _ShownHit(
            hit,
            form.chunk_address(hit.repo, hit.chunk_id, hit.line),
            [list(marked(text, wanted)) for text in dedent(hit.excerpt).split("\n")],
            bar,
            is_definition(hit),
            list(telling_terms(hit, answer.query.fusion)),
            placing_terms(hit),
            [(item, form.chunk_address(item.repo, item.chunk_id)) for item in around],
            [item for item in expansion.blast if item.anchor == hit.chunk_id],
        )


@dataclass(frozen=True, slots=True)
class _ShownLine:
    """A line of a chunk as the page shows it."""

    number: int
    anchor: bool  # no two lines have the same
    opened: bool
    pieces: Sequence[tuple[str, bool]]


def _lines(chunk: StoredChunk, form: Form, opened: int) -> list[_ShownLine]:
    wanted, before, found = form.marks, 0, []
    for number, text in zip(chunk.lines, chunk.text.split("\n"), strict=True):
        first, before = number != before, number
        found.append(_ShownLine(number, first, first and number == opened, list(marked(text, wanted))))
    return found


def _line_of(given: str, chunk: StoredChunk) -> int:
    """Return the line that an address opens a chunk at, 0 if it has no such line."""
    line = int(given) if given.isascii() and given.isdecimal() and len(given) <= _MAX_LINE_DIGITS else 0
    return line if line in chunk.lines else 0


def _address(path: str, parameters: Sequence[tuple[str, str]]) -> str:
    text = urlencode(list(parameters), errors="replace")
    return f"{path}?{text}" if text else path


def _ticked(text: str) -> Markup:
    """Return a message with what stands between backticks set as code."""
    pieces = [escape(visible(piece)) for piece in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 and place + 1 < len(pieces) else piece
        for place, piece in enumerate(pieces)
    )


def _finalized(value: Any) -> Any:
    """Write out what would act; markup of our own passes."""
    return visible(value) if type(value) is str else value
