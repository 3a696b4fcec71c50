"""Faults of embedding runtimes that users of other indexers reported, as what must hold here."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper

from pipelines.embedding import make_encoder
from pipelines.embedding.onnx_model import OnnxEncoder
from pipelines.settings import EmbedderSettings, Settings, override
from pipelines.store import ArtifactStore
from tests.cases.builders import content_of, index
from tests.discover.git_repository import make_repository
from tests.embedding.bert import WORDS, make_bert
from tests.embedding.builders import DATA, make_model
from tests.serving.builds import SETTINGS, build, write_files

Floats = npt.NDArray[np.float32]
SHORT = WORDS[1:]


@pytest.fixture(scope="module")
def float_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("float"))


@pytest.fixture(scope="module")
def int8_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("int8"), int8=True)


def settings_of(model: Path) -> Settings:
    return override(SETTINGS, "embedder", name="onnx", model=str(model), dimensions=64)


def encoder_of(model: Path) -> OnnxEncoder:
    encoder = make_encoder(EmbedderSettings("onnx", str(model), dimensions=64), DATA)
    assert isinstance(encoder, OnnxEncoder)
    return encoder


def draw_texts(count: int, longest: int, seed: int = 67) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(SHORT, k=draw.randrange(1, longest))) for _ in range(count)]


def bits(vectors: Floats) -> bytes:
    return np.packbits(vectors > 0, axis=1).tobytes()


# --- 67: dynamically quantised models


def run_together(model: Path, texts: Sequence[str]) -> Floats:
    """Run texts in one batch, padded, as an encoder would that does not care."""
    rows = [[WORDS.index(word) for word in text.split()] for text in texts]
    length = max(map(len, rows))
    ids = np.array([row + [0] * (length - len(row)) for row in rows])
    mask = np.array([[1] * len(row) + [0] * (length - len(row)) for row in rows])
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    (hidden,) = session.run(None, feed)
    pooled: Floats = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return pooled


def test_codes_do_not_depend_on_the_batch(int8_bert: Path) -> None:
    """67"""
    texts = draw_texts(200, 30)
    neighbour = " ".join(SHORT[number % len(SHORT)] for number in range(512))
    together = run_together(int8_bert, [*texts[:20], neighbour])[:20]
    assert bits(together) != bits(run_together(int8_bert, texts[:20]))  # such a model does depend on it
    encoder = encoder_of(int8_bert)
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    for size in (8, 32):
        batches = [encoder.encode(texts[start : start + size]) for start in range(0, len(texts), size)]
        assert np.concatenate(batches).tobytes() == alone.tobytes()
    order = random.Random(1).sample(range(len(texts)), len(texts))
    assert encoder.encode([texts[row] for row in order]).tobytes() == alone[order].tobytes()
    assert encoder.encode([neighbour, *texts])[1:].tobytes() == alone.tobytes()


def test_a_build_after_an_edit_has_the_codes_of_a_fresh_one(int8_bert: Path, tmp_path: Path) -> None:
    """67"""
    draw = random.Random(2)
    files = {
        f"pkg/{name}.py": f"def {name}():\n    return {' + '.join(draw.choices(SHORT, k=9))}\n" for name in SHORT[:6]
    }
    root = make_repository(tmp_path / "source", files)
    store, settings = ArtifactStore(tmp_path / "store"), settings_of(int8_bert)
    build(root, store, settings, encoder=encoder_of(int8_bert))
    write_files(root, {f"pkg/{SHORT[3]}.py": f"def {SHORT[3]}():\n    return {SHORT[60]}\n"})
    after = content_of(store, build(root, store, settings, encoder=encoder_of(int8_bert)))
    other = ArtifactStore(tmp_path / "fresh")
    fresh = content_of(other, build(root, other, settings, encoder=encoder_of(int8_bert)))
    assert after == fresh


# --- 68: threads, optimisation, environment


def run_with(model: Path, texts: Sequence[str], threads: int, level: Any) -> Floats:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = level
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    pooled = []
    for text in texts:
        ids = np.array([[WORDS.index(word) for word in text.split()]])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = session.run(None, feed)
        pooled.append(hidden[0].mean(axis=0, dtype=np.float64))
    vectors = np.array(pooled)
    unit: Floats = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


def test_codes_do_not_depend_on_threads_and_hardly_on_optimisation(float_bert: Path) -> None:
    """68"""
    texts = draw_texts(40, 60, seed=68)
    every = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    none = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    own = encoder_of(float_bert).encode(texts)
    for threads in (1, 16):
        assert run_with(float_bert, texts, threads, every).tobytes() == own.tobytes()
    plain = run_with(float_bert, texts, 16, none)
    np.testing.assert_allclose(plain, own, atol=1e-5)
    flipped = (plain > 0) != (own > 0)
    assert np.abs(own[flipped]).max(initial=0) < 1e-5  # only what is within rounding of zero
    assert flipped.mean() < 1e-3


def test_the_runtime_that_made_the_vectors_is_told(float_bert: Path, tmp_path: Path) -> None:
    """68"""
    root = make_repository(tmp_path / "source", {"a.py": "def bal():\n    return dem\n"})
    store = ArtifactStore(tmp_path / "store")
    plan = build(root, store, settings_of(float_bert), encoder=encoder_of(float_bert))
    for bucket in plan.buckets.values():
        told = store.open(bucket.targets["chunk_vectors"].ref).facts["runtime"]
        assert told == f"onnxruntime {onnxruntime.__version__} on {os.uname().machine}"


# --- 69: vectors that are none


def test_what_has_no_vector_is_counted_never_near_and_found_by_its_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """69"""
    names = ("parse", "tree", "open", "node")
    files = {f"{name}.py": f"def {name}(value):\n    return value.{name}ed()\n" for name in names}
    config = '[index]\nbuckets = 4\n[embedder]\nname = "onnx"\nmodel = "model/model.onnx"\ndimensions = 64\n'
    root = make_repository(tmp_path / "parcels", {".gitignore": "model/\n", "strata.toml": config, **files})
    model = make_model(root / "model")
    (model.parent / "1_Pooling").mkdir()
    (model.parent / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')  # the name comes first
    set_rows(model, {1: 0.0, 2: np.nan, 3: np.inf})
    built = index(root, settings_of(model))
    counted = Counter[str]()
    for bucket in built.plan.buckets.values():
        counted += Counter(built.store.open(bucket.targets["chunk_vectors"].ref).counts["skipped"])
    assert (counted["zero_vector"], counted["not_finite"]) == (1, 2)
    codes = built.store.open(built.plan.targets["binary_codes"].ref)
    valid = codes.array("valid.npy")
    assert valid.sum() == 1
    assert not codes.array("codes.npy")[~valid].any()
    assert [hit["path"] for hit in built.hits(capsys, "node", "--mode", "semantic")] == ["node.py"]
    for name in names:
        assert built.hits(capsys, name, "--mode", "lexical")[0]["path"] == f"{name}.py"


def set_rows(model: Path, rows: Mapping[int, float]) -> None:
    """Fill the vectors of some tokens with one value each."""
    loaded = onnx.load(str(model))
    table = next(item for item in loaded.graph.initializer if item.name == "table")
    numbers = numpy_helper.to_array(table).copy()
    for row, value in rows.items():
        numbers[row] = value
    table.CopyFrom(numpy_helper.from_array(numbers, "table"))
    onnx.save(loaded, str(model))


# --- 70: memory by shape


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_memory_does_not_grow_with_the_shapes_seen(tmp_path: Path) -> None:
    """70"""
    model = make_model(tmp_path)
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 512}')
    encoder = encoder_of(model)
    draw = random.Random(70)
    texts = [" ".join(draw.choices(("parse", "tree", "open", "file"), k=draw.randrange(1, 513))) for _ in range(5_000)]
    samples, start = [], 0
    while start < len(texts):
        size = draw.randrange(1, 33)
        encoder.encode(texts[start : start + size])
        if start // 100 != (start + size) // 100:
            samples.append(resident_mb())
        start += size
    warm = samples[len(samples) // 5]
    assert encoder.truncated == 0
    assert max(samples[len(samples) // 5 :]) < 1.1 * warm


# --- 71: forks and threads

FORKING = """
import multiprocessing, sys
from pathlib import Path
from pipelines.embedding import make_encoder
from pipelines.settings import EmbedderSettings

encoder = make_encoder(EmbedderSettings("onnx", sys.argv[1], dimensions=64), Path("."))
texts = ["bal dem", "kin tor " * 400] * 20
before = encoder.encode(texts).tobytes()  # tokenizer, session and threads are in use when it forks

def work(number):
    return encoder.encode(texts).tobytes() == before

with multiprocessing.get_context("fork").Pool(8) as pool:
    print(pool.map(work, range(8), chunksize=1))
"""


def test_a_tokenizer_that_was_used_survives_a_fork_in_silence(float_bert: Path) -> None:
    """71"""
    done = subprocess.run(
        [sys.executable, "-c", FORKING, str(float_bert)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str([True] * 8)


def test_sixteen_threads_share_one_encoder(float_bert: Path) -> None:
    """71"""
    draw = random.Random(71)
    questions = [" ".join(draw.choices(SHORT, k=draw.choice((1, 3, 700)))) for _ in range(160)]
    alone = [encoder_of(float_bert).encode_query(text) for text in questions[:16]]
    encoder = encoder_of(float_bert)  # nothing is loaded yet: all threads come at once
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(encoder.encode_query, questions))
    np.testing.assert_array_equal(found[:16], alone)
    assert encoder.truncated == sum(len(text.split()) > 512 for text in questions)
