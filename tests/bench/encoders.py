"""Which encoder finds a function by its documentation? A command; it prints one table a task.

    python -m tests.bench.encoders PAIRS LANGUAGE ... [--functions 20000 ...] [--questions 1000] [--results FOLDER]
                                   [--code FOLDER] [--onnx MODEL [--tokenizer FILE] [--width 384] [--onnx-functions N]
                                     [--vectors FOLDER]]

PAIRS is what `tests.bench.held_out` took from projects that no training has seen. A question is the first sentence of a
documentation, of 5 to 40 words, that no other function has, that stands in no code of its file, and that does not hold
all words of the function's name; a project gives PROJECT_QUESTIONS at most, in order of their hashes. The corpus is
every function without its documentation, in order of their hashes, those of the questions among them. One function is
right, so the figures are lower than a reader's would be.

Each language is two tasks for each number of functions. "kept" gives names as they are. "removed" writes f for
the function's own name, as a whole identifier, wherever it stands in its signature, code and qualified name; what else
repeats its words, such as the file's path or a longer identifier, stays.

RESULTS gets `encoders-LANGUAGE.json`. An onnx encoder is slow: it is asked about N functions at most, and VECTORS keeps
what it gave, by text, so that only new texts cost time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.embedding import compose_rows, make_encoder
from pipelines.embedding.composition import COMPOSED_FROM
from pipelines.records import Encoder
from pipelines.settings import EmbedderSettings
from pipelines.tokens import words
from pipelines.training.documentation import first_sentence
from pipelines.training.pairs import Pair, without_copies
from pipelines.word_columns import text_column
from resources.bundled import encoder_folder
from tests.bench.held_out import LIST, read_projects
from tests.bench.measure import circumstances
from tests.bench.ranking import Places, Scores, Task, bm25, by_vectors, difference, figures, fused, places
from tests.bench.remembered import Remembered

LEAST_WORDS, MOST_WORDS = 5, 40
#: More from one project would make the figures its own.
PROJECT_QUESTIONS = 260
NO_NAME = "f"
METHOD = "first sentence of a documentation -> its function, one right answer; see tests/bench/encoders.py"
#: Which methods are told apart with an interval.
COMPARED = (
    ("code float", "bm25"),
    ("code float", "onnx float"),
    ("code bits, rescored", "code float"),
    ("bm25 + code", "bm25"),
    ("bm25 + code", "bm25 + onnx"),
    ("bm25 + code + onnx", "bm25 + code"),
)


def read_pairs(folder: Path, language: str) -> list[Pair]:
    """Read the pairs of one language, copies left out."""
    tables = (pq.read_table(path, filters=[("language", "=", language)]) for path in sorted(folder.glob("*.parquet")))
    return list(without_copies(Pair(**row) for table in tables for row in table.to_pylist()))


def make_task(pairs: Sequence[Pair], functions: int, questions: int, *, names: bool) -> Task:
    """Draw the questions and the functions that they are asked of, the same for the same pairs."""
    order = sorted(range(len(pairs)), key=lambda item: _hash(pairs[item]))
    asked = _askable(pairs, order)[:questions]
    others = set(order).difference(asked)
    chosen = {*asked, *[place for place in order if place in others][: max(0, functions - len(asked))]}
    rows = [place for place in order if place in chosen]
    row_of = {place: row for row, place in enumerate(rows)}
    texts = _texts([pairs[place] for place in rows], names=names)
    right = np.array([row_of[place] for place in asked], np.intp)
    return Task([first_sentence(pairs[place].doc) for place in asked], texts, right)


def _askable(pairs: Sequence[Pair], order: Sequence[int]) -> list[int]:
    """Return the pairs whose documentation is a question, in the given order."""
    sentences = Counter(first_sentence(pair.doc).lower() for pair in pairs)
    of_file: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for pair in pairs:
        of_file[pair.package, pair.path].append(" ".join(words(pair.code)))
    taken: Counter[str] = Counter()
    asked: list[int] = []
    for place in order:
        pair = pairs[place]
        sentence = first_sentence(pair.doc)
        found = list(words(sentence))
        fits = LEAST_WORDS <= len(found) <= MOST_WORDS and sentences[sentence.lower()] == 1
        if not fits or set(words(pair.name)) <= set(found) or taken[pair.package] >= PROJECT_QUESTIONS:
            continue
        if not any(" ".join(found) in code for code in of_file[pair.package, pair.path]):
            taken[pair.package] += 1
            asked.append(place)
    return asked


def _hash(pair: Pair) -> bytes:
    return hashlib.sha1(f"{pair.package} {pair.path} {pair.qualified_name} {pair.code}".encode()).digest()


def _texts(pairs: Sequence[Pair], *, names: bool) -> list[str]:
    rows = [_columns(pair, names=names) for pair in pairs]
    columns = [text_column(column) for column in zip(*rows, strict=True)]
    texts: list[str] = compose_rows(pa.record_batch(columns, names=list(COMPOSED_FROM))).to_pylist()
    return texts


def _columns(pair: Pair, *, names: bool) -> tuple[str, ...]:
    """Return what a text is composed of, in the order of COMPOSED_FROM."""
    if names:
        return pair.name, pair.qualified_name, pair.path, pair.signature, "", pair.code
    own = re.compile(rf"(?<!\w){re.escape(pair.name)}(?!\w)")
    qualified, signature, code = (own.sub(NO_NAME, text) for text in (pair.qualified_name, pair.signature, pair.code))
    return NO_NAME, qualified, pair.path, signature, "", code


def encoders(given: argparse.Namespace, functions: int = 0) -> Iterator[tuple[str, Encoder]]:
    """Yield the encoders that are asked for about so many functions."""
    for name in ("hash", "vocab", "code"):
        folder = given.code if name == "code" and given.code else encoder_folder()
        yield name, make_encoder(EmbedderSettings(name), folder)
    if given.onnx and functions <= given.onnx_functions:
        settings = EmbedderSettings("onnx", str(given.onnx), str(given.tokenizer or ""), given.width)
        encoder = make_encoder(settings, encoder_folder())
        yield "onnx", Remembered(encoder, given.vectors) if given.vectors else encoder


def run(task: Task, given: argparse.Namespace) -> dict[str, Any]:
    """Measure every method on one task; print each as it is done."""
    found: dict[str, Places] = {}

    def tell(name: str, scores: Scores) -> None:
        found[name] = places(task, scores)
        line = "  ".join(f"{key} {value:.3f}" for key, value in figures(found[name]).items())
        sys.stdout.write(f"  {name:28} {line}\n")
        sys.stdout.flush()

    lexical = bm25(task)
    tell("bm25", lexical)
    fusable: dict[str, Scores] = {}
    for name, encoder in encoders(given, len(task.texts)):
        methods = by_vectors(task, encoder)
        for method, scores in methods.items():
            tell(f"{name} {method}", scores)
        fusable[name] = methods["bits, rescored"]
        tell(f"bm25 + {name}", fused(lexical, fusable[name]))
    if "onnx" in fusable:
        tell("bm25 + code + onnx", fused(lexical, fusable["code"], fusable["onnx"]))
    apart = {f"{a} - {b}": difference(found[a], found[b]) for a, b in COMPARED if a in found and b in found}
    return {"figures": {name: figures(place) for name, place in found.items()}, "differences": apart}


def measure(language: str, given: argparse.Namespace) -> dict[str, Any]:
    """Measure all tasks of a language."""
    pairs = read_pairs(given.pairs, language)
    tasks: list[Mapping[str, Any]] = []
    for names, functions in product(("kept", "removed"), given.functions):
        task = make_task(pairs, functions, given.questions, names=names == "kept")
        size = {"functions": len(task.texts), "questions": len(task.questions)}
        sys.stdout.write(f"{language}, names {names}: {size['questions']} questions, {size['functions']} functions\n")
        tasks.append({"names": names, **size, **run(task, given)})
    used = Counter(pair.package for pair in pairs)
    return {
        "method": METHOD,
        **circumstances(),
        "language": language,
        "encoders": {name: encoder.digest for name, encoder in encoders(given)},
        "projects": {
            project.name: f"{project.source} {project.version}: {used[project.name]} functions"
            for project in read_projects(LIST)
            if project.name in used
        },
        "tasks": tasks,
    }


def main(arguments: Sequence[str]) -> int:
    """Read the arguments, measure, and write the results where asked."""
    parser = argparse.ArgumentParser(prog="encoders", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("languages", nargs="+")
    parser.add_argument("--functions", type=int, nargs="+", default=[20_000])
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--code", type=Path)
    parser.add_argument("--onnx", type=Path)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--onnx-functions", type=int, default=1_000_000)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args(arguments)
    for language in given.languages:
        result = measure(language, given)
        if given.results:
            path = given.results / f"encoders-{language}.json"
            path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
