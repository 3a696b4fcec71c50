"""What a run would leave out, told without one. In: the plan of a repository, its contents. Out: the listing, decided.

The listing knows all but what takes a look inside: whether it is text, whether a tool wrote it. So the contents are
read and asked what parsing would ask, and what an earlier run found out of the same contents is taken over. Only that
a parser crashes or hangs cannot be foretold of a content that no run has seen.
"""

from __future__ import annotations

from dataclasses import replace

from pipelines.decode import NotText
from pipelines.discover.details import safe_detail
from pipelines.discover.parsing.readable import readable
from pipelines.discover.tables import known_outcomes, unreadable_detail
from pipelines.errors import Unreadable
from pipelines.formats import SYMBOLS
from pipelines.plan import Plan
from pipelines.progress import Progress
from pipelines.records import ListedFile, Listing, SkipReason, SourceTree
from pipelines.store import ArtifactStore


def preview_files(plan: Plan, store: ArtifactStore, tree: SourceTree, progress: Progress, *, full: bool) -> Listing:
    """Return the listing of a plan with what a run would decide about each file.

    :param plan: the wanted state. :param store: what earlier runs found out is taken from there.
    :param tree: the listed contents. :param progress: told each file. :param full: nothing is taken over.
    :raises SourceMoved: if a file is no longer the listed one.
    """
    files = plan.listing.files
    progress.begin("looking into files", len(files))
    decided: dict[str, ListedFile] = {}
    for bucket in plan.buckets.values():
        known = {} if full else known_outcomes(store, bucket.targets[SYMBOLS.name], bucket.files)
        for file in bucket.files:
            if file.path in known:
                row = known[file.path]
                decided[file.path] = _left_out(file, row["skip_reason"], row["skip_detail"])
            else:
                decided[file.path] = file if file.skip_reason else _look_into(file, tree)
            progress.advance()
    progress.end()
    return replace(plan.listing, files=tuple(decided[file.path] for file in files))


def _look_into(file: ListedFile, tree: SourceTree) -> ListedFile:
    try:
        text = readable(file.language, tree.read(file))
    except Unreadable as error:
        return _left_out(file, SkipReason.UNREADABLE, unreadable_detail(error))
    return _left_out(file, text.reason, text.detail) if isinstance(text, NotText) else file


def _left_out(file: ListedFile, reason: str | None, detail: str | None) -> ListedFile:
    return replace(file, skip_reason=SkipReason(reason), skip_detail=safe_detail(detail or "")) if reason else file
