"""The commands that look after a store: status, repos, check, eval, gc, dev. Each asks the host once and shows it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

from pipelines.serving import render
from pipelines.serving.cli import tables
from pipelines.serving.cli.bars import shown_progress
from pipelines.serving.cli.host import Host
from pipelines.serving.cli.lines import line
from pipelines.serving.cli.output import Output

_NOTHING = "the store at hand holds no repository; `strata index PATH` adds one"


def show_status(host: Host, output: Output) -> int:
    """Tell how every repository stands. 1: there is none."""
    repositories = host.status(())
    output.answer(render.status_document(repositories), tables.status_lines(repositories))
    return _found(len(repositories), output)


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


def run_evaluation(host: Host, output: Output) -> int:
    """Evaluate what is published. 1: there was nothing to evaluate."""
    rows = host.evaluate(())
    output.answer(render.evaluation_document(rows), tables.evaluation_lines(rows))
    return _found(len(rows), output)


def run_benchmark(
    folder: Path, checkouts: Path, ways: Sequence[str], file: Path | None, host: Host, output: Output
) -> int:
    """Ask a public benchmark and show NDCG@10 by language, category and way.

    :param file: where the document goes as well, with the day and the version, None for nowhere.
    """
    with shown_progress(output) as progress:
        rows = host.benchmark(folder, checkouts, ways, progress)
    document = render.benchmark_document(rows)
    if file is not None:
        stamped = {"method": "strata eval --benchmark", "version": version("codestrata"), "date": str(date.today())}
        file.write_text(json.dumps({**stamped, **document}, indent=1) + "\n")
    output.answer(document, tables.benchmark_lines(rows))
    return _found(len(rows), output)


def collect_garbage(dry_run: bool, host: Host, output: Output) -> int:
    """Remove what is no longer kept."""
    report = host.collect_garbage(dry_run)
    output.answer(render.garbage_document(report), tables.garbage_lines(report))
    return 0


def develop(port: int, host: Host, output: Output) -> int:
    """Run the Dagster UI and daemon until interrupted."""
    return host.develop(port)


def _found(count: int, output: Output) -> int:
    if count == 0:
        output.note(_NOTHING)
    return 0 if count else 1
