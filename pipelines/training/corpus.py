"""Pairs as numbers. In: pairs, package by package. Out: a Corpus: for each pair the tokens of its parts, as matrices.

Words are numbered as they are met, the vocabulary is chosen from those that enough packages use, and the words are then
cut into its tokens exactly as the encoder will cut them (`embedding.Pieces`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from pipelines.embedding import Pieces, compose_rows, fields
from pipelines.tokens import words
from pipelines.training.documentation import first_sentence
from pipelines.training.pairs import Pair
from pipelines.word_columns import text_column

#: Rows of the table: with 256 numbers each, one byte a number, it has 8 MB. The words of all packages that fewer than
#: two use are left to pieces.
TABLE_ROWS = 32_768
#: Rows for words of other scripts, chosen by hash.
BUCKETS = 512
_MIN_PACKAGES = 2
#: Words of a question that are read.
_MAX_SENTENCE_WORDS, _MAX_DOC_WORDS = 64, 128
PARTS = ("name", "place", "body", "sentence", "doc")


@dataclass(frozen=True, slots=True)
class Corpus:
    """N pairs. Each part is an (N, V) matrix of token counts."""

    parts: Mapping[str, sp.csr_matrix]
    package: npt.NDArray[np.int32]  # (N): place in `packages`
    language: npt.NDArray[np.str_]  # (N)
    packages: Sequence[str]
    tokens: Sequence[str]

    @property
    def pieces(self) -> Pieces:
        """Return the vocabulary."""
        return Pieces(self.tokens, BUCKETS)

    @property
    def documented(self) -> npt.NDArray[np.bool_]:
        """Return (N): whether a pair has a documentation."""
        flags: npt.NDArray[np.bool_] = np.diff(self.parts["doc"].indptr) > 0
        return flags


def composed_texts(pairs: Sequence[Pair]) -> list[str]:
    """Return the text of each pair as the encoder gets it, without the documentation."""
    columns = {
        name: text_column([getattr(pair, name) for pair in pairs])
        for name in ("name", "qualified_name", "path", "signature")
    }
    nothing, code = (text_column(texts) for texts in ([""] * len(pairs), [pair.code for pair in pairs]))
    composed: list[str] = compose_rows(pa.record_batch({**columns, "doc": nothing, "text": code})).to_pylist()
    return composed


@dataclass(slots=True)
class _Words:
    """Texts as numbers of words, one after the other."""

    numbers: array[int] = field(default_factory=lambda: array("i"))
    ends: array[int] = field(default_factory=lambda: array("q", [0]))

    def add(self, numbers: Sequence[int]) -> None:
        self.numbers.extend(numbers)
        self.ends.append(len(self.numbers))


class CorpusBuilder:
    """Takes the pairs of one package after the other."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._parts = {part: _Words() for part in PARTS}
        self._package: list[int] = []
        self._language: list[str] = []
        self._packages: list[str] = []
        self._used_by: list[int] = []  # word -> packages that have it
        self._last_user: list[int] = []

    def add(self, package: str, pairs: Iterable[Pair]) -> None:
        """Add the pairs of a package."""
        self._packages.append(package)
        given = list(pairs)
        for pair, composed in zip(given, composed_texts(given), strict=True):
            name, place, body = fields(composed)
            self._take("name", name.split())
            self._take("place", place.split())
            self._take("body", body.split())
            self._take("sentence", list(words(first_sentence(pair.doc)))[:_MAX_SENTENCE_WORDS])
            self._take("doc", list(words(pair.doc))[:_MAX_DOC_WORDS])
            self._package.append(len(self._packages) - 1)
            self._language.append(pair.language)

    def corpus(self, tokens: Sequence[str] = ()) -> Corpus:
        """Return all that was added, in the tokens of a vocabulary, by default of its own."""
        tokens = tokens or self._choose()
        pieces = Pieces(tokens, BUCKETS)
        cut = [pieces.rows(word) for word in self._known]
        counts = np.array([len(rows) for rows in cut], np.int64)
        flat = np.fromiter((row for rows in cut for row in rows), np.int32, int(counts.sum()))
        parts = {part: _matrix(self._parts[part], flat, counts, pieces.size) for part in PARTS}
        return Corpus(parts, np.array(self._package, np.int32), np.array(self._language), self._packages, tokens)

    def _take(self, part: str, found: Sequence[str]) -> None:
        package = len(self._packages) - 1
        numbers = []
        for word in found:
            number = self._known.setdefault(word, len(self._known))
            if number == len(self._used_by):
                self._used_by.append(1)
                self._last_user.append(package)
            elif self._last_user[number] != package:
                self._used_by[number] += 1
                self._last_user[number] = package
            numbers.append(number)
        self._parts[part].add(numbers)

    def _choose(self) -> list[str]:
        """Return the vocabulary: every ASCII character that occurs, then the words that most packages use."""
        usable = [word for word in self._known if word.isascii() and len(word) <= Pieces.longest]
        characters = sorted({letter for word in usable for letter in word})
        used = {word: self._used_by[self._known[word]] for word in usable if len(word) > 1}
        ordered = sorted((word for word in used if used[word] >= _MIN_PACKAGES), key=lambda word: (-used[word], word))
        return [*characters, *ordered[: TABLE_ROWS - BUCKETS - len(characters)]]


def _matrix(texts: _Words, flat: npt.NDArray[np.int32], counts: npt.NDArray[np.int64], width: int) -> sp.csr_matrix:
    """Return the (N, width) counts of tokens, given the tokens of every word one after the other."""
    numbers = np.frombuffer(texts.numbers, np.int32) if len(texts.numbers) else np.empty(0, np.int32)
    lengths = counts[numbers]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    firsts = np.concatenate([[0], np.cumsum(counts)])[numbers]
    places = np.arange(ends[-1]) + np.repeat(firsts - ends[:-1], lengths)
    matrix = sp.csr_matrix(
        (np.ones(int(ends[-1]), np.float32), flat[places], ends[np.frombuffer(texts.ends, np.int64)]),
        shape=(len(texts.ends) - 1, width),
    )
    matrix.sum_duplicates()
    return matrix
