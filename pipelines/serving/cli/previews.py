"""How a dry run looks to people. In: a listing that tells what becomes of every file. Out: a summary, or each file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from pipelines.records import ListedFile, Listing
from pipelines.serving.cli.host import INDEXED
from pipelines.serving.cli.lines import Line, line, table
from pipelines.serving.cli.tables import short

#: So many languages, common details or paths are shown in one row of the summary.
_SHOWN_LANGUAGES = 8
_SHOWN_DETAILS = 4
_SHOWN_PATHS = 2


def preview_lines(listing: Listing) -> Iterator[Line]:
    """Yield the summary of `strata index --dry-run`: languages of what is indexed, and what each reason is about."""
    by_reason: dict[str, list[ListedFile]] = defaultdict(list)
    for file in sorted(listing.files, key=lambda item: item.path):
        by_reason[outcome(file)].append(file)
    kept = by_reason.pop(INDEXED, [])
    at = f" at {short(listing.commit)}{' with changes' * listing.dirty}" if listing.commit else ""
    yield line((listing.repo, "bold"), f"{at}: {preview_total(listing)}")
    yield from table([(INDEXED, str(len(kept)), _languages(kept))] if kept else [], indent="  ")
    reasons = sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = [(reason, str(len(files)), _gist(files)) for reason, files in reasons]
    yield from table(rows, header=("left out", "files", "most of them"), indent="  ")
    if rows:
        yield line(
            "next: ", (f"strata index --dry-run --reason {rows[0][0]}", "bold"), " lists them, --verbose every file"
        )


def file_lines(listing: Listing, reasons: Collection[str]) -> Iterator[Line]:
    """Yield one line per file: what becomes of it, its path, and any detail.

    :param reasons: only what is left out for one of these; empty = every file.
    """
    files = [item for item in listing.files if not reasons or outcome(item) in reasons]
    width = max((len(outcome(item)) for item in files), default=0)
    for file in sorted(files, key=lambda item: item.path):
        style = "green" if file.skip_reason is None else "yellow"
        detail = f"  ({file.skip_detail})" if file.skip_detail else ""
        yield line((outcome(file).ljust(width), style), "  ", file.path, (detail, "dim"))


def preview_total(listing: Listing) -> str:
    """Return the sentence that sums a dry run up."""
    skipped = sum(item.skip_reason is not None for item in listing.files)
    kept = len(listing.files) - skipped
    return f"{kept} {'file' if kept == 1 else 'files'} would be indexed, {skipped} left out"


def outcome(file: ListedFile) -> str:
    """Return the reason that a file is left out for, or that it is not."""
    return INDEXED if file.skip_reason is None else str(file.skip_reason)


def _languages(files: Sequence[ListedFile]) -> str:
    counts = Counter(file.language or file.content.value for file in files)
    shown = [f"{language} {count}" for language, count in _most(counts)[:_SHOWN_LANGUAGES]]
    return _listed(shown, len(counts))


def _gist(files: Sequence[ListedFile]) -> str:
    """Return what most files of one reason have in common, else some of them."""
    details = Counter(file.skip_detail for file in files if file.skip_detail)
    common = [f"{detail}: {count}" for detail, count in _most(details) if count > 1]
    rare = [file.path for file in files if details[file.skip_detail] <= 1]
    shown = [*common[:_SHOWN_DETAILS], *rare[:_SHOWN_PATHS]]
    return _listed(shown, len(common) + len(rare))


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _listed(shown: Sequence[str], total: int) -> str:
    more = total - len(shown)
    return ", ".join(shown) + (f", and {more} more" if more else "")
