"""A real index without Dagster: every stage on a real folder, in build order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pipelines.chunking import build_chunks, build_segment
from pipelines.diffusion import build_diffused
from pipelines.discover import ParserPool, build_graph, build_symbols, grammar_versions, list_files, open_tree
from pipelines.embedding import build_vectors, make_encoder
from pipelines.evaluation import build_evaluation
from pipelines.generation import EncoderInfo, GenerationDocument, draft_generation
from pipelines.plan import Inputs, Plan, make_plan
from pipelines.progress import Progress, Silent
from pipelines.quantization import build_codes
from pipelines.records import Encoder
from pipelines.serving.publish import publish_generation
from pipelines.serving.rows import build_search_rows
from pipelines.settings import Settings, override
from pipelines.store import ArtifactStore

SILENT = Silent()
SETTINGS = override(override(Settings(), "embedder", name="hash", dimensions=64), "index", buckets=4)


def write_files(root: Path, files: Mapping[str, str]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)


def build(
    root: Path,
    store: ArtifactStore,
    settings: Settings = SETTINGS,
    repo: str = "sample",
    *,
    encoder: Encoder | None = None,
    progress: Progress = SILENT,
    parser: Sequence[str] | None = None,
    deny: Sequence[str] = (),
    grammars: str = "",
) -> Plan:
    """Make every artifact that the folder wants, and return the plan; nothing is published.

    `parser` is the command of the parser processes.
    """
    store.initialise()
    encoder = encoder or make_encoder(settings.embedder, root / "no-data-needed")
    listing = list_files(root, repo, settings.index, deny=deny)
    plan = make_plan(listing, Inputs(settings, encoder.digest, grammars or grammar_versions()))
    with open_tree(root, listing) as tree, ParserPool(settings.index, command=parser) as pool:
        for bucket in plan.buckets.values():
            build_symbols(store, bucket.targets["symbols"], bucket.files, tree, pool, progress)
            build_chunks(store, bucket.targets["chunks"], tree, settings.chunking, progress)
            build_segment(store, bucket.targets["lexical_segments"], progress)
            build_vectors(store, bucket.targets["chunk_vectors"], encoder, progress)
    build_graph(store, plan.targets["graph_snapshot"], progress)
    build_diffused(store, plan.targets["diffused_vectors"], settings.diffusion, progress)
    build_codes(store, plan.targets["binary_codes"], settings.quantization, progress)
    build_search_rows(store, plan.targets["search_rows"], progress)
    build_evaluation(store, plan.targets["eval_runs"], document_of(plan), encoder, settings.evaluation, None, progress)
    return plan


def document_of(plan: Plan) -> GenerationDocument:
    embedder = plan.inputs.settings.embedder
    info = EncoderInfo(embedder.name, plan.inputs.encoder_digest, embedder.dimensions)
    return draft_generation(plan.repo, plan.targets, info)


def publish(store: ArtifactStore, plan: Plan, *, commit: str = "c0ffee", keep: int = 2) -> GenerationDocument:
    document = document_of(plan)
    publish_generation(store, document, commit=commit, dirty=False, keep=keep)
    return document
