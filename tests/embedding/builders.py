"""Small real inputs for the embedding tests: chunks of a bucket in a store, encoders that misbehave, a tiny model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pyarrow as pa
from onnx import TensorProto, helper, numpy_helper

from pipelines import formats
from pipelines.artifacts import Artifact, ArtifactRef, ArtifactWriter, Target
from pipelines.embedding import build_vectors
from pipelines.embedding.composition import COMPOSED_FROM, compose_rows
from pipelines.fingerprint import fingerprint
from pipelines.generation import EncoderInfo, GenerationDocument
from pipelines.identity import make_id
from pipelines.progress import Silent
from pipelines.records import ChunkKind, Encoder
from pipelines.report import StageReport
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore, Pointer
from pipelines.word_columns import text_column

DATA = Path(__file__).parents[2] / "data" / "encoder"
#: path -> text of its one chunk
Files = Mapping[str, str]
_DATA = {"json": "json", "toml": "toml"}


def make_store(root: Path) -> ArtifactStore:
    store = ArtifactStore(root / "store")
    store.initialise()
    return store


def chunk_table(repo: str, files: Files) -> pa.Table:
    rows = [
        {
            "chunk_id": make_id(repo, path, ChunkKind.WINDOW, "", 0),
            "path": path,
            "language": _DATA.get(path.rpartition(".")[2], ""),
            "scope": "",
            "kind": ChunkKind.WINDOW.value,
            "name": "",
            "qualified_name": "",
            "symbol_id": None,
            "part": 0,
            "start_line": 1,
            "end_line": 1 + text.count("\n"),
            "start_byte": 0,
            "end_byte": len(text.encode()),
            "signature": "",
            "doc": "",
            "text": text,
            "code_hash": bytes(16),
            "is_test": False,
        }
        for path, text in files.items()
    ]
    rows.sort(key=lambda row: row["chunk_id"])  # type: ignore[arg-type, return-value]
    return pa.Table.from_pylist(rows, schema=formats.CHUNKS_TABLE)


def vector_target(
    store: ArtifactStore, files: Files, encoder: Encoder, repo: str = "sample", bucket: str = "b00"
) -> Target:
    """Write the chunks of some files and return the target of their vectors."""
    mark = fingerprint([repo, bucket, dict(files)])
    chunks = Target(ArtifactRef(repo, formats.CHUNKS.name, bucket, mark), "chunks")

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        writer.table("chunks.parquet", chunk_table(repo, files), formats.CHUNKS_TABLE)
        report.rows = report.computed = len(files)

    run_stage(store, chunks, work)
    recipe = fingerprint(["vectors", encoder.digest])
    ref = ArtifactRef(repo, formats.CHUNK_VECTORS.name, bucket, fingerprint([recipe, mark]))
    return Target(ref, recipe, (chunks.ref,))


def embed(
    store: ArtifactStore, files: Files, encoder: Encoder, repo: str = "sample", bucket: str = "b00"
) -> tuple[StageReport, Artifact]:
    target = vector_target(store, files, encoder, repo, bucket)
    report = build_vectors(store, target, encoder, Silent())
    return report, store.verify(target.ref)


def publish(store: ArtifactStore, repo: str, *refs: ArtifactRef) -> None:
    """Publish a generation of the given artifacts."""
    document = GenerationDocument(repo, "g1", EncoderInfo("words", "d", 64), refs)
    store.write_generation(repo, "g1", document.as_json())
    store.publish(repo, Pointer("g1", "", False, "2030-01-01T00:00:00Z"))


@dataclass
class WordsEncoder:
    """Counts words by their length: a deterministic encoder that tells what it was asked."""

    digest: str = "words-1"
    dimensions: int = 64
    name: str = "words"
    asked: list[list[str]] = field(default_factory=list)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.asked.append(list(texts))
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
        return vectors

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        vector: npt.NDArray[np.float32] = self.encode([text])[0]
        return vector

    def _vector(self, text: str) -> npt.NDArray[np.float64]:
        if "nanword" in text:
            return np.full(self.dimensions, np.nan)
        if "infword" in text:
            return np.full(self.dimensions, np.inf)
        if "zeroword" in text:
            return np.zeros(self.dimensions)
        if "badword" in text:
            raise ValueError("no such word")
        counts = np.bincount([len(word) % self.dimensions for word in text.split()], minlength=self.dimensions)
        vector: npt.NDArray[np.float64] = counts / np.sqrt((counts**2).sum())
        return vector


@dataclass
class OneShapeEncoder(WordsEncoder):
    """Gives one vector whatever it is asked."""

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.ones((1, self.dimensions), np.float32)


def make_model(
    folder: Path, *, width: int = 96, pooled: bool = False, input_name: str = "input_ids", words: int = 0
) -> Path:
    """Write a model that looks token vectors up, and a word-level tokenizer beside it; `words` more rows than it has.

    The attention mask is added in, so that a padded run would give other numbers than a run alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: index for index, word in enumerate(["[UNK]", "parse", "tree", "open", "file", "the", "node"])}
    table = np.random.default_rng(7).standard_normal((len(vocabulary) + words, width)).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["table", input_name], ["looked_up"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["mask"], ["share"], axes=[1], keepdims=1),
        helper.make_node("Unsqueeze", ["share", "axis"], ["wide"]),
        helper.make_node("Mul", ["looked_up", "wide"], ["last_hidden_state"]),
        helper.make_node("ReduceSum", ["last_hidden_state", "one"], ["sentence_embedding"], keepdims=0),
    ]
    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "s"]) for name in (input_name, "attention_mask")
    ]
    outputs = {
        "last_hidden_state": helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "s", width]),
        "sentence_embedding": helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["b", width]),
    }
    shown = list(outputs.values()) if pooled else [outputs["last_hidden_state"]]
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([2], np.int64), "axis"),
        numpy_helper.from_array(np.array([1], np.int64), "one"),
    ]
    graph = helper.make_graph(nodes, "tiny", ids, shown, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    write_tokenizer(folder, list(vocabulary), 8)
    return folder / "model.onnx"


def write_tokenizer(folder: Path, words: Sequence[str], most: int) -> None:
    """Write a tokenizer that knows some words, the first of which stands for any other, and reads `most` of a text."""
    tokenizer: dict[str, object] = {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": most, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: row for row, word in enumerate(words)}, "unk_token": words[0]},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


def compose(name: str, qualified_name: str, path: str, signature: str, doc: str, text: str) -> str:
    """Return the composed text of one chunk."""
    fields = (name, qualified_name, path, signature, doc, text)
    row = pa.record_batch([text_column([field]) for field in fields], names=list(COMPOSED_FROM))
    composed: str = compose_rows(row)[0].as_py()
    return composed
