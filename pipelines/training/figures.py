"""How well an encoder finds code by its documentation. In: pairs that training has not seen. Out: figures.

A question is the first sentence of a documentation; all definitions are asked, each with its name and without its
documentation, and one is right. MRR@10 is the mean of 1 / rank up to rank 10 (Voorhees 1999), recall the share of
questions that are answered there; equal scores share their places. Which packages are held back is told by their names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.fingerprint import digest_bytes
from pipelines.records import Encoder
from pipelines.tokens import words
from pipelines.training.corpus import composed_texts
from pipelines.training.documentation import first_sentence
from pipelines.training.pairs import Pair

#: One of so many families of packages is held back.
_SHARE = 30
#: What a name begins with that says no more than the language or the host.
_PREFIX = re.compile(r"(?:librust|lib|golang|haskell|ruby|php|node|python)-?|(?:github|gopkg|com|org)-")
MAX_TEXTS, MAX_QUESTIONS, MAX_PACKAGE_QUESTIONS = 20_000, 2_000, 150
_LEAST_WORDS, _MOST_WORDS = 5, 40
#: A language of fewer questions has no figures of its own.
_LEAST_QUESTIONS = 100
_TOP = 10
#: How many rows the bits choose for rescoring, as at query time.
_POOL = 256
_BATCH = 512

Floats = npt.NDArray[np.float32]


def is_held_back(package: str) -> bool:
    """Tell whether a package is kept for evaluation, as all packages of one family are or are not."""
    scope, slash, rest = package.lower().partition("/")
    name = scope.removeprefix("@") if slash and rest else scope
    while shorter := _PREFIX.match(name):
        if shorter.end() == len(name):
            break
        name = name[shorter.end() :]
    family = re.split(r"[-_.]", name, maxsplit=1)[0]
    return int.from_bytes(digest_bytes(family.encode()), "big") % _SHARE == 0


def measure(pairs: Sequence[Pair], encoder: Encoder) -> dict[str, Any]:
    """Return the figures over all languages, and for each language that has enough questions."""
    order = sorted(range(len(pairs)), key=lambda place: _hash(pairs[place]))
    asked = _questions(pairs, order)
    questioned = set(asked)
    others = [place for place in order if place not in questioned]
    rows = [*asked, *others[: max(0, MAX_TEXTS - len(asked))]]
    texts = composed_texts([pairs[place] for place in rows])
    parts = [encoder.encode(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
    questions = [encoder.encode_query(first_sentence(pairs[place].doc)) for place in asked]
    if not questions:
        return {"questions": 0, "texts": len(texts)}
    places = _places(np.concatenate(parts), np.stack(questions))
    languages = np.array([pairs[place].language for place in asked])
    counts = Counter(languages.tolist())
    return {
        "questions": len(asked),
        "texts": len(texts),
        **_figures(places, np.ones(len(asked), np.bool_)),
        "languages": {
            language: {"questions": count, **_figures(places, languages == language)}
            for language, count in sorted(counts.items())
            if count >= _LEAST_QUESTIONS
        },
    }


def _questions(pairs: Sequence[Pair], order: Sequence[int]) -> list[int]:
    sentences = Counter(first_sentence(pair.doc).lower() for pair in pairs)
    taken: Counter[str] = Counter()
    asked: list[int] = []
    for place in order:
        pair = pairs[place]
        sentence = first_sentence(pair.doc)
        fits = _LEAST_WORDS <= sum(1 for _ in words(sentence)) <= _MOST_WORDS and sentences[sentence.lower()] == 1
        if fits and taken[pair.package] < MAX_PACKAGE_QUESTIONS and len(asked) < MAX_QUESTIONS:
            taken[pair.package] += 1
            asked.append(place)
    return asked


def _places(texts: Floats, questions: Floats) -> dict[str, Floats]:
    """Return the place of each question's own text, 0 for the best, by each way of searching; row r asks for row r."""
    bits, asked_bits = (np.where(rows > 0, 1, -1).astype(np.float32) for rows in (texts, questions))
    found: dict[str, list[Floats]] = {"float": [], "bits": [], "rescored": []}
    for start in range(0, len(questions), _BATCH):
        own = np.arange(start, min(start + _BATCH, len(questions)))
        exact, near = questions[own] @ texts.T, asked_bits[own] @ bits.T
        kept = min(_POOL, len(texts))
        least = -np.partition(-near, kept - 1, axis=1)[:, kept - 1 : kept]
        for way, scores in (("float", exact), ("bits", near), ("rescored", np.where(near >= least, exact, -2))):
            right = scores[np.arange(len(own)), own][:, None]
            better, equal = (scores > right).sum(axis=1), (scores == right).sum(axis=1)
            found[way].append((better + (equal - 1) / 2).astype(np.float32))
    return {way: np.concatenate(parts) for way, parts in found.items()}


def _figures(places: dict[str, Floats], chosen: npt.NDArray[np.bool_]) -> dict[str, float]:
    found: dict[str, float] = {}
    for way, place in places.items():
        shown = place[chosen] < _TOP
        found[f"mrr@10 {way}"] = round(float(np.where(shown, 1 / (place[chosen] + 1), 0).mean()), 4)
        found[f"recall@10 {way}"] = round(float(shown.mean()), 4)
    return found


def _hash(pair: Pair) -> bytes:
    return digest_bytes(f"{pair.package} {pair.path} {pair.qualified_name} {pair.code}".encode("utf-8", "replace"))
