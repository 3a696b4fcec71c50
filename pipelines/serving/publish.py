"""Publishing a generation, and the rule by which old ones go.

In: a generation's document. Out: the pointer that readers follow. The swap is one rename, so a reader gets the old
generation or the new one; what a reader has open is not removed (see locks.lease_generation).

What hides something hides it in the past too: a generation that shows a file which is denied, excluded or ignored now
goes at once, and so does one in which fewer secrets of a file were known, or that was searched for them by other rules.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.artifacts import ArtifactRef
from pipelines.errors import ArtifactCorrupt, ArtifactMissing, FormatUnsupported
from pipelines.formats import SYMBOLS
from pipelines.generation import GenerationDocument, read_generation
from pipelines.locks import remove_generation_unless_leased
from pipelines.records import SkipReason
from pipelines.store import ArtifactStore, Pointer

#: Reasons that say: this is not to be shown.
_WITHHELD = (SkipReason.DENIED, SkipReason.EXCLUDED, SkipReason.STRATAIGNORE)


@dataclass(frozen=True, slots=True)
class Garbage:
    """What retention removed from one repository, or would remove."""

    generations: int
    artifacts: int
    bytes: int


def publish_generation(
    store: ArtifactStore, document: GenerationDocument, *, commit: str, dirty: bool, keep: int
) -> Pointer:
    """Make a generation the one that is served, then apply the retention rule. The caller holds the repository's lock.

    :param document: the generation; every artifact of it must be whole in the store.
    :param commit: the commit it was built from, "" without one. :param dirty: whether the working tree differed.
    :param keep: generations that stay, the new one included.
    :raises ArtifactMissing: if an artifact of the generation is not in the store; the old generation stays.
    """
    for ref in document.refs:
        store.open(ref)
    if not _written(store, document):
        store.write_generation(document.repo, document.generation, document.as_json())
    served = store.pointer(document.repo)
    if served and (served.generation, served.commit, served.dirty) == (document.generation, commit, dirty):
        return served
    older = (served.generation, *served.previous) if served else ()
    candidates = [item for item in dict.fromkeys(older) if item != document.generation][: keep - 1]
    previous = tuple(item for item in candidates if _may_stay(store, item, document))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    pointer = Pointer(document.generation, commit, dirty, now, previous)
    store.publish(document.repo, pointer)
    collect_garbage(store, document.repo, keep)
    return pointer


def collect_garbage(store: ArtifactStore, repo: str, keep: int, *, dry_run: bool = False) -> Garbage:
    """Remove the generations beyond `keep`, then every artifact that neither a generation nor a head names.

    A generation that a reader has open stays, with its artifacts, until a later run. The caller holds the
    repository's lock.
    """
    pointer = store.pointer(repo)
    kept = set() if pointer is None else {pointer.generation, *pointer.previous[: keep - 1]}
    doomed = [generation for generation in store.generations(repo) if generation not in kept]
    if not dry_run:
        doomed = [generation for generation in doomed if remove_generation_unless_leased(store, repo, generation)]
    wanted = set(store.heads(repo))
    for generation in set(store.generations(repo)) - set(doomed):
        with contextlib.suppress(ArtifactCorrupt):  # nobody can open what it names
            wanted |= set(read_generation(store, repo, generation).refs)
    unused = [ref for ref in store.artifacts(repo) if ref not in wanted]
    freed = sum(_size(store, ref) for ref in unused)
    if not dry_run:
        for ref in unused:
            store.discard(ref)
    return Garbage(len(doomed), len(unused), freed)


def _may_stay(store: ArtifactStore, generation: str, served: GenerationDocument) -> bool:
    """Tell whether an older generation shows nothing that the rules of the served one withhold."""
    try:
        older = read_generation(store, served.repo, generation)
        before, now = set(older.buckets(SYMBOLS.name)), set(served.buckets(SYMBOLS.name))
        if len({store.open(ref).recipe for ref in before | now}) > 1:
            return False
        then, today = sorted(before - now), sorted(now - before)
        shown = _paths(store, then, shown=True)
        known = _secrets(store, then)
        return shown.isdisjoint(_paths(store, today, shown=False)) and not any(
            path in shown and count > known[path] for path, count in _secrets(store, today).items()
        )
    except (ArtifactCorrupt, ArtifactMissing, FormatUnsupported):
        return False  # nobody can open it either


def _paths(store: ArtifactStore, refs: Sequence[ArtifactRef], *, shown: bool) -> set[str]:
    """Return the files that the buckets show, or those that are withheld from them."""
    found: set[str] = set()
    for ref in refs:
        files = store.open(ref).table("files.parquet", columns=["path", "skip_reason"])
        reason = files["skip_reason"]
        wanted = pc.is_null(reason) if shown else pc.is_in(reason, value_set=_withheld())
        found |= set(files.filter(wanted)["path"].to_pylist())
    return found


def _secrets(store: ArtifactStore, refs: Sequence[ArtifactRef]) -> Counter[str]:
    """Count the secrets that were found in each file."""
    found: Counter[str] = Counter()
    for ref in refs:
        found.update(store.open(ref).table("secrets.parquet", columns=["path"])["path"].to_pylist())
    return found


def _withheld() -> pa.Array:
    return pa.array([reason.value for reason in _WITHHELD], pa.string())


def published_document(store: ArtifactStore, repo: str) -> GenerationDocument:
    """Return the document of the generation that is served; ArtifactMissing where nothing was published."""
    pointer = store.pointer(repo)
    if pointer is None:
        raise ArtifactMissing(f"nothing of repository {repo} is published", hint="run `strata index`")
    return read_generation(store, repo, pointer.generation)


def _written(store: ArtifactStore, document: GenerationDocument) -> bool:
    """Tell whether the store has a generation's document; a damaged one is written again."""
    try:
        return read_generation(store, document.repo, document.generation) == document
    except (ArtifactMissing, ArtifactCorrupt):
        return False


def _size(store: ArtifactStore, ref: ArtifactRef) -> int:
    return sum(file.stat().st_size for file in store.folder(ref).rglob("*"))
