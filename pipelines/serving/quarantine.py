"""Which places of a repository are left out because they hold a secret. In: a generation. Out: places, never texts."""

from __future__ import annotations

from collections import Counter

from pipelines import formats
from pipelines.generation import GenerationDocument
from pipelines.serving.cli.host import Quarantine, QuarantinedPlace
from pipelines.store import ArtifactStore


def quarantine_of(store: ArtifactStore, document: GenerationDocument, limit: int) -> Quarantine:
    """Return the places of a generation's quarantine: the first by path and line, and counts of all by detector."""
    places: list[QuarantinedPlace] = []
    for ref in document.buckets(formats.CHUNKS.name):
        artifact = store.open(ref)
        if artifact.counts["skipped"]["secret"]:
            table = artifact.table("quarantine.parquet", columns=formats.QUARANTINE_TABLE.names)
            places += [QuarantinedPlace(**row) for row in table.to_pylist()]
    places.sort(key=lambda place: (place.path, place.start_line, place.end_line, place.detector))
    reasons = Counter(place.detector for place in places)
    return Quarantine(document.repo, dict(sorted(reasons.items())), tuple(places[:limit]), len(places[limit:]))
