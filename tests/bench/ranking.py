"""Ways of scoring functions for questions, and how well each finds the right one.

In: questions and texts. Out: for each question the place of the right text; from places MRR@10, recall@10, NDCG@10, and
how sure a difference of two methods is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pipelines.embedding import features
from pipelines.quantization import hamming_pool, rescore
from pipelines.quantization.rescoring import to_int8
from pipelines.quantization.signs import sign_bits
from pipelines.records import Encoder
from pipelines.tokens import words
from tests.bench.remembered import Remembered

POOL = 256
#: Okapi BM25 with the values that did best on Python functions; the name counts three times, as in `vocab`.
K1, B, NAME_COUNT = 2.5, 0.75, 3
RRF_K = 20
CUT = 10
#: Scores of so many questions at a time: 200 x 30,000 floats are 24 MB.
BLOCK = 200
DEPTH = 1_000
#: Texts that an encoder is given at a time.
BATCH = 512
RESAMPLES, SEED = 10_000, 7

#: Scores of all texts for the questions from one number up to another.
Scores = Callable[[int, int], npt.NDArray[np.float32]]
Places = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Task:
    """Questions, the composed texts of all functions, and which function each question is about."""

    questions: list[str]
    texts: list[str]
    right: npt.NDArray[np.intp]


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

    held = counts([[*(text.split("\n")[0].split() * (NAME_COUNT - 1)), *text.split()] for text in task.texts])
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
    """Return the scores of float vectors, of sign bits on both sides or one, and of a pool by bits, int8 rescored."""
    texts = np.concatenate(
        [encoder.encode(task.texts[start : start + BATCH]) for start in range(0, len(task.texts), BATCH)]
    )
    if isinstance(encoder, Remembered):
        questions = encoder.encode_queries(task.questions)
    else:
        questions = np.stack([encoder.encode_query(question) for question in task.questions])
    signs, asked_signs = (np.where(vectors > 0, 1, -1).astype(np.float32) for vectors in (texts, questions))
    codes, asked_codes = sign_bits(texts), sign_bits(questions)
    rows, scales = to_int8(texts)

    def rescored(start: int, end: int) -> npt.NDArray[np.float32]:
        scores = np.full((end - start, len(texts)), -2, np.float32)
        for number, (code, question) in enumerate(zip(asked_codes[start:end], questions[start:end], strict=True)):
            near, _ = hamming_pool(codes, code, POOL)
            scores[number, near] = rescore(rows, scales, near, question)
        return scores

    return {
        "float": lambda start, end: questions[start:end] @ texts.T,
        "bits": lambda start, end: asked_signs[start:end] @ signs.T,
        "float question, bits": lambda start, end: questions[start:end] @ signs.T,
        "bits, rescored": rescored,
    }


def fused(*methods: Scores) -> Scores:
    """Return the reciprocal ranks of several methods, added."""

    def ranks(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        best = np.argpartition(-scores, DEPTH, axis=1)[:, :DEPTH] if scores.shape[1] > DEPTH else np.argsort(-scores)
        order = np.take_along_axis(best, np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable"), 1)
        result = np.zeros_like(scores)
        np.put_along_axis(result, order, (1 / (RRF_K + 1 + np.arange(order.shape[1]))).astype(np.float32)[None], 1)
        return result

    return lambda start, end: np.sum([ranks(scores(start, end)) for scores in methods], axis=0)


def places(task: Task, scores: Scores) -> Places:
    """Return the place of each question's right text, from 0; equal scores share the mean of their places."""
    found: list[Places] = []
    for start in range(0, len(task.questions), BLOCK):
        end = min(len(task.questions), start + BLOCK)
        block = scores(start, end)
        own = block[np.arange(end - start), task.right[start:end]][:, None]
        found.append((block > own).sum(axis=1) + ((block == own).sum(axis=1) - 1) / 2)
    return np.concatenate(found)


def figures(place: Places) -> dict[str, float]:
    """Return MRR@10, recall@10 and NDCG@10 of places."""
    within = place < CUT
    return {
        "mrr": round(float(_reciprocal(place).mean()), 4),
        "recall": round(float(within.mean()), 4),
        "ndcg": round(float(np.where(within, 1 / np.log2(place + 2), 0).mean()), 4),
    }


def difference(first: Places, second: Places) -> Mapping[str, float]:
    """Return by how much the MRR@10 of the first is higher, with the 95% interval of a paired bootstrap."""
    apart = _reciprocal(first) - _reciprocal(second)
    drawn = np.random.default_rng(SEED).integers(0, len(apart), (RESAMPLES, len(apart)), dtype=np.int32)
    low, high = np.quantile(apart[drawn].mean(axis=1), (0.025, 0.975))
    return {"mrr": round(float(apart.mean()), 4), "low": round(float(low), 4), "high": round(float(high), 4)}


def _reciprocal(place: Places) -> Places:
    return np.where(place < CUT, 1 / (place + 1), 0)
