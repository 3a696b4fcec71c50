"""What is published, measured anew; on request once more with diffusion switched. In: keys and paths. Out: figures."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from assets_defs.opening import open_published, published
from pipelines.artifacts import WHOLE, ArtifactRef, Target
from pipelines.diffusion import build_diffused
from pipelines.evaluation import evaluate_generation
from pipelines.fingerprint import fingerprint
from pipelines.formats import BINARY_CODES, CHUNK_VECTORS, CHUNKS, DIFFUSED_VECTORS, GRAPH_SNAPSHOT
from pipelines.generation import GenerationDocument
from pipelines.progress import Progress
from pipelines.quantization import build_codes
from pipelines.retrieval import Generation, open_generation
from pipelines.settings import DiffusionSettings, QuantizationSettings
from pipelines.store import ArtifactStore
from resources.environment import Environment
from resources.side import SideStore
from resources.workspace import Workspace


def evaluate(
    environment: Environment, where: Sequence[str], both: bool, progress: Progress
) -> Sequence[Mapping[str, Any]]:
    """Evaluate the published generations and return rows of formats.EVAL_TABLE, with `repo` and `diffusion`.

    :param both: whether each is measured with diffusion on and off; else as it is published.
    """
    rows: list[Mapping[str, Any]] = []
    for workspace, key in published(environment, where):
        generation, _ = open_published(workspace.store, key)
        with generation:
            rows += _rows(workspace, workspace.store, generation)
            if both:
                with _switched(workspace, generation, progress) as (store, other):
                    rows += _rows(workspace, store, other)
    return rows


def _rows(workspace: Workspace, store: ArtifactStore, generation: Generation) -> Iterator[Mapping[str, Any]]:
    key = generation.repo
    encoder = workspace.encoder_of(key, generation.document.encoder)
    evaluation = workspace.settings(key).evaluation
    measured = evaluate_generation(store, generation, encoder, evaluation, workspace.judgments(key))
    diffused = is_diffused(store, generation.document)
    return ({"repo": key, "diffusion": diffused, **row} for row in measured.rows)


def is_diffused(store: ArtifactStore, document: GenerationDocument) -> bool:
    """Tell whether the codes of a generation are made of vectors that were mixed over the call graph."""
    return bool(store.open(document.ref(DIFFUSED_VECTORS.name)).facts["enabled"])


@contextmanager
def _switched(
    workspace: Workspace, generation: Generation, progress: Progress
) -> Iterator[tuple[ArtifactStore, Generation]]:
    """Give the same generation as it would be with diffusion switched, in a store that goes away afterwards."""
    with tempfile.TemporaryDirectory(prefix="strata-") as folder:
        store = SideStore(Path(folder), workspace.store)
        store.initialise()
        diffusion = replace(
            workspace.settings(generation.repo).diffusion, enabled=not is_diffused(store, generation.document)
        )
        document = _built(store, generation, diffusion, progress)
        with open_generation(store, generation.repo, document) as other:
            yield store, other


def _built(
    store: SideStore, generation: Generation, diffusion: DiffusionSettings, progress: Progress
) -> GenerationDocument:
    """Make diffused_vectors and binary_codes anew and return the generation in which they take their places."""
    document = generation.document
    vectors = document.buckets(CHUNK_VECTORS.name)
    bits = generation.bit_map
    recipe = fingerprint([document.generation, diffusion])

    def target(asset: str, *inputs: ArtifactRef) -> Target:
        return Target(ArtifactRef(document.repo, asset, WHOLE, fingerprint([recipe, asset])), recipe, inputs)

    mixed = target(DIFFUSED_VECTORS.name, *document.buckets(CHUNKS.name), *vectors, document.ref(GRAPH_SNAPSHOT.name))
    codes = target(BINARY_CODES.name, *([mixed.ref] if diffusion.enabled else []), *vectors)
    build_diffused(store, mixed, diffusion, progress)
    build_codes(store, codes, QuantizationSettings(bits.bits, bits.seed), progress)
    made = {item.ref.asset: item.ref for item in (mixed, codes)}
    return replace(document, generation=recipe, refs=tuple(sorted(made.get(ref.asset, ref) for ref in document.refs)))
