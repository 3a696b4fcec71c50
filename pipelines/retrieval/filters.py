"""Which rows may answer at all, decided before any pool is cut. In: a query's filters. Out: a mask per generation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pipelines.errors import InputError
from pipelines.retrieval.generation import Generation
from pipelines.retrieval.query import Query

#: One mask per generation, True where a row may answer; None stands for every row.
Mask = npt.NDArray[np.bool_] | None

#: Other names of languages, as one types them.
_ALIASES: Mapping[str, str] = {
    **{"py": "python", "js": "javascript", "ts": "typescript", "golang": "go", "rs": "rust", "md": "markdown"},
    **{"c++": "cpp", "cs": "csharp", "c#": "csharp", "kt": "kotlin", "rb": "ruby", "sh": "shell", "bash": "shell"},
    **{"yml": "yaml", "tsx": "typescript", "jsx": "javascript"},
}
_GLOB = re.compile(r"[*?\[]")
_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[!?[^\]/]+\]|.", re.DOTALL)


def known_labels(generations: Sequence[Generation], query: Query) -> Query:
    """Return the query with its languages and scopes as the index spells them, globs of scopes resolved.

    :raises InputError: if one of them fits nothing in the index; it names what is there.
    """
    return replace(
        query,
        languages=_resolve(generations, "language", tuple(map(_language, query.languages))),
        scopes=_resolve(generations, "scope", query.scopes),
    )


def _language(name: str) -> str:
    return _ALIASES.get(name.casefold(), name)


def _resolve(generations: Sequence[Generation], column: str, wanted: Sequence[str]) -> tuple[str, ...]:
    if not wanted:
        return ()
    known = sorted({label for generation in generations for label in generation.rows.labels[column].values()})
    found: dict[str, None] = {}
    for value in wanted:
        fits = path_pattern((value.casefold(),)).match if column == "scope" and _GLOB.search(value) else None
        fitting = [item for item in known if (fits(item.casefold()) if fits else item.casefold() == value.casefold())]
        if not fitting:
            names = ", ".join(item for item in known if item)
            hint = f"known: {names}" if names else f"the index has no {column}s"
            raise InputError(f"{column} {value!r} is not in the index", hint=hint)
        found |= dict.fromkeys(fitting)
    return tuple(found)


def filter_rows(generation: Generation, query: Query) -> Mask:
    """Return the rows of a generation that all filters of the query accept."""
    wanted = {"language": query.languages, "scope": query.scopes, "kind": query.kinds}
    masks = [
        generation.rows.labels[column].where(frozenset(values).__contains__)
        for column, values in wanted.items()
        if values
    ]
    if query.paths:
        fits = path_pattern(query.paths)
        masks.append(generation.rows.labels["path"].where(lambda path: fits.match(path) is not None))
    return combine(masks)


def combine(masks: Sequence[Mask]) -> Mask:
    """Return the rows that every mask accepts."""
    given = [mask for mask in masks if mask is not None]
    return np.logical_and.reduce(given) if given else None


@lru_cache(maxsize=64)
def path_pattern(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return the expression that fits every path that one of the globs fits.

    `*` and `?` stay within a folder, `**` crosses folders, `[..]` is a class; a glob without `/` (a trailing one apart)
    fits at any depth; a glob that fits a folder fits all that is in it.
    """
    return re.compile("|".join(f"(?:{_expression(glob)})" for glob in globs), re.DOTALL)


def _expression(glob: str) -> str:
    anchored = "/" in glob.rstrip("/")
    body = "".join(_translate(token) for token in _TOKEN.findall(glob.strip("/")))
    return f"{'' if anchored else '(?:.*/)?'}{body}(?:/.*)?\\Z"


def _translate(token: str) -> str:
    if token == "**/":
        return "(?:.*/)?"
    if token == "**":
        return ".*"
    if token in ("*", "?"):
        return "[^/]*" if token == "*" else "[^/]"
    if len(token) > 2:
        negated = token[1] == "!"
        inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", token[2 if negated else 1 : -1])
        return f"[{'^/' if negated else ''}{inner}]"
    return re.escape(token)
