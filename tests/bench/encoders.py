"""Which encoder finds a function by its documentation? A command; it prints one table a language.

    python -m tests.bench.encoders PAIRS [--language python] [--functions 30000] [--questions 2000] [--anonymous]
                                   [--code FOLDER] [--onnx MODEL --tokenizer FILE] [--json RESULT]

PAIRS is a folder of `pipelines.training.pairs` tables of packages that no training has seen. A question is the first
sentence of a documentation, of 5 to 40 words, that no other function has and that does not hold all words of the
function's name; one package gives 260 at most, in order of their hashes. The corpus is every function of the packages
without its documentation. One function is right, so the figures are lower than a reader's would be.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import scipy.sparse as sp

from pipelines.embedding import compose, features, make_encoder
from pipelines.records import Encoder
from pipelines.settings import EmbedderSettings
from pipelines.tokens import words
from pipelines.training.pairs import Pair, first_sentence, without_copies
from resources.bundled import encoder_folder

LEAST_WORDS, MOST_WORDS = 5, 40
PACKAGE_QUESTIONS = 260
POOL = 256
#: Okapi BM25 with the values that did best on Python functions; the name counts three times, as in `vocab`.
K1, B, NAME_COUNT = 2.5, 0.75, 3
RRF_K = 20
#: Scores of so many questions at a time: 200 x 30,000 floats are 24 MB.
BLOCK = 200
DEPTH = 1_000

Scores = Callable[[int, int], npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Task:
    """Questions, the composed texts of all functions, and which function each question is about."""

    questions: list[str]
    texts: list[str]
    right: npt.NDArray[np.intp]


def make_task(pairs: Sequence[Pair], functions: int, questions: int, *, anonymous: bool) -> Task:
    """Draw the questions and the functions that they are asked of, the same for the same pairs."""
    sentences = Counter(first_sentence(pair.doc).lower() for pair in pairs)
    taken: Counter[str] = Counter()
    asked: list[int] = []
    for place in sorted(range(len(pairs)), key=lambda item: _hash(pairs[item])):
        pair = pairs[place]
        sentence = first_sentence(pair.doc)
        found = list(words(sentence))
        fits = LEAST_WORDS <= len(found) <= MOST_WORDS and sentences[sentence.lower()] == 1
        if fits and not set(words(pair.name)) <= set(found) and taken[pair.package] < PACKAGE_QUESTIONS:
            taken[pair.package] += 1
            asked.append(place)
    asked = asked[:questions]
    others = sorted(set(range(len(pairs))) - set(asked), key=lambda item: _hash(pairs[item]))
    chosen = [*asked, *others[: max(0, functions - len(asked))]]
    texts = [_text(pairs[place], anonymous=anonymous) for place in chosen]
    return Task([first_sentence(pairs[place].doc) for place in asked], texts, np.arange(len(asked)))


def _hash(pair: Pair) -> bytes:
    return hashlib.sha1(f"{pair.package} {pair.path} {pair.qualified_name} {pair.code}".encode()).digest()


def _text(pair: Pair, *, anonymous: bool) -> str:
    if not anonymous:
        return compose(pair.name, pair.qualified_name, pair.path, pair.signature, "", pair.code)
    signature, code = (text.replace(pair.name, "f") for text in (pair.signature, pair.code))
    return compose("f", pair.qualified_name.removesuffix(pair.name) + "f", pair.path, signature, "", code)


# --- methods ---


def bm25(task: Task) -> Scores:
    """Return the scores of BM25 over stems, the name three times."""
    known: dict[str, int] = {}

    def counts(texts: Sequence[list[str]]) -> sp.csr_matrix:
        columns, ends = [], [0]
        for text in texts:
            columns += [known.setdefault(item, len(known)) for word in text for item in features(word)]
            ends.append(len(columns))
        matrix = sp.csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(texts), len(known)))
        matrix.sum_duplicates()
        return matrix

    held = counts([[*(text.split("\n")[0].split() * NAME_COUNT), *text.split()] for text in task.texts])
    width = held.shape[1]
    frequency = np.bincount(held.indices, minlength=width)
    rarity = np.log(1 + (len(task.texts) - frequency + 0.5) / (frequency + 0.5))
    length = np.asarray(held.sum(axis=1)).ravel()
    norm = np.repeat(K1 * (1 - B + B * length / length.mean()), np.diff(held.indptr))
    held.data = held.data * (K1 + 1) / (held.data + norm) * rarity[held.indices]
    by_term = held.T.tocsr()
    asked = (counts([list(words(question)) for question in task.questions])[:, :width] > 0).astype(np.float64)
    return lambda start, end: (asked[start:end] @ by_term).toarray().astype(np.float32)


def by_vectors(task: Task, encoder: Encoder) -> dict[str, Scores]:
    """Return the scores of float vectors, of sign bits, and of a pool by bits that is rescored by int8 vectors."""
    texts = np.concatenate(
        [encoder.encode(task.texts[start : start + 512]) for start in range(0, len(task.texts), 512)]
    )
    questions = np.stack([encoder.encode_query(question) for question in task.questions])
    bits, asked_bits = np.sign(texts), np.sign(questions)
    scale = np.maximum(np.abs(texts).max(axis=1, keepdims=True), 1e-9) / 127
    whole = np.rint(texts / scale) * scale

    def rescored(start: int, end: int) -> npt.NDArray[np.float32]:
        near = asked_bits[start:end] @ bits.T
        least = -np.partition(-near, POOL - 1, axis=1)[:, POOL - 1 : POOL]
        return np.where(near >= least, questions[start:end] @ whole.T, -2).astype(np.float32)

    return {
        "float": lambda start, end: questions[start:end] @ texts.T,
        "bits": lambda start, end: asked_bits[start:end] @ bits.T,
        "bits, rescored": rescored,
    }


def fused(first: Scores, second: Scores) -> Scores:
    """Return the reciprocal ranks of two methods, added."""

    def ranks(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        best = np.argpartition(-scores, DEPTH, axis=1)[:, :DEPTH] if scores.shape[1] > DEPTH else np.argsort(-scores)
        order = np.take_along_axis(best, np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable"), 1)
        result = np.zeros_like(scores)
        np.put_along_axis(result, order, (1 / (RRF_K + 1 + np.arange(order.shape[1]))).astype(np.float32)[None], 1)
        return result

    return lambda start, end: ranks(first(start, end)) + ranks(second(start, end))


def measure(task: Task, scores: Scores) -> dict[str, float]:
    """Return MRR@10, recall@10 and NDCG@10; equal scores share the mean of their places."""
    places: list[npt.NDArray[np.float64]] = []
    for start in range(0, len(task.questions), BLOCK):
        end = min(len(task.questions), start + BLOCK)
        found = scores(start, end)
        own = found[np.arange(end - start), task.right[start:end]][:, None]
        places.append((found > own).sum(axis=1) + ((found == own).sum(axis=1) - 1) / 2)
    place = np.concatenate(places)
    within = place < 10
    return {
        "mrr": round(float(np.where(within, 1 / (place + 1), 0).mean()), 4),
        "recall": round(float(within.mean()), 4),
        "ndcg": round(float(np.where(within, 1 / np.log2(place + 2), 0).mean()), 4),
    }


def encoders(given: argparse.Namespace) -> Iterator[tuple[str, Encoder]]:
    """Yield the encoders that are asked for."""
    for name in ("hash", "vocab", "code"):
        folder = given.code if name == "code" and given.code else encoder_folder()
        yield name, make_encoder(EmbedderSettings(name), folder)
    if given.onnx:
        settings = EmbedderSettings("onnx", model=str(given.onnx), tokenizer=str(given.tokenizer or ""))
        yield "onnx", make_encoder(settings, encoder_folder())


def run(given: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Measure every method on one task; print each as it is done."""
    rows = [row for path in sorted(given.pairs.glob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    pairs = [pair for pair in without_copies(Pair(**row) for row in rows) if pair.language == given.language]
    task = make_task(pairs, given.functions, given.questions, anonymous=given.anonymous)
    sys.stdout.write(f"{given.language}: {len(task.questions)} questions, {len(task.texts)} functions\n")
    results: dict[str, dict[str, float]] = {}

    def tell(name: str, scores: Scores) -> None:
        results[name] = measure(task, scores)
        figures = "  ".join(f"{key} {value:.3f}" for key, value in results[name].items())
        sys.stdout.write(f"  {name:24} {figures}\n")
        sys.stdout.flush()

    lexical = bm25(task)
    tell("bm25", lexical)
    for name, encoder in encoders(given):
        methods = by_vectors(task, encoder)
        for method, scores in methods.items():
            tell(f"{name} {method}", scores)
        tell(f"bm25 + {name} rescored", fused(lexical, methods["bits, rescored"]))
    return results


def main(arguments: Sequence[str]) -> int:
    """Read the arguments, measure, and write the result where asked."""
    parser = argparse.ArgumentParser(prog="encoders", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--language", default="python")
    parser.add_argument("--functions", type=int, default=30_000)
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--anonymous", action="store_true")
    parser.add_argument("--code", type=Path)
    parser.add_argument("--onnx", type=Path)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    results = run(given)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
