"""What should each feature of a candidate count for? A command: it fits the weights and says what they are worth.

    python -m tests.bench.weights BENCHMARK CHECKOUTS [--json RESULT]

BENCHMARK has repos.json and annotations/ (see pipelines.evaluation.benchmark), CHECKOUTS a folder NAME for each of its
repositories, indexed already, as `strata eval --benchmark` leaves them. A file's score is that of its best row; the
weights are those that make the right files of each question likeliest under a softmax over its files, with a small
penalty on large weights. Folds are by repository: a question is never judged by weights that saw its repository.
Nothing is drawn at random, so equal inputs give equal weights.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from assets_defs.host import StrataHost
from pipelines.evaluation.benchmark import Subject, Target, hits_target, read_benchmark
from pipelines.retrieval import Query, Searcher
from pipelines.retrieval.weights import LEAST, LOWERING, WEIGHTS
from resources.environment import Environment
from tests.bench.measure import circumstances, show

FOLDS = 6
#: Penalty on the squared weights of features that are scaled to a standard deviation of 1: 1 and 20 are as good.
PENALTY = 5.0
MOST_STEPS = 80
#: Files of a question that are compared: those that the present weights put first, and those that are right.
FILES = 40
DEPTH = 10

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Questions:
    """Rows of all questions: features (n, f), the question and file of each row; what is known of each file."""

    names: tuple[str, ...]
    features: Floats
    question: Ints  # of each row
    file: Ints  # of each row, numbered over all questions
    file_question: Ints
    right: npt.NDArray[np.bool_]  # (files, targets): the file has the target
    targets: Ints  # of each question, how many there are
    repositories: tuple[str, ...]  # of each question
    categories: tuple[str, ...]


def collect(subjects: Sequence[Subject], searchers: Mapping[str, Searcher]) -> Questions:
    """Ask every question and keep the features of its candidates."""
    columns: list[Floats] = []
    question: list[Ints] = []
    file: list[Ints] = []
    file_question: list[Ints] = []
    right: list[npt.NDArray[np.bool_]] = []
    targets: list[int] = []
    repositories: list[str] = []
    categories: list[str] = []
    names: tuple[str, ...] = tuple(WEIGHTS)
    for subject in subjects:
        searcher = searchers[subject.name]
        for item in subject.questions:
            compared = searcher.compare(Query(item.query))
            values = np.stack([compared.features[name] for name in names], axis=1)
            held = np.array([_held(searcher, row, subject, item.targets) for row in compared.rows.tolist()], np.bool_)
            kept, group, of_file = _few(compared.files, values @ np.array(list(WEIGHTS.values())), held)
            columns.append(values[kept])
            question.append(np.full(len(group), len(targets), np.int64))
            file.append(group + sum(len(item) for item in file_question))
            file_question.append(np.full(len(of_file), len(targets), np.int64))
            right.append(of_file)
            targets.append(len(item.targets))
            repositories.append(subject.name)
            categories.append(item.category)
    most = max(targets)
    return Questions(
        names,
        np.concatenate(columns),
        np.concatenate(question),
        np.concatenate(file),
        np.concatenate(file_question),
        np.concatenate([np.pad(item, ((0, 0), (0, most - item.shape[1]))) for item in right]),
        np.array(targets),
        tuple(repositories),
        tuple(categories),
    )


def _held(searcher: Searcher, row: int, subject: Subject, targets: Sequence[Target]) -> list[bool]:
    generation, local = searcher.locate(row)
    table = generation.rows
    lines = [int(table.numbers[name][local]) for name in ("start_line", "end_line")]
    return [hits_target(subject, target, table.labels["path"][local], *lines) for target in targets]


def _few(files: Ints, scores: Floats, held: npt.NDArray[np.bool_]) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """Return the rows that are kept, the file of each from 0, and for each file the targets that it has."""
    distinct, group = np.unique(files, return_inverse=True)
    best = np.full(len(distinct), -np.inf)
    np.maximum.at(best, group, scores)
    of_file = np.zeros((len(distinct), held.shape[1]), np.bool_)
    np.logical_or.at(of_file, group, held)
    wanted: npt.NDArray[np.bool_] = np.any(of_file, axis=1)
    wanted[np.lexsort((distinct, -best))[:FILES]] = True
    kept = np.flatnonzero(wanted[group])
    _, renumbered = np.unique(group[kept], return_inverse=True)
    return kept, renumbered.astype(np.int64), of_file[wanted]


def fit(data: Questions, asked: npt.NDArray[np.bool_]) -> Floats:
    """Return the weights for the questions in a mask."""
    rows = asked[data.question]
    scale = data.features.std(axis=0) + 1e-9
    features = data.features[rows] / scale
    _, file = np.unique(data.file[rows], return_inverse=True)
    order = np.argsort(file, kind="stable")
    features, file = features[order], file[order]
    firsts = np.searchsorted(file, np.arange(file[-1] + 1))
    _, question = np.unique(data.file_question[asked[data.file_question]], return_inverse=True)
    right = data.right[asked[data.file_question]].any(axis=1)
    share = right / np.maximum(np.bincount(question, weights=right), 1)[question]
    answered = np.bincount(question, weights=right)[question] > 0

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = features @ weights
        best = np.maximum.reduceat(scores, firsts)
        at_best = np.flatnonzero(scores == best[file])[::-1]
        row = np.empty(len(firsts), np.int64)
        row[file[at_best]] = at_best
        top = np.full(question[-1] + 1, -np.inf)
        np.maximum.at(top, question, best)
        odds = np.exp(best - top[question])
        total = np.bincount(question, weights=odds)[question]
        value = -float(np.sum(answered * share * (best - top[question] - np.log(total))))
        gradient = features[row].T @ (answered * (odds / total - share))
        return value + PENALTY / 2 * float(weights @ weights), gradient + PENALTY * weights

    least = [LEAST.get(name, 0.0) * size for name, size in zip(data.names, scale.tolist(), strict=True)]
    bounds = [(None, 0) if name in LOWERING else (low, None) for name, low in zip(data.names, least, strict=True)]
    start = np.array([0.0 if name in LOWERING else low for name, low in zip(data.names, least, strict=True)])
    options = {"maxiter": MOST_STEPS}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    weights: Floats = found.x / scale
    return weights


def ndcg(data: Questions, scores: Floats) -> Floats:
    """Return NDCG@10 of each question if its files stand in the order of their best rows."""
    best = np.full(len(data.file_question), -np.inf)
    np.maximum.at(best, data.file, scores)
    order = np.lexsort((-best, data.file_question))
    ordered = data.file_question[order]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    gained = np.zeros(len(data.targets))
    for column in data.right.T:
        first = np.full(len(data.targets), DEPTH)
        np.minimum.at(first, data.file_question[column], rank[column])
        gained += np.where(first < DEPTH, 1 / np.log2(first + 2), 0)
    ideal = np.cumsum(1 / np.log2(np.arange(DEPTH) + 2))
    values: Floats = gained / ideal[np.minimum(data.targets, DEPTH) - 1]
    return values


def cross_validate(data: Questions) -> Floats:
    """Return NDCG@10 of each question by weights that did not see its repository."""
    names = sorted(set(data.repositories), key=lambda name: hashlib.blake2b(name.encode()).digest())
    fold = {name: place % FOLDS for place, name in enumerate(names)}
    of_question = np.array([fold[name] for name in data.repositories])
    scores = np.zeros(len(data.question))
    for number in range(FOLDS):
        rows = of_question[data.question] == number
        scores[rows] = data.features[rows] @ fit(data, of_question != number)
    return ndcg(data, scores)


def main(argv: Sequence[str] | None = None) -> int:
    """Fit the weights, print them with their figures, and write them where a file is named."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.weights")
    parser.add_argument("benchmark", type=Path)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args(argv)
    subjects = read_benchmark(arguments.benchmark)
    host = StrataHost(Environment.read())
    folders = {item.name: arguments.checkouts / item.name / item.root for item in subjects}
    data = collect(subjects, {name: host.open([str(folder)]).searcher for name, folder in folders.items()})
    weights = fit(data, np.ones(len(data.targets), np.bool_))
    figures: dict[str, Any] = {
        "fitted": round(float(ndcg(data, data.features @ weights).mean()), 4),
        "cross_validated": _figures(data, cross_validate(data)),
        "present": round(float(ndcg(data, data.features @ np.array(list(WEIGHTS.values()))).mean()), 4),
        "weights": {name: round(value, 2) for name, value in zip(data.names, weights.tolist(), strict=True)},
    }
    show(figures)
    if arguments.json:
        method = "weights that make the right files likeliest, folds by repository; see tests/bench/weights.py"
        result = {"method": method, **circumstances(), "figures": figures}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0


def _figures(data: Questions, values: Floats) -> dict[str, float]:
    by_category = {
        name: float(values[np.array(data.categories) == name].mean()) for name in sorted(set(data.categories))
    }
    return {name: round(value, 4) for name, value in {"all": float(values.mean()), **by_category}.items()}


if __name__ == "__main__":
    sys.exit(main())
