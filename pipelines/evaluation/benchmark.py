"""A public benchmark of code search: questions about repositories at known revisions. In: its folder. Out: questions.

    repos.json              [{"name", "language", "benchmark_root", "revision", ...}]; the root is what is indexed
    annotations/NAME.json   [{"query", "category", "relevant": [target], "secondary": [target]}]

A target is a path, or {"path", "start_line", "end_line"}. A result hits it if either path is the end of the other at a
`/` and, where the target has lines, their lines overlap. Each target, secondary ones included, has gain 1 at the rank
of the first result that hits it: the protocol under which semble publishes its figures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import InputError
from pipelines.evaluation.metrics import DEPTH, Outcome
from pipelines.records import Hit


@dataclass(frozen=True, slots=True)
class Target:
    """A file, or some of its lines: both ends inclusive, 0 = all of it."""

    path: str
    start_line: int = 0
    end_line: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """One judged query; `targets` are the relevant, then the secondary ones."""

    query: str
    category: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """One repository: `root` is the folder that is indexed, relative to the checkout, "" for all of it.

    `revision` is the commit that the questions are about, "" where none is told.
    """

    name: str
    language: str
    root: str
    questions: tuple[Question, ...]
    revision: str = ""


def read_benchmark(folder: Path) -> tuple[Subject, ...]:
    """Read the repositories that have questions, in the order of the file.

    :raises InputError: if a file is missing or does not have its form; the message names it.
    """
    subjects = []
    for entry in _read(folder / "repos.json"):
        file = folder / "annotations" / f"{_value(entry, 'name', str, folder / 'repos.json')}.json"
        if file.exists():
            questions = tuple(_question(item, file) for item in _read(file))
            subjects.append(
                Subject(
                    entry["name"],
                    _value(entry, "language", str, folder / "repos.json"),
                    entry.get("benchmark_root") or "",
                    questions,
                    entry.get("revision") or "",
                )
            )
    if not subjects:
        raise InputError(f"{folder} has no questions", hint="it needs repos.json and annotations/NAME.json")
    return tuple(subjects)


def outcome(subject: Subject, question: Question, hits: Sequence[Hit]) -> Outcome:
    """Return at which rank each target was first hit, among the first DEPTH."""
    return Outcome(tuple(_first(subject, target, hits[:DEPTH]) for target in question.targets))


def hits_target(subject: Subject, target: Target, path: str, start_line: int, end_line: int) -> bool:
    """Tell whether some lines of a file of the index hit a target."""
    path = f"{subject.root}/{path}" if subject.root else path
    same = f"/{path}".endswith(f"/{target.path}") or f"/{target.path}".endswith(f"/{path}")
    return same and (not target.end_line or (start_line <= target.end_line and end_line >= target.start_line))


def _first(subject: Subject, target: Target, hits: Sequence[Hit]) -> int | None:
    for rank, hit in enumerate(hits, 1):
        if hits_target(subject, target, hit.path, hit.start_line, hit.end_line):
            return rank
    return None


def _read(file: Path) -> list[Any]:
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{file} is not valid JSON: {error}") from error
    if not isinstance(content, list):
        raise InputError(f"{file} must hold a list")
    return content


def _question(item: Any, file: Path) -> Question:
    targets = [*_value(item, "relevant", list, file), *_value({"secondary": [], **item}, "secondary", list, file)]
    query, category = (_value(item, name, str, file) for name in ("query", "category"))
    if not targets:
        raise InputError(f"{file}: the query {query!r} has no target")
    return Question(query, category, tuple(_target(target, file) for target in targets))


def _target(item: Any, file: Path) -> Target:
    if isinstance(item, str):
        return Target(item)
    lines = (_value(item, name, int, file) if name in item else 0 for name in ("start_line", "end_line"))
    return Target(_value(item, "path", str, file), *lines)


def _value(item: Any, name: str, kind: type[Any], file: Path) -> Any:
    if not isinstance(item, Mapping) or not isinstance(item.get(name), kind):
        raise InputError(f"{file}: {item!r} has no {name!r} that is a {kind.__name__}")
    return item[name]
