"""A small generation made by the real stages from a list of chunks, and an encoder that needs no model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines import formats
from pipelines.artifacts import WHOLE, ArtifactRef, ArtifactWriter, Target
from pipelines.bloom import bloom_of_bits, text_bits
from pipelines.chunking import build_segment
from pipelines.fingerprint import fingerprint
from pipelines.generation import EncoderInfo, GenerationDocument
from pipelines.identity import bucket_keys, bucket_of, make_id
from pipelines.plan import generation_id
from pipelines.progress import Silent
from pipelines.quantization import build_codes
from pipelines.records import CallStrategy, Encoder, SymbolKind
from pipelines.report import StageReport
from pipelines.retrieval import Answer, Generation, Query, Searcher, open_generation
from pipelines.roles import has_meaning
from pipelines.serving.rows import build_search_rows
from pipelines.settings import QuantizationSettings
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore
from pipelines.tokens import words

BUCKETS = 4


class WordEncoder:
    """Adds up one fixed random direction per word: equal words are near each other, nothing else is."""

    name = "words"
    dimensions = 64

    def __init__(self, digest: str = "words-64") -> None:
        self.digest = digest

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.stack([self.encode_query(text) for text in texts]) if texts else np.zeros((0, 64), np.float32)

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        total = np.zeros(self.dimensions, np.float32)
        for word in words(text):
            seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
            total += np.random.default_rng(seed).standard_normal(self.dimensions).astype(np.float32)
        length = float(np.linalg.norm(total))
        return total / np.float32(length) if length else total


@dataclass(frozen=True)
class Doc:
    """One chunk. `qualified` defaults to the name; a symbol's kind makes it a node of the graph."""

    path: str
    text: str
    name: str = ""
    kind: str = "function"
    qualified: str = ""
    language: str = "python"
    scope: str = ""
    part: int = 0
    is_test: bool = False
    doc: str = ""
    pagerank: float = 0.0
    blast: float = 0.0
    start: int = 1
    end: int = 0  # 0 = as many lines as the text has

    @property
    def full_name(self) -> str:
        return self.qualified or self.name

    def id(self, repo: str, part: int | None = None) -> bytes:
        return make_id(repo, self.path, self.kind, self.full_name, 0, self.part if part is None else part)

    @property
    def is_symbol(self) -> bool:
        return self.kind in {str(kind) for kind in SymbolKind}


@dataclass(frozen=True)
class Call:
    """An edge of the graph, by full names."""

    caller: str
    callee: str
    confidence: float = 0.9
    strategy: CallStrategy = CallStrategy.SAME_FILE


def make_store(root: Path) -> ArtifactStore:
    store = ArtifactStore(root / "store")
    store.initialise()
    return store


def make_generation(
    store: ArtifactStore,
    docs: Iterable[Doc],
    *,
    repo: str = "sample",
    encoder: Encoder | None = None,
    calls: Sequence[Call] = (),
    bits: int = 0,
) -> GenerationDocument:
    return _Builder(store, list(docs), repo, encoder or WordEncoder(), calls, QuantizationSettings(bits)).build()


def open_docs(root: Path, docs: Iterable[Doc], *, repo: str = "sample", calls: Sequence[Call] = ()) -> Generation:
    store = make_store(root)
    return open_generation(store, repo, make_generation(store, docs, repo=repo, calls=calls))


def make_searcher(root: Path, docs: Iterable[Doc], *, calls: Sequence[Call] = ()) -> Searcher:
    return Searcher([open_docs(root, docs, calls=calls)], WordEncoder())


def paths(answer: Answer) -> list[str]:
    return [hit.path for hit in answer.hits]


def found(searcher: Searcher, text: str, **options: object) -> list[str]:
    """Return the paths of the hits in order."""
    return paths(searcher.search(Query(text, **options)))  # type: ignore[arg-type]  # tests pass any field by name


class _Builder:
    def __init__(
        self,
        store: ArtifactStore,
        docs: list[Doc],
        repo: str,
        encoder: Encoder,
        calls: Sequence[Call],
        quantization: QuantizationSettings,
    ) -> None:
        self.store, self.repo, self.encoder, self.calls = store, repo, encoder, calls
        self.docs, self.quantization = docs, quantization
        self.seed = fingerprint([repo, encoder.digest, docs, list(calls), quantization])
        self.nodes = sorted((doc for doc in docs if doc.is_symbol and doc.part == 0), key=lambda doc: doc.id(repo))
        self.refs: list[ArtifactRef] = []

    def build(self) -> GenerationDocument:
        chunks, symbols, segments, vectors = [], [], [], []
        for bucket in bucket_keys(BUCKETS):
            docs = sorted(
                (doc for doc in self.docs if bucket_of(doc.path, BUCKETS) == bucket), key=lambda doc: doc.id(self.repo)
            )
            chunks.append(self._write("chunks", bucket, {"chunks.parquet": self._chunks(docs)}))
            symbols.append(self._write("symbols", bucket, {"symbols.parquet": self._symbols(docs)}))
            vectors.append(self._vectors(bucket, docs))
            segment = self._target("lexical_segments", bucket, chunks[-1])
            build_segment(self.store, segment)
            segments.append(segment.ref)
        graph = self._graph()
        codes = self._target("binary_codes", WHOLE, *vectors)
        build_codes(self.store, codes, self.quantization, Silent())
        rows = self._target("search_rows", WHOLE, *chunks, *symbols, graph)
        build_search_rows(self.store, rows, Silent())
        whole = [graph, codes.ref, rows.ref]
        refs = tuple(sorted([*chunks, *symbols, *segments, *vectors, *whole]))
        return GenerationDocument(self.repo, generation_id(self.repo, whole), EncoderInfo.of(self.encoder), refs)

    def _target(self, asset: str, bucket: str, *inputs: ArtifactRef) -> Target:
        return Target(ArtifactRef(self.repo, asset, bucket, fingerprint([self.seed, asset, bucket])), "recipe", inputs)

    def _write(self, asset: str, bucket: str, tables: dict[str, pa.Table]) -> ArtifactRef:
        target = self._target(asset, bucket)

        def work(writer: ArtifactWriter, report: StageReport) -> None:
            for name, table in tables.items():
                writer.table(name, table, table.schema)
                report.rows = table.num_rows

        run_stage(self.store, target, work)
        return target.ref

    def _chunks(self, docs: Sequence[Doc]) -> pa.Table:
        rows = [
            {
                "chunk_id": doc.id(self.repo),
                "path": doc.path,
                "language": doc.language,
                "scope": doc.scope,
                "kind": doc.kind,
                "name": doc.name,
                "qualified_name": doc.full_name,
                "symbol_id": doc.id(self.repo, 0) if doc.is_symbol else None,
                "part": doc.part,
                "start_line": doc.start,
                "end_line": doc.end or doc.start + doc.text.count("\n"),
                "start_byte": 0,
                "end_byte": len(doc.text.encode()),
                "signature": "",
                "doc": doc.doc,
                "text": doc.text,
                "code_hash": hashlib.blake2b(doc.text.encode(), digest_size=16).digest(),
                "is_test": doc.is_test,
            }
            for doc in docs
        ]
        return pa.Table.from_pylist(rows, formats.CHUNKS_TABLE)

    def _symbols(self, docs: Sequence[Doc]) -> pa.Table:
        symbols = [doc for doc in docs if doc.is_symbol and doc.part == 0]
        return pa.table(
            {
                "symbol_id": pa.array([doc.id(self.repo) for doc in symbols], formats.ID),
                "bloom": pa.array(
                    [bloom_of_bits(text_bits(doc.text)) for doc in symbols], pa.binary(formats.BLOOM_BYTES)
                ),
            }
        )

    def _vectors(self, bucket: str, docs: Sequence[Doc]) -> ArtifactRef:
        target = self._target("chunk_vectors", bucket)
        vectors = self.encoder.encode([f"{doc.name} {doc.text}" for doc in docs]).astype(np.float16)
        vectors[[not has_meaning(doc.kind, doc.language) for doc in docs]] = 0
        valid: npt.NDArray[np.bool_] = np.any(vectors != 0, axis=1)

        def work(writer: ArtifactWriter, report: StageReport) -> None:
            writer.array("vectors.npy", vectors.reshape(len(docs), self.encoder.dimensions))
            writer.array("valid.npy", valid)
            writer.array("embed_keys.npy", np.zeros((len(docs), 16), np.uint8))
            writer.facts["encoder"] = {
                "name": self.encoder.name,
                "digest": self.encoder.digest,
                "dimensions": self.encoder.dimensions,
            }
            report.rows = len(docs)

        run_stage(self.store, target, work)
        return target.ref

    def _graph(self) -> ArtifactRef:
        target = self._target("graph_snapshot", WHOLE)
        place = {doc.full_name: number for number, doc in enumerate(self.nodes)}
        edges = sorted((place[call.caller], place[call.callee], call) for call in self.calls)

        def work(writer: ArtifactWriter, report: StageReport) -> None:
            ids = pa.array([doc.id(self.repo) for doc in self.nodes], formats.ID)
            writer.table("nodes.parquet", pa.table({"symbol_id": ids}), pa.schema([("symbol_id", formats.ID)]))
            ranks = pa.table(
                {
                    "pagerank_rank": pa.array([doc.pagerank for doc in self.nodes], pa.float32()),
                    "blast_rank": pa.array([doc.blast for doc in self.nodes], pa.float32()),
                }
            )
            writer.table("metrics.parquet", ranks, ranks.schema)
            callers = np.array([edge[0] for edge in edges], np.int64)
            writer.array("indptr.npy", np.searchsorted(callers, np.arange(len(self.nodes) + 1)).astype(np.int64))
            writer.array("indices.npy", np.array([edge[1] for edge in edges], np.int32))
            writer.array("confidence.npy", np.array([edge[2].confidence for edge in edges], np.float32))
            writer.array("strategy.npy", np.array([edge[2].strategy for edge in edges], np.uint8))
            writer.array("sites.npy", np.ones(len(edges), np.int32))
            report.rows = len(self.nodes)

        run_stage(self.store, target, work)
        return target.ref
