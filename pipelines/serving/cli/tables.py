"""How the outcomes of building and upkeep look to people. In: outcomes. Out: lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.records import CheckResult, Severity
from pipelines.serving.cli.lines import Line, line, table
from pipelines.serving.render import failed as failed_checks

if TYPE_CHECKING:
    from pipelines.serving.cli.host import GarbageReport, IndexOutcome, Quarantine, RepositoryStatus

#: Hex digits of a commit or generation that are shown: git shows as many of a commit in a large repository.
_ID_DIGITS = 12
_UNITS = ("bytes", "kB", "MB", "GB", "TB")
#: How a false alarm is put right.
_ALLOW = 'write "strata: allow-secret" on a line to allow it'
_MARK_STYLES = ("green", "yellow", "bold red")


def index_lines(outcome: IndexOutcome, marks: Sequence[str]) -> Iterator[Line]:
    """Yield the summary of `strata index`; one line if there was nothing to do."""
    at = f" at {short(outcome.commit)}" if outcome.commit else ""
    if outcome.up_to_date:
        held = f"{outcome.files_indexed} files, {outcome.chunks} chunks"
        yield line((outcome.repo, "bold"), f"{at} is up to date: {held}")
        yield from _notes(outcome)
        return
    yield line((outcome.repo, "bold"), f"{at}, generation {short(outcome.generation)}")
    yield from table(_index_rows(outcome), indent="  ")
    yield from _notes(outcome)
    yield from check_lines([item for item in outcome.checks if not item.passed], marks)
    if outcome.published and outcome.files_indexed:
        yield line("next: ", ('strata query "..."', "bold"))


def _index_rows(outcome: IndexOutcome) -> Iterator[tuple[str, str, str]]:
    passed = sum(item.passed for item in outcome.checks)
    read_as = [f"{count} read as {name}" for name, count in sorted(outcome.encodings.items())]
    yield "files", str(outcome.files_indexed), "; ".join(filter(None, [_skips(outcome.files_skipped), *read_as]))
    yield "symbols", str(outcome.symbols), ""
    yield "chunks", str(outcome.chunks), ""
    vectors = f"{outcome.vectors_reused} reused, {outcome.vectors_embedded} embedded"
    yield "vectors", str(outcome.vectors_total), vectors
    buckets = f"{outcome.buckets_computed} computed, {outcome.buckets_reused} reused"
    yield "buckets", str(outcome.buckets_total), buckets
    yield "checks", str(len(outcome.checks)), f"{passed} passed, {len(outcome.checks) - passed} failed"
    slowest = sorted(outcome.stages.items(), key=lambda item: (-item[1], item[0]))
    yield "seconds", f"{outcome.duration_s:.1f}", ", ".join(f"{name} {spent:.1f}" for name, spent in slowest)


def _notes(outcome: IndexOutcome) -> Iterator[Line]:
    """Yield what is only said where it is not as usual: secrets that were found, a store in another place."""
    if outcome.quarantined_pieces:
        pieces, files = _counted(outcome.quarantined_pieces, "piece"), _counted(outcome.quarantined_files, "file")
        yield line("  ", ("secrets", "yellow"), f"  {pieces} of {files} left out; {_ALLOW}")
    if Path(outcome.store).parent != Path(outcome.path):
        yield line(f"  store    {outcome.store}")


def status_lines(repositories: Sequence[RepositoryStatus]) -> Iterator[Line]:
    """Yield the table of `strata status`, then what is to be said of single repositories."""
    header = ("repository", "state", "generation", "commit", "published", "files", "symbols", "chunks", "path")
    yield from table(map(_status_row, repositories), header=header)
    for item in repositories:
        if item.message:
            yield line((f"{item.repo}: ", "bold"), item.message)
        if pieces := item.counts.get("quarantined", 0):
            said = (
                f"{_counted(pieces, 'piece')} left out for a secret; `strata status --quarantine` lists them; {_ALLOW}"
            )
            yield line((f"{item.repo}: ", "bold"), said)


def quarantine_lines(found: Sequence[Quarantine]) -> Iterator[Line]:
    """Yield for each repository how many places are left out for which reason, then where they are."""
    for item in found:
        reasons = ", ".join(f"{count} {reason}" for reason, count in item.reasons.items())
        yield line((item.repo, "bold"), f": {reasons or 'nothing is left out for a secret'}")
        rows = [
            (
                f"{place.path}:{place.start_line}" + f"-{place.end_line}" * (place.end_line > place.start_line),
                place.detector,
            )
            for place in item.places
        ]
        yield from table(rows, indent="  ")
        if item.omitted:
            yield line("  ", (f"and {item.omitted} more; --limit tells how many are listed", "dim"))
    if any(item.reasons for item in found):
        yield line(f"{_ALLOW}, if it holds none")


def _status_row(status: RepositoryStatus) -> tuple[str, ...]:
    pointer = status.pointer
    counts = [str(status.counts.get(name, "")) for name in ("files", "symbols", "chunks")]
    if pointer is None:
        return (status.repo, status.state, "-", "-", "-", *counts, status.path)
    commit = (short(pointer.commit) or "-") + ("+" if pointer.dirty else "")
    return (status.repo, status.state, short(pointer.generation), commit, pointer.published_at, *counts, status.path)


def repository_lines(repositories: Sequence[RepositoryStatus]) -> Iterator[Line]:
    """Yield the table of `strata repos list`."""
    rows = [(item.repo, item.state, item.rev or "working tree", item.path) for item in repositories]
    yield from table(rows, header=("repository", "state", "rev", "path"))


def check_lines(checks: Sequence[CheckResult], marks: Sequence[str]) -> Iterator[Line]:
    """Yield one line per check, with its repository if there are several; one that failed says why."""
    several = len({item.repo for item in checks}) > 1
    for item in checks:
        grade = 0 if item.passed else 1 if item.severity == Severity.WARN else 2
        said = f": {item.message}" if item.message and not item.passed else ""
        repo = f" {item.repo}:" if several else ""
        yield line((marks[grade], _MARK_STYLES[grade]), f"{repo} {item.name} of {item.asset}{said}")


def check_total(checks: Sequence[CheckResult]) -> Line:
    """Return the closing line of `strata check`; a failed warning is neither passed nor failed."""
    passed, failed = sum(item.passed for item in checks), len(failed_checks(checks))
    warned = len(checks) - passed - failed
    return line(f"{passed} passed, " + (f"{warned} warned, " if warned else "") + f"{failed} failed")


def evaluation_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """Yield the table of `strata eval`."""
    header = list(rows[0]) if rows else []
    yield from table([[_cell(value) for value in row.values()] for row in rows], header=header)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def benchmark_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """Yield NDCG@10 by language, category and over all, with a column for each way."""
    ways = list(dict.fromkeys(row["way"] for row in rows))
    found = {(row["by"], row["group"], row["way"]): row for row in rows}
    groups = [key for key in dict.fromkeys((row["by"], row["group"]) for row in rows) if key[0] != "repository"]
    cells = [
        (
            group or by,
            str(found[by, group, ways[0]]["questions"]),
            *(f"{found[by, group, way]['ndcg_at_10']:.3f}" for way in ways),
        )
        for by, group in (*groups[1:], *groups[:1])
    ]
    yield from table(cells, header=("NDCG@10", "questions", *ways))


def garbage_lines(report: GarbageReport) -> Iterator[Line]:
    """Yield what `strata gc` did."""
    did = "would remove" if report.dry_run else "removed"
    yield line(
        f"{did}: generations {report.generations}, artifacts {report.artifacts}, run records {report.runs}, "
        f"{size(report.bytes)}"
    )


def short(identifier: str) -> str:
    """Return the first digits of a commit or generation."""
    return identifier[:_ID_DIGITS]


def size(count: int) -> str:
    """Return a number of bytes as a person reads it."""
    amount = float(count)
    for unit in _UNITS:
        if amount < 1000 or unit == _UNITS[-1]:
            break
        amount /= 1000
    return f"{count} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _skips(skipped: Mapping[str, int]) -> str:
    if not skipped:
        return ""
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
    return f"{sum(skipped.values())} left out: {reasons}"
