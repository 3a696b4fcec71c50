"""`strata index`. In: a request. Out: a published generation and its summary, or the list of files for --dry-run."""

from __future__ import annotations

from pipelines.serving.cli.bars import shown_progress
from pipelines.serving.cli.host import Host, IndexRequest
from pipelines.serving.cli.output import Output
from pipelines.serving.cli.tables import index_lines, listing_lines, listing_total
from pipelines.serving.render import index_document, plan_document


def run_index(request: IndexRequest, host: Host, output: Output) -> int:
    """Bring an index up to date. 0: published; 1: it was built, but a check keeps it from being published."""
    with shown_progress(output) as progress:
        outcome = host.index(request, progress)
    output.answer(index_document(outcome), index_lines(outcome, output.marks))
    if not outcome.published:
        output.warn("not published, because a check failed; what was served before is still served")
    elif not outcome.files_indexed:
        output.warn("no file was indexed; `strata index --dry-run` tells why each is left out")
    return 0 if outcome.published else 1


def list_files(request: IndexRequest, host: Host, output: Output) -> int:
    """Tell which files would be indexed. 0: there are some; 1: there are none."""
    plan = host.plan(request)
    document = plan_document(plan)
    output.answer(document, listing_lines(plan.listing))
    indexed, skipped = document["files"]["indexed"], document["files"]["skipped"]
    output.note(listing_total(indexed, skipped))
    return 0 if indexed else 1
