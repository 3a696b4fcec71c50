"""The commands that look after a store: status, repos, check, eval, gc, dev. Each asks the host once and shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pipelines.errors import InputError
from pipelines.serving import render
from pipelines.serving.cli import tables
from pipelines.serving.cli.bars import shown_progress
from pipelines.serving.cli.host import Host
from pipelines.serving.cli.lines import line
from pipelines.serving.cli.output import Output

_NOTHING = "the store at hand holds no repository; `strata index PATH` adds one"


def show_status(where: Sequence[str], host: Host, output: Output) -> int:
    """Tell how the named repositories stand, by default every one. 1: there is none."""
    repositories = host.status(where)
    output.answer(render.status_document(repositories), tables.status_lines(repositories))
    return _found(len(repositories), output)


def show_quarantine(where: Sequence[str], limit: int, host: Host, output: Output) -> int:
    """List the places that are left out for a secret. 0: also where there is none."""
    found = host.quarantine(where, limit)
    output.answer(render.quarantine_document(found), tables.quarantine_lines(found))
    return 0


def list_repositories(host: Host, output: Output) -> int:
    """List the repositories. 1: there is none."""
    repositories = host.status(())
    output.answer(render.status_document(repositories), tables.repository_lines(repositories))
    return _found(len(repositories), output)


def add_repository(key: str, path: Path, rev: str, host: Host, output: Output) -> int:
    """Register a repository."""
    status = host.add_repository(key, path, rev)
    output.answer(
        render.repository_document(status),
        [
            line("added ", (status.repo, "bold"), f": {status.path}"),
            line("next: ", (f"strata index --repo {status.repo}", "bold")),
        ],
    )
    return 0


def remove_repository(key: str, host: Host, output: Output) -> int:
    """Forget a repository."""
    host.remove_repository(key)
    output.answer(render.removal_document(key), [line("removed ", (key, "bold"))])
    return 0


def run_checks(host: Host, output: Output) -> int:
    """Run every check. 1: an error was found, or there was nothing to check."""
    checks = host.check(())
    output.answer(
        render.checks_document(checks), [*tables.check_lines(checks, output.marks), tables.check_total(checks)]
    )
    if render.failed(checks):
        output.note(("hint: ", "bold"), "`strata index --full` makes what is damaged anew")
        return 1
    return _found(len(checks), output)


def run_evaluation(both: bool, file: Path | None, host: Host, output: Output) -> int:
    """Evaluate what is published. 1: there was nothing to evaluate.

    :param both: whether with diffusion on and off. :param file: where the document goes as well, None for nowhere.
    """
    _require_folder(file)
    with shown_progress(output) as progress:
        rows = host.evaluate((), both, progress)
    document = render.evaluation_document(rows)
    _write_result(file, "strata eval", document)
    output.answer(document, tables.evaluation_lines(rows))
    return _found(len(rows), output)


def run_benchmark(
    folder: Path, checkouts: Path, ways: Sequence[str], file: Path | None, host: Host, output: Output
) -> int:
    """Ask a public benchmark and show NDCG@10 by language, category and way.

    :param file: where the document goes as well, with the day and the version, None for nowhere.
    """
    _require_folder(file)
    with shown_progress(output) as progress:
        found = host.benchmark(folder, checkouts, ways, progress)
    document = render.benchmark_document(found)
    _write_result(file, "strata eval --benchmark", document)
    for note in found.notes:
        output.warn(note)
    output.answer(document, tables.benchmark_lines(found.figures))
    return _found(len(found.figures), output)


def collect_garbage(dry_run: bool, host: Host, output: Output) -> int:
    """Remove what is no longer kept."""
    report = host.collect_garbage(dry_run)
    output.answer(render.garbage_document(report), tables.garbage_lines(report))
    return 0


def develop(port: int, host: Host, output: Output) -> int:
    """Run the Dagster UI and daemon until interrupted."""
    return host.develop(port)


def _require_folder(file: Path | None) -> None:
    """Refuse a result file that cannot be written before anything is measured, which may take minutes."""
    if file is not None and (file.is_dir() or not file.parent.is_dir()):
        told = "is a folder" if file.is_dir() else f"cannot be written: there is no folder {file.parent}"
        raise InputError(f"--output: {file} {told}")


def _write_result(file: Path | None, method: str, document: Mapping[str, Any]) -> None:
    """Write what a command answers into a file, with how, by which version and when it was measured."""
    if file is not None:
        stamped = {"method": method, "version": version("codestrata"), "date": str(date.today())}
        try:
            file.write_text(json.dumps({**stamped, **document}, indent=1) + "\n", "utf-8")
        except OSError as error:
            raise InputError(f"--output: {file} cannot be written: {error.strerror}") from error


def _found(count: int, output: Output) -> int:
    if count == 0:
        output.note(_NOTHING)
    return 0 if count else 1
