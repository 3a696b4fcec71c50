"""What a run of `strata index` tells besides its counts: where it may have gone another way than it was meant.

In: a workspace after the run. Out: one sentence each. None of them keeps an index from being published.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

import pyarrow.compute as pc

from pipelines import formats
from pipelines.artifacts import ArtifactRef
from resources.repositories import Repository
from resources.workspace import Workspace


def notices(workspace: Workspace, key: str, before: Repository | None, refs: Sequence[ArtifactRef]) -> tuple[str, ...]:
    """Return what is to be told of a run.

    :param before: the repository as the run before asked for it. :param refs: the artifacts of the buckets.
    """
    return (
        *_flags_left_out(workspace, key, before),
        *workspace.plan(key).listing.warnings,
        *_without_symbols(workspace, refs),
    )


def _flags_left_out(workspace: Workspace, key: str, before: Repository | None) -> Iterator[str]:
    """Yield the flags of the run before that this one does not have, where that makes a difference."""
    if before is None:
        return
    now, settings = workspace.repository(key), workspace.settings(key)
    if before.request.rev and not now.request.rev:
        yield f"the run before was of revision {before.rev}; this one is of {now.rev or 'the working tree'}"
    for section, values in before.request.overrides.items():
        for name in values.keys() - now.request.overrides.get(section, {}).keys():
            old, new = values[name], getattr(getattr(settings, section), name)
            if old != new:
                yield f"the run before had {section}.{name} = {json.dumps(old)}; now it is {json.dumps(new)}"


def _without_symbols(workspace: Workspace, refs: Sequence[ArtifactRef]) -> Iterator[str]:
    """Yield what kept files of a known language from being parsed; their words are found all the same."""
    found: Counter[tuple[str, str]] = Counter()
    for ref in refs:
        if ref.asset != formats.SYMBOLS.name or not workspace.store.holds(ref):
            continue
        artifact = workspace.store.open(ref)
        if artifact.counts["parse_fallbacks"]:
            rows = artifact.table("files.parquet", columns=["language", "skip_reason", "skip_detail"])
            rows = rows.filter(pc.and_(pc.is_null(rows["skip_reason"]), pc.is_valid(rows["skip_detail"])))
            found.update((row["language"], row["skip_detail"]) for row in rows.to_pylist())
    for (language, detail), count in sorted(found.items()):
        files = f"{count} file" if count == 1 else f"{count} files"
        yield f"{files} of {language} without symbols: {detail}"
