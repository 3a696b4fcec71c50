"""A generation: which artifacts make one searchable whole. In: the repository's targets. Out: a small JSON document.

The document is written once and never changed; publishing it is a swap of the pointer beside it. It may be opened
before it is published, which is how evaluation measures it first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from pipelines.artifacts import ArtifactRef, Target
from pipelines.errors import ArtifactMissing
from pipelines.plan import generation_id
from pipelines.records import Encoder
from pipelines.store import ArtifactStore


@dataclass(frozen=True, slots=True)
class EncoderInfo:
    """Which encoder made the vectors of a generation; a query must be encoded by an equal one."""

    name: str
    digest: str
    dimensions: int

    @classmethod
    def of(cls, encoder: Encoder) -> Self:
        """Describe an encoder."""
        return cls(encoder.name, encoder.digest, encoder.dimensions)


@dataclass(frozen=True, slots=True)
class GenerationDocument:
    """The artifacts of one generation, sorted by asset, then bucket."""

    repo: str
    generation: str
    encoder: EncoderInfo
    refs: tuple[ArtifactRef, ...]

    def ref(self, asset: str) -> ArtifactRef:
        """Return the artifact of a per-repository asset."""
        return self.buckets(asset)[0]

    def buckets(self, asset: str) -> tuple[ArtifactRef, ...]:
        """Return the artifacts of an asset in bucket order."""
        found = tuple(ref for ref in self.refs if ref.asset == asset)
        if not found:
            thing = f"generation {self.generation} of {self.repo}"
            raise ArtifactMissing(f"{thing} has no {asset}", hint="run `strata index --full`")
        return found

    def as_json(self) -> dict[str, Any]:
        """Return the document as plain values."""
        return {
            "repo": self.repo,
            "generation": self.generation,
            "encoder": asdict(self.encoder),
            "artifacts": [[ref.asset, ref.bucket, ref.fingerprint] for ref in self.refs],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read the document from plain values."""
        repo = document["repo"]
        refs = tuple(ArtifactRef(repo, *item) for item in document["artifacts"])
        encoder = document["encoder"]
        info = EncoderInfo(encoder["name"], encoder["digest"], encoder["dimensions"])
        return cls(repo, document["generation"], info, refs)


def draft_generation(repo: str, targets: Mapping[str, Target], encoder: EncoderInfo) -> GenerationDocument:
    """Return the generation that a repository's targets make, published or not."""
    refs = {target.ref for target in targets.values()} | {ref for target in targets.values() for ref in target.inputs}
    whole = [target.ref for target in targets.values()]
    return GenerationDocument(repo, generation_id(repo, whole), encoder, tuple(sorted(refs)))


def read_generation(store: ArtifactStore, repo: str, generation: str) -> GenerationDocument:
    """Read a generation's document from the store, checking its format."""
    return GenerationDocument.from_json(store.read_generation(repo, generation))
