"""The steps of training, in order; each reads what the one before wrote into a work folder, and writes its own part.

    pairs/*.parquet, packages.json   harvest: every package's pairs, and the packages with their licences
    corpus.npz, vocabulary.txt       vocabulary: the pairs in tokens
    initial.npz                      initialisation: where training starts
    encoder.npz                      encoder: what was learned
    code.onnx, code-vocabulary.txt.gz, code.json    export, into the folder of the bundled encoder

Equal packages and seed give equal pairs, vocabulary and start; learned numbers may differ in their last digits between
machines, and training them again gives the same figures within noise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from pipelines.embedding import CodeNumbers, write_code
from pipelines.errors import InputError
from pipelines.training.batches import NAME_WEIGHT, PLACE_WEIGHT, Batches
from pipelines.training.corpus import BUCKETS, PARTS, Corpus, CorpusBuilder
from pipelines.training.learning import Learner, Parameters
from pipelines.training.packages import find_packages, refuse_held_out
from pipelines.training.pairs import SCHEMA, SUFFIXES, Pair, harvest, without_copies

#: Steps of 1,024 pairs: about four times every documented pair; more of them gained nothing.
STEPS = 3_000
SEED = 7
#: Every how many steps the loss is told.
_TOLD_STEPS = 100

Told = Callable[[str], None]


def harvest_packages(packages: Path, held_out: Path, work: Path, told: Told) -> dict[str, int]:
    """Take the pairs of every downloaded package.

    :param packages: a folder of archives. :param held_out: projects of which nothing may be taken.
    :raises InputError: if a package has no permissive licence or is held out.
    """
    found = find_packages(packages)
    refuse_held_out(found, held_out)
    (work / "pairs").mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for package in found:
        pairs = harvest(package, SUFFIXES)
        documented = sum(bool(pair.doc) for pair in pairs)
        file = work / "pairs" / f"{package.registry}-{package.name.replace('/', '_')}.parquet"
        pq.write_table(pa.Table.from_pylist([asdict(pair) for pair in pairs], SCHEMA), file, compression="zstd")
        stated = {"registry": package.registry, "name": package.name, "version": package.version}
        rows.append({**stated, "licence": package.licence, "pairs": len(pairs), "documented": documented})
        told(f"{package.name} {package.version}: {len(pairs)} pairs, {documented} documented")
    _write_json(work / "packages.json", rows)
    return {"packages": len(rows), "pairs": sum(row["pairs"] for row in rows)}


def make_corpus(work: Path) -> dict[str, int]:
    """Choose the vocabulary and turn all pairs into tokens."""
    builder = CorpusBuilder()
    for package, pairs in _by_package(work):
        builder.add(package, pairs)
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


def initialise(work: Path, seed: int = SEED) -> dict[str, int]:
    """Work out where training starts."""
    corpus = read_corpus(work)
    documented = np.flatnonzero(corpus.documented)
    if not len(documented):
        raise InputError("no pair has a documentation", hint="download more packages")
    Parameters.initial(corpus, documented, np.random.default_rng(seed)).save(work / "initial.npz")
    return {"rows": corpus.pieces.size}


def learn(work: Path, told: Told, steps: int = STEPS, seed: int = SEED) -> dict[str, float]:
    """Train, and write the parameters."""
    corpus = read_corpus(work)
    parameters = Parameters.load(work / "initial.npz")
    rows = np.arange(len(corpus.package), dtype=np.intp)
    losses: list[float] = []

    def hear(step: int, loss: float) -> None:
        losses.append(loss)
        if step % _TOLD_STEPS == 0:
            told(f"step {step} of {steps}: loss {np.mean(losses[-_TOLD_STEPS:]):.3f}")

    Learner(parameters, Batches(corpus, rows, np.random.default_rng(seed)), steps).run(hear)
    parameters.save(work / "encoder.npz")
    return {"steps": steps, "seed": seed, "loss": round(float(np.mean(losses[-_TOLD_STEPS:])), 4)}


def export(work: Path, out: Path, learned: Mapping[str, float], revision: str) -> dict[str, Any]:
    """Write the encoder that ships, and beside it what it was made from.

    :param learned: what `learn` returned. :param revision: the commit of the code that made it.
    """
    tokens = (work / "vocabulary.txt").read_text("utf-8").split("\n")
    found = Parameters.load(work / "encoder.npz")
    numbers = CodeNumbers(
        found.table,
        np.stack([found.text.weights, found.question.weights]),
        np.stack([found.text.bias, found.question.bias]),
    )
    write_code(out, tokens, numbers, BUCKETS, NAME_WEIGHT, PLACE_WEIGHT)
    packages = json.loads((work / "packages.json").read_text("utf-8"))
    story = {
        "code_revision": revision,
        "training": dict(learned),
        "tokens": len(tokens),
        "table_blake2b": _digest(found.table),
        "packages": packages,
    }
    _write_json(out / "code.json", story)
    return {"bytes": (out / "code.onnx").stat().st_size, "packages": len(packages)}


def _by_package(work: Path) -> Iterator[tuple[str, list[Pair]]]:
    """Yield the pairs of each package, copies left out."""
    files = sorted((work / "pairs").glob("*.parquet"))
    rows = (Pair(**row) for file in files for row in pq.read_table(file).to_pylist())
    package, pairs = "", list[Pair]()
    for pair in without_copies(rows):
        if pair.package != package:
            if pairs:
                yield package, pairs
            package, pairs = pair.package, []
        pairs.append(pair)
    if pairs:
        yield package, pairs


def _digest(array: npt.NDArray[np.float32]) -> str:
    return hashlib.blake2b(array.tobytes(), digest_size=16).hexdigest()


def _write_json(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
