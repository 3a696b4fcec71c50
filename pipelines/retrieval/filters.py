"""Which rows may answer at all, decided before any pool is cut. In: a query's filters. Out: a mask per generation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pipelines.retrieval.generation import Generation
from pipelines.retrieval.query import Query

#: One mask per generation, True where a row may answer; None stands for every row.
Mask = npt.NDArray[np.bool_] | None

_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[!?[^\]/]+\]|.", re.DOTALL)


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
