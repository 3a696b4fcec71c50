"""`strata index`. In: a request. Out: a published generation and its summary, or what a run would do for --dry-run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pipelines.errors import NotAgreed
from pipelines.serving.cli.bars import shown_progress
from pipelines.serving.cli.host import Host, IndexOutcome, IndexRequest
from pipelines.serving.cli.output import Output
from pipelines.serving.cli.previews import file_lines, preview_lines
from pipelines.serving.cli.tables import index_lines
from pipelines.serving.render import index_document, preview_document


def run_index(request: IndexRequest, host: Host, output: Output) -> int:
    """Bring an index up to date. 0: published; 1: it was built, but a check keeps it from being published."""
    outcome = _index(request, host, output)
    output.answer(index_document(outcome), index_lines(outcome, output.marks))
    for warning in outcome.warnings:
        output.warn(warning)
    if not outcome.published:
        output.warn("not published, because a check failed; what was served before is still served")
    elif not outcome.files_indexed:
        output.warn("no file was indexed; `strata index --dry-run` tells why each is left out")
    return 0 if outcome.published else 1


def _index(request: IndexRequest, host: Host, output: Output) -> IndexOutcome:
    """Ask the host, and the user where it would cost money; what was done until then is not done again."""
    while True:
        try:
            with shown_progress(output) as progress:
                return host.index(request, progress)
        except NotAgreed as needed:
            if needed.tokens <= request.agreed_tokens or not output.agrees(needed.message):
                raise
            request = replace(request, agreed_tokens=needed.tokens)


def run_preview(request: IndexRequest, reasons: Collection[str], every: bool, host: Host, output: Output) -> int:
    """Tell what a run would index and leave out. 0: it would index some file; 1: none.

    :param reasons: list only the files of these. :param every: list every file.
    """
    with shown_progress(output) as progress:
        preview = host.preview(request, progress)
    document = preview_document(preview, reasons)
    one_by_one = every or bool(reasons)
    lines = file_lines(preview.listing, reasons) if one_by_one else preview_lines(preview.listing)
    output.answer(document, lines)
    for warning in preview.listing.warnings:
        output.warn(warning)
    return 0 if document["files"]["indexed"] else 1
