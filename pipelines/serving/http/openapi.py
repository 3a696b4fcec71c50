"""What the interface is, for programs: an OpenAPI document. Made from the same table that requests are checked by."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from pipelines.serving.asking import schema

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "number"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_LINE: dict[str, Any] = {"type": "integer", "minimum": 1}
_MAYBE_TEXT: dict[str, Any] = {"type": ["string", "null"]}
_STALENESS: dict[str, Any] = {"type": "string", "enum": ["fresh", "stale", "unknown"]}


def _object(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _map(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


_SCHEMAS: dict[str, Any] = {
    "Question": schema(),
    "Error": {
        **_object({"error": _TEXT, "detail": _TEXT, "hint": _TEXT}),
        "description": "What went wrong, with which value, and the next step.",
    },
    "Health": _object({"schema_version": _COUNT, "status": {"type": "string", "enum": ["ok"]}, "version": _TEXT}),
    "Encoder": _object({"name": _TEXT, "digest": _TEXT, "dimensions": _COUNT}),
    "Hit": _object(
        {
            "rank": _LINE,
            "chunk_id": {**_TEXT, "description": "32 hexadecimal digits; it survives edits of the text."},
            "repo": _TEXT,
            "path": _TEXT,
            "start_line": {**_LINE, "description": "Counted from 1, by LF alone."},
            "end_line": {**_LINE, "description": "Inclusive."},
            "line": {**_LINE, "description": "The line to open: that of the definition or of the best match."},
            "language": _TEXT,
            "kind": _TEXT,
            "symbol": _TEXT,
            "scope": _TEXT,
            "score": {**_NUMBER, "description": "Falls with the rank; compares hits of one answer only."},
            "distance": {"type": ["integer", "null"], "description": "Hamming distance in bits."},
            "terms": {**_map(_NUMBER), "description": "What went into the score."},
            "excerpt": _TEXT,
        }
    ),
    "Related": _object(
        {
            **dict.fromkeys(("anchor", "chunk_id", "repo", "path", "symbol"), _TEXT),
            "start_line": _LINE,
            "end_line": _LINE,
            "hop": _COUNT,
            "direction": {"type": "string", "enum": ["callee", "caller"]},
            "confidence": _NUMBER,
            "strategy": _TEXT,
            "via": _TEXT,
        }
    ),
    "Blast": _object(
        {
            **dict.fromkeys(("anchor", "symbol"), _TEXT),
            **dict.fromkeys(("direct_callers", "impacted", "depth"), _COUNT),
            "blast_rank": _NUMBER,
            "truncated": {"type": "boolean"},
        }
    ),
    "Answer": _object(
        {
            "schema_version": _COUNT,
            "query": _TEXT,
            "mode": _TEXT,
            "fusion": _TEXT,
            "generation": {**_MAYBE_TEXT, "description": "null over several repositories."},
            "commit": {**_MAYBE_TEXT, "description": "null over several repositories."},
            "staleness": _STALENESS,
            "encoder": _ref("Encoder"),
            "counts": _map(_COUNT),
            "timing_ms": _map(_NUMBER),
            "hits": _list(_ref("Hit")),
            "notes": _list(_TEXT),
            "expansion": {
                "oneOf": [
                    {"type": "null"},
                    _object(
                        {
                            "mode": _TEXT,
                            "neighbors": _list(_ref("Related")),
                            "blast": _list(_ref("Blast")),
                            "omitted": _COUNT,
                        }
                    ),
                ]
            },
            "repositories": _list(
                _object({"repo": _TEXT, "generation": _TEXT, "commit": _TEXT, "staleness": _STALENESS})
            ),
            "inactive": _map(_TEXT),
            "analysis": {"type": "object"},
        },
        *("repositories", "inactive", "analysis"),
    ),
    "Status": _object(
        {
            "schema_version": _COUNT,
            "state": {
                "type": "string",
                "enum": ["ready", "stale", "building", "error"],
                "description": "stale: older than its source, or not comparable with it. "
                "error: nothing can be searched, or something is damaged.",
            },
            "message": _TEXT,
            "repositories": _list(
                _object(
                    {
                        "repo": _TEXT,
                        "rev": _TEXT,
                        "state": {
                            "type": "string",
                            "enum": ["ready", "stale", "unknown", "building", "missing", "error"],
                        },
                        "generation": _MAYBE_TEXT,
                        "commit": _MAYBE_TEXT,
                        "dirty": {"type": ["boolean", "null"]},
                        "published_at": _MAYBE_TEXT,
                        "counts": _map(_COUNT),
                        "encoder": {"oneOf": [{"type": "null"}, _ref("Encoder")]},
                        "message": _TEXT,
                    }
                )
            ),
        }
    ),
}
#: What a status means, whoever answers with it.
_ERRORS = {
    400: "The body is not JSON in UTF-8.",
    401: "An access token is needed.",
    403: "The request comes from a page of another site.",
    404: "There is no such repository, or no such address.",
    405: "The address does not take this method.",
    408: "The body did not come in time.",
    413: "The body is too long.",
    415: "The body is not declared as JSON.",
    421: "The Host header names another server.",
    422: "A field is unknown, of the wrong type, or out of bounds.",
    500: "A fault of the server; its log has the traceback.",
    503: "Nothing is published yet, the index is damaged, or too many requests are waiting.",
}


def description(*, needs_token: bool) -> dict[str, Any]:
    """Return the OpenAPI document."""
    everywhere = (403, 421, 500, *((401,) if needs_token else ()))
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "Strata",
            "version": version("codestrata"),
            "description": "Search the code and documentation of git repositories, by meaning and by exact word.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": {
            "/api/health": {"get": _operation("health", "Tell that the server answers.", "Health", *everywhere)},
            "/api/semantic/status": {
                "get": _operation("status", "Tell how the index stands.", "Status", 503, *everywhere)
            },
            "/api/semantic/query": {
                "post": {
                    **_operation(
                        *("query", "Search the published index.", "Answer"),
                        *(400, 404, 408, 413, 415, 422, 503),
                        *everywhere,
                    ),
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": _ref("Question")}},
                    },
                }
            },
            "/api/openapi.json": {
                "get": {
                    **_operation("openapi", "Describe this interface.", "", *everywhere),
                }
            },
        },
        "components": {"schemas": _SCHEMAS},
    }
    if needs_token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _operation(name: str, about: str, answer: str, *errors: int) -> dict[str, Any]:
    body = _ref(answer) if answer else {"type": "object"}
    responses = {"200": {"description": about, "content": {"application/json": {"schema": body}}}}
    for status in sorted(errors):
        content = {"application/json": {"schema": _ref("Error")}}
        responses[str(status)] = {"description": _ERRORS[status], "content": content}
    return {"operationId": name, "summary": about, "responses": responses}
