"""The embedding stage against a plain loop over the same functions: python -m tests.bench.embedding REPOSITORY.

The loop is the least that a static encoder needs: a pattern that finds identifiers, a dictionary from identifier to
rows, a sparse product; in one process, without reading or writing. The stage is `build_vectors`, from the chunks of a
bucket to its finished artifact. Both are taken in turns, bucket by bucket, so that other load slows both alike. Memory
and start are those of fresh processes. `--store` keeps the chunks for another run.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from onnx import numpy_helper

from pipelines import formats
from pipelines.artifacts import ArtifactRef, ArtifactWriter, Target
from pipelines.chunking import build_chunks
from pipelines.discover import ParserPool, build_symbols, list_files, open_tree
from pipelines.embedding import build_vectors, make_encoder
from pipelines.embedding.code import CodeEncoder
from pipelines.embedding.code_files import MODEL_NAME
from pipelines.plan import Inputs, make_plan
from pipelines.progress import Silent
from pipelines.records import ChunkKind
from pipelines.report import StageReport
from pipelines.settings import EmbedderSettings, IndexSettings, Settings
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore
from pipelines.tokens import split_identifier
from tests.bench.measure import circumstances, peak_mb, show
from tests.embedding.builders import compose

DATA = Path(__file__).parents[2] / "data" / "encoder"
RESULT = Path(__file__).parent / "results" / "embedding.json"
METHOD = (
    "Functions and methods of the repository, the first part of each. plain_loop: pattern, dictionary and sparse "
    "product in one process. stage: build_vectors for every bucket, a cold build, on all cores; the two in turns, "
    "bucket by bucket. all_chunks: the stage alone over every chunk, in a fresh process. encoder: least of nine fresh "
    "processes; ready is from make_encoder to the first vector, import that of the runtime before it. cpu_s counts all "
    "threads."
)
ALL, FUNCTIONS = "bench", "bench-functions"
_KINDS = pa.array([ChunkKind.FUNCTION.value, ChunkKind.METHOD.value])
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|[0-9]+")
_NAME_WEIGHT = 3
_LOOP_TEXTS = 2_048
_STARTS = 9


class PlainLoop:
    """A static encoder in the fewest lines."""

    def __init__(self, encoder: CodeEncoder) -> None:
        encoder.encode(["ready"])
        stored = {item.name: numpy_helper.to_array(item) for item in onnx.load(DATA / MODEL_NAME).graph.initializer}
        self._table = stored["table"].astype(np.float32)
        self._weights, self._bias = stored["token_weights"][0], stored["bias"][0]
        self._rows = encoder._weights.pieces.rows.__wrapped__
        self._known: dict[str, list[int]] = {}

    def encode(self, names: Sequence[str], bodies: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = np.zeros((len(names), self._table.shape[1]), np.float32)
        for start in range(0, len(names), _LOOP_TEXTS):
            block = slice(start, start + _LOOP_TEXTS)
            amounts = self._counts(bodies[block])
            amounts.data = np.log1p(amounts.data)
            amounts = (amounts + _NAME_WEIGHT * self._counts(names[block])).tocsr()
            amounts.data *= self._weights[amounts.indices]
            vectors[block] = _unit(_unit(amounts @ self._table) + self._bias)
        return vectors

    def _counts(self, texts: Sequence[str]) -> sp.csr_matrix:
        rows = [self._rows_of(text) for text in texts]
        ends = np.cumsum([0, *map(len, rows)])
        flat = np.fromiter(chain.from_iterable(rows), np.int32, int(ends[-1]))
        counts = sp.csr_matrix((np.ones(len(flat), np.float32), flat, ends), (len(texts), len(self._table)))
        counts.sum_duplicates()
        return counts

    def _rows_of(self, text: str) -> list[int]:
        found: list[int] = []
        for word in _IDENTIFIER.findall(text):
            rows = self._known.get(word)
            if rows is None:
                rows = self._known[word] = [row for part in split_identifier(word) for row in self._rows(part)]
            found += rows
        return found


def _unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    unit: npt.NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-8)
    return unit


class Spent:
    """Rows, and the wall and CPU seconds that they took, all threads together."""

    def __init__(self) -> None:
        self.rows, self.wall, self.cpu = 0, 0.0, 0.0

    @contextmanager
    def on(self, rows: int) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.rows += rows
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu

    def told(self) -> Mapping[str, float]:
        return {
            "wall_s": round(self.wall, 1),
            "cpu_s": round(self.cpu, 1),
            "per_s": round(self.rows / self.wall),
            "per_cpu_s": round(self.rows / self.cpu),
        }


def make_chunks(root: Path, store: ArtifactStore) -> None:
    """Make the chunks of a repository, and beside them those of its functions alone, unless the store has them."""
    settings = Settings(index=IndexSettings(workers=2))
    if any(ref.asset == formats.CHUNKS.name for ref in store.heads(FUNCTIONS)):
        return
    listing = list_files(root, ALL, settings.index)
    plan = make_plan(listing, Inputs(settings, "bench", "bench"))
    with open_tree(root, listing) as tree, ParserPool(settings.index) as pool:
        for bucket in plan.buckets.values():
            build_symbols(store, bucket.targets["symbols"], bucket.files, tree, pool, Silent())
            build_chunks(store, bucket.targets["chunks"], tree, settings.chunking, Silent())
    for ref in chunks_of(store, ALL):
        copy_functions(store, ref)


def copy_functions(store: ArtifactStore, ref: ArtifactRef) -> None:
    """Write the functions of a bucket as a bucket of their own."""
    table = store.open(ref).table("chunks.parquet")
    functions = table.filter(pc.and_(pc.is_in(table["kind"], _KINDS), pc.equal(table["part"], 0)))

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        writer.table("chunks.parquet", functions, formats.CHUNKS_TABLE)
        report.rows = report.computed = len(functions)

    run_stage(store, Target(ArtifactRef(FUNCTIONS, ref.asset, ref.bucket, ref.fingerprint), "bench"), work)


def chunks_of(store: ArtifactStore, repo: str) -> Sequence[ArtifactRef]:
    return sorted(ref for ref in store.heads(repo) if ref.asset == formats.CHUNKS.name)


class Stage:
    """A cold build of the vectors of a repository, one bucket after the other."""

    def __init__(self, store: ArtifactStore, repo: str) -> None:
        shutil.rmtree(store.root / "artifacts" / repo / formats.CHUNK_VECTORS.name, ignore_errors=True)
        self._store = store
        self._encoder = make_encoder(EmbedderSettings(), DATA)
        self._recipe = os.urandom(16).hex()  # so that nothing is taken over from another run

    def build(self, chunks: ArtifactRef) -> StageReport:
        ref = ArtifactRef(chunks.repo, formats.CHUNK_VECTORS.name, chunks.bucket, os.urandom(16).hex())
        return build_vectors(self._store, Target(ref, self._recipe, (chunks,)), self._encoder, Silent())


def compare(store: ArtifactStore) -> dict[str, Any]:
    """Take the loop and the stage in turns over the functions of each bucket."""
    loop, stage = PlainLoop(CodeEncoder(DATA, 256)), Stage(store, FUNCTIONS)
    looped, staged = Spent(), Spent()
    for ref in chunks_of(store, FUNCTIONS):
        table = store.open(ref).table("chunks.parquet", ["name", "signature", "doc", "text"])
        names, *parts = (table[column].to_pylist() for column in table.column_names)
        bodies = list(map(" ".join, zip(*parts, strict=True)))
        with looped.on(len(names)):
            loop.encode(names, bodies)
        with staged.on(len(names)):
            stage.build(ref)
    return {
        "functions": staged.rows,
        "plain_loop": looped.told(),
        "stage": staged.told(),
        "stage_to_plain_loop": round(looped.wall / staged.wall, 2),
        "stage_to_plain_loop_by_cpu": round(looped.cpu / staged.cpu, 2),
    }


def memory(store: ArtifactStore) -> dict[str, Any]:
    """Make the vectors of all chunks, and tell the most memory that there was after each bucket."""
    stage, spent = Stage(store, ALL), Spent()
    before, peaks = peak_mb(), []
    for ref in chunks_of(store, ALL):
        with spent.on(int(store.open(ref).counts["rows"])):
            stage.build(ref)
        peaks.append(peak_mb())
    return {"chunks": spent.rows, **spent.told(), "peak_mb_of_imports": before, "peak_mb_after_each_bucket": peaks}


def ready() -> dict[str, float]:
    """Tell how long the encoder takes from nothing to its first vector, with and without importing the runtime."""
    text = compose("read", "File.read", "a/file.py", "def read(self)", "", "return self.data")
    importing, opening = Spent(), Spent()
    with importing.on(1):
        importlib.import_module("onnxruntime")
    with opening.on(1):
        make_encoder(EmbedderSettings(), DATA).encode([text])
    return {"import_ms": 1e3 * importing.wall, "ready_ms": 1e3 * opening.wall, "ready_cpu_ms": 1e3 * opening.cpu}


def apart(part: str, store: Path) -> dict[str, Any]:
    """Run a part of this bench in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.embedding", "", "--store", str(store), "--part", part]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--store", type=Path, help="folder that keeps the chunks")
    parser.add_argument("--save", action="store_true", help="write tests/bench/results/embedding.json")
    parser.add_argument("--part", choices=("ready", "memory"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = ArtifactStore(options.store or Path(folder))
        if options.part:
            show(ready() if options.part == "ready" else memory(store))
            return
        store.initialise()
        make_chunks(options.repository.resolve(), store)
        starts = [apart("ready", store.root) for _ in range(_STARTS)]
        figures = {
            **compare(store),
            "encoder": {name: round(min(start[name] for start in starts), 1) for name in starts[0]},
            "all_chunks": apart("memory", store.root),
            "load_average": os.getloadavg(),
        }
    result = {"method": METHOD, **circumstances(), "repository": options.repository.name, "figures": figures}
    if options.save:
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
    show(result)


if __name__ == "__main__":
    main()
