"""Which rows may answer at all, decided before any pool is cut. In: a query's filters. Out: a mask per generation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.errors import InputError
from pipelines.retrieval.generation import Generation
from pipelines.retrieval.likeness import nearest, shown, told
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
        chosen = _chosen(known, value, globs=column == "scope")
        if not chosen:
            names = [item for item in known if item]
            near = nearest(value, names)
            ordered = [*near, *(item for item in names if item not in near)]
            hint = f"known: {told(ordered, len(ordered))}" if names else f"the index has no {column}s"
            raise InputError(f"no file of the index has {column} {shown(value)}", hint=hint)
        found |= dict.fromkeys(chosen)
    return tuple(found)


def _chosen(known: Sequence[str], value: str, *, globs: bool) -> list[str]:
    if globs and _GLOB.search(value):
        fits = fitting(pa.array([item.casefold() for item in known], pa.string()), [value.casefold()])
        return [item for item, fit in zip(known, fits.tolist(), strict=True) if fit]
    return [item for item in known if item.casefold() == value.casefold()]


def filter_rows(generation: Generation, query: Query) -> Mask:
    """Return the rows of a generation that all filters of the query accept."""
    wanted = {"language": query.languages, "scope": query.scopes, "kind": query.kinds}
    masks = [
        generation.rows.labels[column].where(frozenset(values).__contains__)
        for column, values in wanted.items()
        if values
    ]
    if query.paths:
        labels = generation.rows.labels["path"]
        masks.append(fitting(labels.distinct, query.paths)[labels.codes])
    return combine(masks)


def combine(masks: Sequence[Mask]) -> Mask:
    """Return the rows that every mask accepts."""
    given = [mask for mask in masks if mask is not None]
    return np.logical_and.reduce(given) if given else None


def fitting(paths: Any, globs: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Tell which of the paths, an Arrow array, one of the globs fits.

    `*` and `?` stay within a folder, `**` crosses folders, `[..]` is a class; a glob without `/` (a trailing one apart)
    fits at any depth; a glob that fits a folder fits all that is in it. Arrow matches with RE2: anybody may send a
    glob, and with `re` eight `**/` take a minute on one deep path.

    :raises InputError: if one of them is no glob.
    """
    import pyarrow.compute as pc  # here: most queries have no glob

    found = np.zeros(len(paths), np.bool_)
    for glob in globs:
        try:
            matched = pc.match_substring_regex(paths, pattern=f"(?s)\\A{_expression(glob)}\\z")
        except pa.ArrowInvalid as error:
            raise InputError(f"{glob!r} is no glob: {error}", hint="`*`, `?`, `**/`, `[abc]`, `[!abc]`") from error
        found |= matched.to_numpy(zero_copy_only=False)
    return found


def _expression(glob: str) -> str:
    anchored = "/" in glob.rstrip("/")
    plain = glob.strip("/").encode("utf-8", "replace").decode()  # what is no text fits no path
    body = "".join(_translate(token) for token in _TOKEN.findall(plain))
    return f"{'' if anchored else '(?:.*/)?'}{body}(?:/.*)?"


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
