"""A question as it comes from outside: over HTTP, from a page's address, from an agent. Out: a checked Query.

One table says what may be asked, so that the HTTP interface, its description, the page and the agent's tool agree with
the command line. An unknown field is refused, because one that is ignored looks as if it had been obeyed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pipelines.errors import InputError
from pipelines.retrieval import Query

#: Values of one filter, and characters of one value: more is no filter that a person has written.
MAX_VALUES = 32
MAX_VALUE_CHARS = 1_000
#: As many digits as any bound has, and one more: no number takes long to read.
_MAX_DIGITS = 6
#: Characters of a wrong value that are told back.
_MAX_SHOWN_CHARS = 80

Kind = Literal["string", "integer", "boolean", "list"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a question. `attribute` is that of Query; a list field may be given as one string too."""

    name: str
    kind: Kind
    attribute: str
    about: str

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that are allowed, () for any."""
        allowed = Query.ALLOWED.get(self.attribute, ())
        return allowed if isinstance(allowed, tuple) else ()

    @property
    def bounds(self) -> range:
        """The range that a number, or the length of a text, stays in."""
        allowed = Query.ALLOWED.get(self.attribute, ())
        return allowed if isinstance(allowed, range) else range(0)


_AND = 'Every word must occur, "a phrase" as it stands, -word must not.'
_EXPAND = "Add what the hits call and are called by, or counts of all their callers."
FIELDS: Mapping[str, Field] = {
    field.name: field
    for field in (
        Field("query", "string", "text", "Words, a name, or a question in plain language."),
        Field("repo", "list", "", "Only these repositories, by key."),
        Field("limit", "integer", "limit", "How many hits."),
        Field("mode", "string", "mode", "Which branches answer."),
        Field("fusion", "string", "fusion", "How the branches are merged."),
        Field("no_fusion", "boolean", "no_fusion", "The plain order of one branch."),
        Field("keyword_and", "boolean", "keyword_and", _AND),
        Field("candidate_pool", "integer", "candidate_pool", "Rows that are rescored."),
        Field("scoring", "string", "scoring", "What puts the semantic pool into order."),
        Field("path", "list", "paths", "Only files that match one of these globs."),
        Field("language", "list", "languages", "Only these languages."),
        Field("scope", "list", "scopes", "Only these scopes of a monorepo."),
        Field("kind", "list", "kinds", "Only chunks of these kinds."),
        Field("expand", "string", "expand", _EXPAND),
        Field("expand_depth", "integer", "expand_depth", "How many calls away."),
        Field("explain", "boolean", "explain", "Tell what the query was taken for."),
    )
}
_DEFAULTS: Mapping[str, Any] = {item.name: item.default for item in dataclasses.fields(Query)}


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and the keys of the repositories that it is put to; none = all that are served."""

    query: Query
    repos: tuple[str, ...] = ()


def default_of(name: str) -> str:
    """Return what a field is where it is not given, as an address would say it; "" for nothing."""
    default = _DEFAULTS.get(FIELDS[name].attribute)
    return str(default or "")


def question(given: Mapping[str, Any]) -> Question:
    """Return the question that a document asks.

    :raises InputError: naming the field, for an unknown one, a wrong type or a value out of bounds.
    """
    unknown = sorted(set(given) - FIELDS.keys())
    if unknown:
        raise InputError(f"unknown field {quoted(unknown[0])}", hint=f"allowed: {', '.join(FIELDS)}")
    if "query" not in given:
        raise InputError("the field query is missing", hint='send {"query": "words, a name or a sentence"}')
    values = {name: _checked(FIELDS[name], value) for name, value in given.items()}
    repos = values.pop("repo", ())
    return Question(Query(**{FIELDS[name].attribute: value for name, value in values.items()}), repos)


def question_of_strings(given: Mapping[str, Sequence[str]]) -> Question:
    """Return the question that the parameters of an address ask; an empty value counts as not given."""
    document: dict[str, Any] = {}
    for name, values in given.items():
        kept = [value for value in values if value.strip()]
        if name == "query":
            document[name] = " ".join(values)
        elif kept:
            document[name] = _from_strings(FIELDS[name], kept)
    return question(document)


def quoted(value: object) -> str:
    """Return a value that was given as a message tells it back: as it is written, but never all of a long one."""
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + "…"


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a question."""
    return {
        "type": "object",
        "required": ["query"],
        "additionalProperties": False,
        "properties": {field.name: _field_schema(field) for field in FIELDS.values()},
    }


def _checked(field: Field, value: Any) -> Any:
    if field.kind == "list":
        return _checked_list(field, value)
    if field.kind == "integer":
        # JSON has one kind of number: 10.0 is ten
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        if isinstance(whole, bool) or not isinstance(whole, int):
            raise InputError(f"{field.name} must be a whole number", hint=_allowed(field))
        if abs(whole) >= 10**_MAX_DIGITS:
            raise InputError(f"{field.name} = {quoted(whole)} is out of range", hint=_allowed(field))
        return whole
    expected = str if field.kind == "string" else bool
    if not isinstance(value, expected):
        raise InputError(f"{field.name} must be a {field.kind}", hint=_allowed(field))
    if field.choices and value not in field.choices:
        raise InputError(f"{field.name} {quoted(value)} is not known", hint=_allowed(field))
    return value


def _checked_list(field: Field, value: Any) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise InputError(f"{field.name} must be a string or a list of strings", hint=_allowed(field))
    if len(items) > MAX_VALUES:
        raise InputError(f"{field.name} has {len(items)} values", hint=f"at most {MAX_VALUES}")
    long = next((item for item in items if len(item) > MAX_VALUE_CHARS), None)
    if long is not None:
        raise InputError(f"a value of {field.name} has {len(long)} characters", hint=f"at most {MAX_VALUE_CHARS}")
    for item in items:
        if field.choices and item not in field.choices:
            raise InputError(f"{field.name} {quoted(item)} is not known", hint=_allowed(field))
    return tuple(items)


def _from_strings(field: Field, values: Sequence[str]) -> Any:
    if field.kind == "list":
        return list(values)
    last = values[-1].strip()
    if field.kind == "boolean":
        return last not in ("0", "false", "off", "no")
    if field.kind == "integer":
        return int(last) if last.isascii() and last.isdigit() and len(last) <= _MAX_DIGITS else last
    return last


def _field_schema(field: Field) -> dict[str, Any]:
    about: dict[str, Any] = {"description": field.about}
    default = _DEFAULTS.get(field.attribute, dataclasses.MISSING)
    if default is not dataclasses.MISSING and default not in (None, ()):
        about["default"] = default
    if field.kind == "integer":
        return {"type": "integer", "minimum": field.bounds[0], "maximum": field.bounds[-1], **about}
    if field.kind == "boolean":
        return {"type": "boolean", **about}
    value: dict[str, Any] = {"type": "string"}
    if field.choices:
        value["enum"] = list(field.choices)
    if field.kind == "list":
        value["maxLength"] = MAX_VALUE_CHARS
        return {"oneOf": [value, {"type": "array", "items": value, "maxItems": MAX_VALUES}], **about}
    if field.name == "query":
        value |= {"minLength": field.bounds[0], "maxLength": field.bounds[-1], "pattern": r"\S"}
    return {**value, **about}


def _allowed(field: Field) -> str:
    if field.choices:
        return f"allowed: {', '.join(field.choices)}"
    return f"allowed: {field.bounds[0]} to {field.bounds[-1]}" if field.kind == "integer" else field.about
