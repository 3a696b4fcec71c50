"""What should be in the store, before anything is computed: the fingerprint of every artifact, from a listing alone.

Artifacts are named by what they are made from, so the wanted state of a repository follows from its file listing, the
settings and the encoder's digest. Comparing it with the heads of the store gives the changed buckets; the command line,
the sensor, the schedule and backfills all ask this module, so they all agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipelines import formats
from pipelines.artifacts import WHOLE, ArtifactRef, ArtifactStore
from pipelines.fingerprint import fingerprint
from pipelines.formats import Format
from pipelines.identity import bucket_keys, bucket_of
from pipelines.records import ListedFile, Listing
from pipelines.settings import Settings


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the fingerprints depend on besides the files."""

    settings: Settings
    encoder_digest: str  # weights, tokenizer, text recipe
    grammars: str  # versions of the parsers, as one string
    judgments: str = ""  # fingerprint of the judgment file, "" without one


@dataclass(frozen=True, slots=True)
class BucketPlan:
    """The wanted artifacts of one bucket. `source` is the data version of `source_files`."""

    bucket: str
    source: str
    files: tuple[ListedFile, ...]
    refs: Mapping[str, ArtifactRef]  # by asset name


@dataclass(frozen=True)
class Plan:
    """The wanted state of one repository at one listing."""

    listing: Listing
    inputs: Inputs
    buckets: Mapping[str, BucketPlan]

    @property
    def repo(self) -> str:
        """Return the repository key."""
        return self.listing.repo

    @cached_property
    def refs(self) -> Mapping[str, ArtifactRef]:
        """The wanted per-repository artifacts, by asset name."""
        bucket_fingerprints = {
            asset.name: [plan.refs[asset.name].fingerprint for plan in self.buckets.values()]
            for asset in formats.BUCKET_FORMATS
        }
        return repository_refs(self.repo, bucket_fingerprints, self.inputs)

    @cached_property
    def generation(self) -> str:
        """The id of the wanted generation."""
        return generation_id(self.refs, [plan.refs for plan in self.buckets.values()])

    def changed_buckets(self, store: ArtifactStore) -> list[str]:
        """Return the buckets of which some artifact is not the wanted one, or is no longer whole in the store."""
        return [
            bucket
            for bucket, plan in self.buckets.items()
            if any(
                store.head(ref.repo, ref.asset, ref.bucket) != ref.fingerprint or not store.holds(ref)
                for ref in plan.refs.values()
            )
        ]

    def published(self, store: ArtifactStore) -> bool:
        """Tell whether the wanted generation is the one served, and every artifact of it is whole in the store."""
        pointer = store.pointer(self.repo)
        if pointer is None or pointer.generation != self.generation:
            return False
        if self.generation not in store.generations(self.repo):
            return False
        return not self.changed_buckets(store) and all(store.holds(ref) for ref in self.refs.values())


def make_plan(listing: Listing, inputs: Inputs) -> Plan:
    """Return the wanted state for a listing."""
    count = inputs.settings.index.buckets
    by_bucket: dict[str, list[ListedFile]] = {key: [] for key in bucket_keys(count)}
    for file in listing.files:
        by_bucket[bucket_of(file.path, count)].append(file)
    return Plan(
        listing,
        inputs,
        {key: _bucket_plan(listing.repo, key, files, inputs) for key, files in by_bucket.items()},
    )


def _bucket_plan(repo: str, bucket: str, files: Sequence[ListedFile], inputs: Inputs) -> BucketPlan:
    settings = inputs.settings
    source = source_fingerprint(repo, bucket, files)
    symbols = stage_fingerprint(formats.SYMBOLS, [source], settings.index, inputs.grammars)
    chunks = stage_fingerprint(formats.CHUNKS, [symbols], settings.chunking)
    lexical = stage_fingerprint(formats.LEXICAL_SEGMENTS, [chunks])
    vectors = stage_fingerprint(formats.CHUNK_VECTORS, [chunks], inputs.encoder_digest)
    names = zip(formats.BUCKET_FORMATS, (symbols, chunks, lexical, vectors), strict=True)
    refs = {item.name: ArtifactRef(repo, item.name, bucket, value) for item, value in names}
    return BucketPlan(bucket, source, tuple(files), refs)


def source_fingerprint(repo: str, bucket: str, files: Iterable[ListedFile]) -> str:
    """Return the data version of one bucket of `source_files`: what git says of its files, without reading one."""
    rows = [
        [item.path, item.blob_id, item.language, item.scope, item.content, item.skip_reason, item.skip_detail]
        for item in files
    ]
    return fingerprint([repo, bucket, rows])


def stage_fingerprint(asset: Format, inputs: Sequence[str], *settings: Any) -> str:
    """Return the fingerprint of an artifact: its format, its inputs' fingerprints, its settings."""
    return fingerprint([asset.name, asset.version, asset.revision, list(inputs), list(settings)])


def repository_refs(
    repo: str, bucket_fingerprints: Mapping[str, Sequence[str]], inputs: Inputs
) -> dict[str, ArtifactRef]:
    """Return the per-repository artifacts that follow from bucket artifacts.

    :param bucket_fingerprints: for each bucket asset, the fingerprints of all its buckets in bucket order.
    """
    settings = inputs.settings
    symbols, chunks, lexical, vectors = (bucket_fingerprints[item.name] for item in formats.BUCKET_FORMATS)
    graph = stage_fingerprint(formats.GRAPH_SNAPSHOT, symbols)
    diffused = stage_fingerprint(formats.DIFFUSED_VECTORS, [*vectors, graph], settings.diffusion)
    mixed = [diffused] if settings.diffusion.enabled else []
    codes = stage_fingerprint(formats.BINARY_CODES, [*vectors, *mixed])
    rows = stage_fingerprint(formats.SEARCH_ROWS, [*chunks, graph])
    evaluation = stage_fingerprint(
        formats.EVAL_RUNS, [rows, codes, *lexical], settings.evaluation, inputs.encoder_digest, inputs.judgments
    )
    names = zip(formats.REPOSITORY_FORMATS, (graph, diffused, codes, rows, evaluation), strict=True)
    return {item.name: ArtifactRef(repo, item.name, WHOLE, value) for item, value in names}


def generation_id(refs: Mapping[str, ArtifactRef], buckets: Iterable[Mapping[str, ArtifactRef]]) -> str:
    """Return the id of a generation: equal artifacts make an equal generation, whenever and wherever it is published."""
    return fingerprint(
        [
            formats.GENERATION.version,
            sorted(ref.fingerprint for ref in refs.values()),
            [sorted(ref.fingerprint for ref in bucket.values()) for bucket in buckets],
        ]
    )
