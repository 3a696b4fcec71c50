"""Judged queries. In: a JSON file. Out: judgments, and for a generation the cases whose targets exist in it.

    {"schema_version": 1, "repository": "sample",
     "cases": [{"id": "symbol-001", "kind": "symbol", "query": "apply_discount",
                "relevant": [{"path": "orders/pricing.py", "symbol": "apply_discount"}], "secondary": []}]}

`kind` is free and groups the figures. A target without `symbol` is its whole file. A case may have `within`, a folder
that it is asked of: nothing else is searched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.errors import SettingsError
from pipelines.retrieval import Generation

SCHEMA_VERSION = 1
_FILE_KEYS = ("schema_version", "repository", "cases")
_CASE_KEYS = ("id", "kind", "query", "within", "relevant", "secondary")
_TARGET_KEYS = ("path", "symbol")
#: What stands between a container and what is in it: a class and its method, a heading and the one below it.
_JOINS = (".", " > ")


@dataclass(frozen=True, slots=True)
class Location:
    """What a judgment points at; `symbol` is a qualified name or the end of one, "" for the whole file."""

    path: str
    symbol: str

    def __str__(self) -> str:
        return f"{self.path}:{self.symbol}" if self.symbol else self.path


@dataclass(frozen=True, slots=True)
class Judgment:
    """One judged query."""

    id: str
    kind: str
    query: str
    relevant: tuple[Location, ...]
    secondary: tuple[Location, ...]
    within: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A query with its targets, each the ids of the chunks that show it."""

    id: str
    kind: str
    query: str
    relevant: tuple[frozenset[str], ...]
    secondary: tuple[frozenset[str], ...] = ()
    within: str = ""  # the folder that is searched, "" for all


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A target that the generation does not have."""

    case: str
    target: str
    primary: bool


def load_judgments(path: Path) -> tuple[Judgment, ...]:
    """Read a judgment file.

    :raises SettingsError: if it is missing or does not have the form above; the message names the place in the file.
    """
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise SettingsError(f"evaluation.judgments: {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SettingsError(f"evaluation.judgments: {path} is not valid JSON: {error}") from error
    try:
        return _parse(document)
    except SettingsError as error:
        raise SettingsError(f"evaluation.judgments: {path}: {error.message}", hint=error.hint) from error


def resolve(generation: Generation, judgments: Sequence[Judgment]) -> tuple[list[Case], list[Unresolved]]:
    """Return the cases with at least one primary target in the generation, and every target that it does not have."""
    paths = {path for item in judgments for target in (*item.relevant, *item.secondary) for path in [target.path]}
    rows = _rows_by_path(generation, paths)
    cases: list[Case] = []
    unresolved: list[Unresolved] = []
    for item in judgments:
        found: dict[bool, tuple[frozenset[str], ...]] = {}
        for targets, primary in ((item.relevant, True), (item.secondary, False)):
            shown = [(target, _chunks(generation, rows.get(target.path, []), target)) for target in targets]
            unresolved += [Unresolved(item.id, str(target), primary) for target, chunks in shown if not chunks]
            found[primary] = tuple(chunks for _, chunks in shown if chunks)
        if found[True]:
            cases.append(Case(item.id, item.kind, item.query, found[True], found[False], item.within))
    return cases, unresolved


def _rows_by_path(generation: Generation, paths: set[str]) -> dict[str, list[int]]:
    labels = generation.rows.labels["path"]
    rows: dict[str, list[int]] = {}
    for row in np.flatnonzero(labels.where(paths.__contains__)).tolist():
        rows.setdefault(labels[row], []).append(row)
    return rows


def _chunks(generation: Generation, rows: Sequence[int], target: Location) -> frozenset[str]:
    """Return the chunks of a file that show a symbol: those of the exact name, else those whose name ends with it."""
    table = generation.rows
    names = dict(zip(rows, table.strings("qualified_name", rows), strict=True))
    shown = [row for row in rows if not target.symbol or names[row] == target.symbol]
    if not shown:
        shown = [row for row in rows if names[row].endswith(tuple(f"{join}{target.symbol}" for join in _JOINS))]
    return frozenset(table.ids[row].tobytes().hex() for row in shown)


def _parse(document: Any) -> tuple[Judgment, ...]:
    fields = _fields(document, _FILE_KEYS, "the file")
    if fields["schema_version"] != SCHEMA_VERSION:
        raise SettingsError(
            f"schema_version = {fields['schema_version']!r} is not known", hint=f"allowed: {SCHEMA_VERSION}"
        )
    judgments = tuple(_judgment(case, f"cases[{place}]") for place, case in enumerate(_list(fields["cases"], "cases")))
    ids = [item.id for item in judgments]
    doubled = sorted({name for name in ids if ids.count(name) > 1})
    if doubled:
        raise SettingsError(f"the id {doubled[0]!r} stands more than once in cases")
    return judgments


def _judgment(value: Any, place: str) -> Judgment:
    fields = _fields({"secondary": [], "within": "", **value} if isinstance(value, dict) else value, _CASE_KEYS, place)
    relevant, secondary = (
        tuple(_location(item, f"{place}.{key}[{i}]") for i, item in enumerate(_list(fields[key], f"{place}.{key}")))
        for key in ("relevant", "secondary")
    )
    if not relevant:
        raise SettingsError(f"{place}.relevant is empty", hint="a case needs at least one target")
    identity, kind, query = (_text(fields[key], f"{place}.{key}") for key in ("id", "kind", "query"))
    if not isinstance(fields["within"], str):
        raise SettingsError(f"{place}.within = {fields['within']!r} must be a string")
    return Judgment(identity, kind, query, relevant, secondary, fields["within"])


def _location(value: Any, place: str) -> Location:
    fields = _fields({"symbol": "", **value} if isinstance(value, dict) else value, _TARGET_KEYS, place)
    if not isinstance(fields["symbol"], str):
        raise SettingsError(f"{place}.symbol = {fields['symbol']!r} must be a string")
    return Location(_text(fields["path"], f"{place}.path"), fields["symbol"])


def _fields(value: Any, keys: Sequence[str], place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise SettingsError(f"{place} must be an object")
    for key in value:
        if key not in keys:
            raise SettingsError(f"unknown key {key!r} in {place}", hint=f"allowed: {', '.join(keys)}")
    for key in keys:
        if key not in value:
            raise SettingsError(f"{place} has no {key!r}")
    return value


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise SettingsError(f"{place} must be a list")
    return value


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise SettingsError(f"{place} = {value!r} must be a text that is not empty")
    return value
