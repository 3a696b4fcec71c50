"""What should be in the store, before anything is computed: the fingerprint of every artifact, from a listing alone.

Artifacts are named by what they are made from, so the wanted state of a repository follows from its file listing, the
settings and the encoder's digest. Comparing it with the heads of the store gives the changed buckets; the command line,
the sensor, the schedule and backfills all ask this module, so they all agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipelines import formats
from pipelines.artifacts import WHOLE, ArtifactRef, Target
from pipelines.errors import ArtifactCorrupt, ArtifactMismatch, ArtifactMissing
from pipelines.fingerprint import fingerprint
from pipelines.formats import (
    BINARY_CODES,
    CHUNK_VECTORS,
    CHUNKS,
    DIFFUSED_VECTORS,
    EVAL_RUNS,
    GRAPH_SNAPSHOT,
    LEXICAL_SEGMENTS,
    SEARCH_ROWS,
    SYMBOLS,
)
from pipelines.identity import bucket_keys, bucket_of
from pipelines.records import ListedFile, Listing
from pipelines.settings import Settings
from pipelines.store import ArtifactStore

#: For each bucket asset, the bucket asset it is made from; symbols are made from the listing.
_BUCKET_INPUT = {CHUNKS.name: SYMBOLS.name, LEXICAL_SEGMENTS.name: CHUNKS.name, CHUNK_VECTORS.name: CHUNKS.name}


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the artifacts depend on besides the files."""

    settings: Settings
    encoder_digest: str  # weights, tokenizer, text recipe
    grammars: str  # versions of the parsers, as one string
    judgments: str = ""  # fingerprint of the judgment file, "" without one

    def recipes(self) -> dict[str, str]:
        """Return, by asset name, the fingerprint of format, revision and settings, without the inputs.

        [index] stands in no recipe: the listing applies it, and its outcome (scope, skip reason) is part of each file's
        row there. [artifacts] and [[repositories]] say where things are, not what they hold.
        """
        settings = self.settings
        given: dict[str, list[object]] = {
            SYMBOLS.name: [self.grammars],
            CHUNKS.name: [settings.chunking],
            LEXICAL_SEGMENTS.name: [],
            CHUNK_VECTORS.name: [self.encoder_digest],
            GRAPH_SNAPSHOT.name: [],
            DIFFUSED_VECTORS.name: [settings.diffusion],
            BINARY_CODES.name: [settings.quantization],
            SEARCH_ROWS.name: [],
            EVAL_RUNS.name: [settings.evaluation, self.encoder_digest, self.judgments],
        }
        return {
            name: fingerprint([name, item.version, item.revision, given[name]])
            for name, item in formats.FORMATS.items()
        }


@dataclass(frozen=True, slots=True)
class BucketPlan:
    """The wanted artifacts of one bucket. `source` is the data version of `source_files`."""

    bucket: str
    source: str
    files: tuple[ListedFile, ...]
    targets: Mapping[str, Target]  # by asset name


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
    def targets(self) -> Mapping[str, Target]:
        """The wanted per-repository artifacts, by asset name."""
        refs = {
            asset.name: [plan.targets[asset.name].ref for plan in self.buckets.values()]
            for asset in formats.BUCKET_FORMATS
        }
        return _repository_targets(self.repo, refs, self.inputs)

    @cached_property
    def generation(self) -> str:
        """The id of the wanted generation."""
        return generation_id(self.repo, [target.ref for target in self.targets.values()])

    def changed_buckets(self, store: ArtifactStore) -> list[str]:
        """Return the buckets of which some artifact is not the wanted one, or is no longer whole in the store."""
        return [bucket for bucket, plan in self.buckets.items() if not _current(store, plan.targets.values())]

    def published(self, store: ArtifactStore) -> bool:
        """Tell whether the wanted generation is the one served, and every artifact of it is whole in the store."""
        pointer = store.pointer(self.repo)
        return (
            pointer is not None
            and pointer.generation == self.generation
            and _documented(store, self.repo, self.generation)
            and not self.changed_buckets(store)
            and _current(store, self.targets.values())
        )


def make_plan(listing: Listing, inputs: Inputs) -> Plan:
    """Return the wanted state for a listing."""
    count = inputs.settings.index.buckets
    by_bucket: dict[str, list[ListedFile]] = {key: [] for key in bucket_keys(count)}
    for file in listing.files:
        by_bucket[bucket_of(file.path, count)].append(file)
    recipes = inputs.recipes()
    return Plan(
        listing,
        inputs,
        {key: _bucket_plan(listing.repo, key, files, recipes) for key, files in by_bucket.items()},
    )


def repository_targets(store: ArtifactStore, repo: str, inputs: Inputs) -> dict[str, Target]:
    """Return the per-repository artifacts that follow from what was materialised last in each bucket.

    :raises ArtifactMissing: where an asset was never materialised in some bucket.
    :raises ArtifactMismatch: where a bucket was built with other settings, or its assets do not follow from each other.
    """
    recipes = inputs.recipes()
    refs: dict[str, list[ArtifactRef]] = {asset.name: [] for asset in formats.BUCKET_FORMATS}
    for bucket in bucket_keys(inputs.settings.index.buckets):
        for asset in formats.BUCKET_FORMATS:
            artifact = store.open_head(repo, asset.name, bucket)
            upstream = _BUCKET_INPUT.get(asset.name)
            follows = upstream is None or artifact.inputs == (refs[upstream][-1].fingerprint,)
            if artifact.recipe != recipes[asset.name] or not follows:
                raise ArtifactMismatch(
                    f"{asset.name} of {repo}, bucket {bucket}, was built with other settings or from other inputs",
                    hint=f"materialise bucket {bucket} again, or run `strata index`",
                )
            refs[asset.name].append(artifact.ref)
    return _repository_targets(repo, refs, inputs)


def source_fingerprint(repo: str, bucket: str, files: Iterable[ListedFile]) -> str:
    """Return the data version of one bucket of `source_files`: what git says of its files, without reading one."""
    rows = [
        [item.path, item.blob_id, item.language, item.scope, item.content, item.skip_reason, item.skip_detail]
        for item in files
    ]
    return fingerprint([repo, bucket, rows])


def generation_id(repo: str, refs: Iterable[ArtifactRef]) -> str:
    """Return the id of a generation from its per-repository artifacts, which follow from all the others."""
    return fingerprint([repo, formats.GENERATION.version, sorted(ref.fingerprint for ref in refs)])


def _bucket_plan(repo: str, bucket: str, files: Sequence[ListedFile], recipes: Mapping[str, str]) -> BucketPlan:
    source = source_fingerprint(repo, bucket, files)
    targets: dict[str, Target] = {}
    for asset in formats.BUCKET_FORMATS:
        upstream = _BUCKET_INPUT.get(asset.name)
        inputs = () if upstream is None else (targets[upstream].ref,)
        made_from = [source] if upstream is None else [ref.fingerprint for ref in inputs]
        ref = ArtifactRef(repo, asset.name, bucket, fingerprint([recipes[asset.name], made_from]))
        targets[asset.name] = Target(ref, recipes[asset.name], inputs)
    return BucketPlan(bucket, source, tuple(files), targets)


def _repository_targets(repo: str, refs: Mapping[str, Sequence[ArtifactRef]], inputs: Inputs) -> dict[str, Target]:
    recipes = inputs.recipes()

    def target(asset: formats.Format, *made_from: ArtifactRef) -> Target:
        fingerprints = [ref.fingerprint for ref in made_from]
        ref = ArtifactRef(repo, asset.name, WHOLE, fingerprint([recipes[asset.name], fingerprints]))
        return Target(ref, recipes[asset.name], made_from)

    chunks, vectors, lexical = refs[CHUNKS.name], refs[CHUNK_VECTORS.name], refs[LEXICAL_SEGMENTS.name]
    graph = target(GRAPH_SNAPSHOT, *refs[SYMBOLS.name])
    diffused = target(DIFFUSED_VECTORS, *chunks, *vectors, graph.ref)
    codes = target(BINARY_CODES, *([diffused.ref] if inputs.settings.diffusion.enabled else []), *vectors)
    rows = target(SEARCH_ROWS, *chunks, *refs[SYMBOLS.name], graph.ref)
    evaluation = target(EVAL_RUNS, rows.ref, codes.ref, *lexical)
    return {item.ref.asset: item for item in (graph, diffused, codes, rows, evaluation)}


def _documented(store: ArtifactStore, repo: str, generation: str) -> bool:
    """Tell whether the document of a generation is there and readable."""
    try:
        store.read_generation(repo, generation)
    except (ArtifactMissing, ArtifactCorrupt):
        return False
    return True


def _current(store: ArtifactStore, targets: Iterable[Target]) -> bool:
    return all(
        store.head(ref.repo, ref.asset, ref.bucket) == ref.fingerprint and store.holds(ref)
        for ref in (target.ref for target in targets)
    )
