"""The steps of training. Each reads what the one before wrote into a training folder, and writes its own part.

    packages/                        what was downloaded (`fetch`)
    work/pairs/*.parquet, packages.json    harvest: every package's pairs, and the packages with their licences
    work/corpus.npz, vocabulary.txt, held-back.parquet    vocabulary: the pairs in tokens, and those kept for evaluation
    work/initial.npz                 initialisation: where training starts
    work/encoder.npz, learned.json   encoder: what was learned
    encoder/code.onnx, code-vocabulary.txt.gz, code.json    export: the files that ship, with where they came from
    encoder/code.json                evaluation: what it reaches on pairs of packages that training has not seen

Equal packages and seed give equal pairs, vocabulary and start; learned numbers may differ in their last digits between
machines, and training them again gives the same figures within noise.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from pipelines.embedding import CodeNumbers, make_encoder, write_code
from pipelines.errors import InputError
from pipelines.settings import EmbedderSettings
from pipelines.training.batches import NAME_WEIGHT, PLACE_WEIGHT, Batches
from pipelines.training.corpus import BUCKETS, PARTS, Corpus, CorpusBuilder
from pipelines.training.figures import is_held_back, measure
from pipelines.training.learning import Learner, Parameters
from pipelines.training.manifest import digest, named_packages, row_of
from pipelines.training.packages import Names, Package, held_out_names, refuse_held_out
from pipelines.training.pairs import SCHEMA, SUFFIXES, Pair, harvest, without_copies
from pipelines.training.revision import code_revision

#: Steps of 1,024 pairs: about four times every documented pair; more of them gained nothing.
STEPS = 2_500
SEED = 7
#: Every how many steps the loss is told.
_TOLD_STEPS = 100

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TrainingFolder:
    """A folder to train in. `bundled` is the folder of the encoders that ship."""

    root: Path
    bundled: Path

    @property
    def packages(self) -> Path:
        """Folder of the downloaded archives."""
        return self.root / "packages"

    @property
    def work(self) -> Path:
        """Folder of what the steps hand on."""
        return self.root / "work"

    @property
    def encoder(self) -> Path:
        """Folder of the encoder that training makes."""
        return self.root / "encoder"

    @property
    def manifest(self) -> Path:
        """File that names the packages: one of the folder, else that of the shipped encoder."""
        own = self.root / "packages.json"
        return own if own.is_file() else self.bundled / "code.json"

    @property
    def held_out(self) -> Path:
        """File that names the projects of evaluation."""
        return self.bundled / "held-out.txt"


def harvest_packages(folder: TrainingFolder, told: Told, workers: int = 1) -> dict[str, int]:
    """Take the pairs of every package of the manifest.

    :raises InputError: if the folder does not hold what the manifest names, or the manifest names what is held out.
    """
    found = named_packages(folder.packages, folder.manifest)
    refuse_held_out(found, folder.held_out)
    pairs_folder = folder.work / "pairs"
    shutil.rmtree(pairs_folder, ignore_errors=True)
    pairs_folder.mkdir(parents=True)
    take = partial(_harvest_one, pairs_folder, held_out_names(folder.held_out))
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for package, (pairs, documented) in zip(found, pool.map(take, found), strict=True):
            rows.append({**asdict(row_of(package)), "pairs": pairs, "documented": documented})
            told(f"{package.name} {package.version}: {pairs} pairs, {documented} documented")
    _write_json(folder.work / "packages.json", rows)
    return {"packages": len(rows), **{name: sum(row[name] for row in rows) for name in ("pairs", "documented")}}


def _harvest_one(folder: Path, held_out: Names, package: Package) -> tuple[int, int]:
    """Write the pairs of a package; return how many there are, and how many are documented."""
    pairs = harvest(package, SUFFIXES, held_out=held_out)
    file = folder / f"{package.key.replace('/', '-')}.parquet"
    pq.write_table(pa.Table.from_pylist([asdict(pair) for pair in pairs], SCHEMA), file, compression="zstd")
    return len(pairs), sum(bool(pair.doc) for pair in pairs)


def make_corpus(folder: TrainingFolder) -> dict[str, int]:
    """Choose the vocabulary and turn all pairs into tokens; keep those for evaluation."""
    work, builder, kept = folder.work, CorpusBuilder(), list[dict[str, str]]()
    for package, pairs in _by_package(work):
        if is_held_back(package):
            kept += map(asdict, pairs)
        else:
            builder.add(package, pairs)
    pq.write_table(pa.Table.from_pylist(kept, SCHEMA), work / "held-back.parquet", compression="zstd")
    corpus = builder.corpus()
    arrays: dict[str, Any] = {"package": corpus.package, "language": corpus.language, "packages": corpus.packages}
    for part in PARTS:
        matrix = corpus.parts[part]
        arrays |= {f"{part}_data": matrix.data, f"{part}_indices": matrix.indices, f"{part}_indptr": matrix.indptr}
    np.savez(work / "corpus.npz", **arrays)
    (work / "vocabulary.txt").write_text("\n".join(corpus.tokens), "utf-8")
    return {
        "pairs": len(corpus.package),
        "documented": int(corpus.documented.sum()),
        "tokens": len(corpus.tokens),
        "packages": len(corpus.packages),
        "held_back": len(kept),
    }


def read_corpus(work: Path) -> Corpus:
    """Read what `make_corpus` wrote."""
    tokens = (work / "vocabulary.txt").read_text("utf-8").split("\n")
    with np.load(work / "corpus.npz", allow_pickle=False) as found:
        shape = (len(found["package"]), len(tokens) + BUCKETS)
        parts = {
            part: sp.csr_matrix((found[f"{part}_data"], found[f"{part}_indices"], found[f"{part}_indptr"]), shape)
            for part in PARTS
        }
        return Corpus(parts, found["package"], found["language"], list(found["packages"]), tokens)


def initialise(folder: TrainingFolder, seed: int = SEED) -> dict[str, int]:
    """Work out where training starts."""
    corpus = read_corpus(folder.work)
    documented = np.flatnonzero(corpus.documented)
    if not len(documented):
        raise InputError("no pair has a documentation", hint="download more packages")
    Parameters.initial(corpus, documented, np.random.default_rng(seed)).save(folder.work / "initial.npz")
    return {"rows": corpus.pieces.size, "documented": len(documented), "seed": seed}


def learn(folder: TrainingFolder, told: Told, steps: int = STEPS, seed: int = SEED) -> dict[str, float]:
    """Train, and write the parameters."""
    corpus = read_corpus(folder.work)
    parameters = Parameters.load(folder.work / "initial.npz")
    rows = np.arange(len(corpus.package), dtype=np.intp)
    losses: list[float] = []

    def hear(step: int, loss: float) -> None:
        losses.append(loss)
        if step % _TOLD_STEPS == 0:
            told(f"step {step} of {steps}: loss {np.mean(losses[-_TOLD_STEPS:]):.3f}")

    Learner(parameters, Batches(corpus, rows, np.random.default_rng(seed)), steps).run(hear)
    parameters.save(folder.work / "encoder.npz")
    learned = {"steps": steps, "seed": seed, "loss": round(float(np.mean(losses[-_TOLD_STEPS:])), 4)}
    _write_json(folder.work / "learned.json", learned)
    return learned


def export(folder: TrainingFolder, revision: str | None = None) -> dict[str, Any]:
    """Write the encoder that ships, and beside it what it was made from.

    :param revision: the commit of the code that made it; by default that of this checkout.
    """
    work, out = folder.work, folder.encoder
    tokens = (work / "vocabulary.txt").read_text("utf-8").split("\n")
    found = Parameters.load(work / "encoder.npz")
    numbers = CodeNumbers(
        found.table,
        np.stack([found.text.weights, found.question.weights]),
        np.stack([found.text.bias, found.question.bias]),
    )
    out.mkdir(exist_ok=True)
    write_code(out, tokens, numbers, BUCKETS, NAME_WEIGHT, PLACE_WEIGHT)
    packages = _read_json(work / "packages.json")
    revision = code_revision() if revision is None else revision
    story = {
        "code_revision": revision,
        "training": _read_json(work / "learned.json"),
        "tokens": len(tokens),
        "table_blake2b": _digest(found.table),
        "onnx_sha256": digest(out / "code.onnx"),
        "packages": packages,
    }
    _write_json(out / "code.json", story)
    return {"bytes": (out / "code.onnx").stat().st_size, "packages": len(packages), "code_revision": revision}


def evaluate(folder: TrainingFolder) -> dict[str, Any]:
    """Measure the exported encoder on the pairs that were kept from training, and write the figures beside it."""
    table = pq.read_table(folder.work / "held-back.parquet")
    encoder = make_encoder(EmbedderSettings("code"), folder.encoder)
    metrics = measure([Pair(**row) for row in table.to_pylist()], encoder)
    story = _read_json(folder.encoder / "code.json")
    _write_json(folder.encoder / "code.json", {**story, "metrics": metrics})
    return metrics


def _by_package(work: Path) -> Iterator[tuple[str, Iterator[Pair]]]:
    """Yield the pairs of each package, copies left out; the packages that are held back come last.

    So a pair of theirs that a package of training has too is left out as well.
    """
    files = sorted((work / "pairs").glob("*.parquet"))
    tables = [(is_held_back(_package_of(file)), file) for file in files]
    rows = (Pair(**row) for _, file in sorted(tables) for row in pq.read_table(file).to_pylist())
    yield from groupby(without_copies(rows), key=lambda pair: pair.package)


def _package_of(file: Path) -> str:
    names = pq.read_table(file, columns=["package"]).slice(0, 1)["package"].to_pylist()
    return names[0] if names else ""


def _digest(array: npt.NDArray[np.float32]) -> str:
    return hashlib.blake2b(array.tobytes(), digest_size=16).hexdigest()


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _write_json(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
