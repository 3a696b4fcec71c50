"""What a step of training sees. In: a Corpus, the rows that may be learned from. Out: batches of questions and texts.

Of the batches, some ask a name for the body that it is the name of; the others ask a documentation, half of them within
a few packages alone, whose texts are harder to tell apart. A text loses its name often, so that bodies count too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pipelines.training.corpus import Corpus

#: How much a token counts in name and place, next to log(1 + count) in the body.
NAME_WEIGHT, PLACE_WEIGHT = 3.0, 1.0
BATCH_ROWS = 1_024
_NAME_BATCHES, _HARD_BATCHES = 0.2, 0.4
_HARD_PACKAGES = 4
#: A package of fewer documented pairs gives no part of a hard batch; one of more is drawn as if it had so many.
_HARD_LEAST, _HARD_MOST = 64, 5_000
#: Share of questions that are the whole documentation instead of its first sentence, of texts without their name, of
#: tokens that are left out on either side.
_WHOLE_DOCS, _NAMELESS, _DROPPED = 0.25, 0.4, 0.15

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Batch:
    """B questions and their texts as (B, V) amounts; `same` (B, B) marks rows that ask the very same."""

    questions: sp.csr_matrix
    texts: sp.csr_matrix
    same: npt.NDArray[np.bool_]


def question_amounts(counts: sp.csr_matrix) -> sp.csr_matrix:
    """Return how much each token of a question counts."""
    return counts.log1p()


def text_amounts(corpus: Corpus, rows: Rows, named: npt.NDArray[np.bool_] | None = None) -> sp.csr_matrix:
    """Return how much each token of a text counts.

    :param named: for each row, whether it shows its name; by default all do.
    """
    name, body = corpus.parts["name"][rows], corpus.parts["body"][rows]
    if named is not None:
        hidden = sp.diags((~named).astype(np.float32)) @ (name > 0)
        body = (body - body.multiply(hidden)).tocsr()
        body.eliminate_zeros()
        name = sp.diags(named.astype(np.float32)) @ name
    return (body.log1p() + name * NAME_WEIGHT + corpus.parts["place"][rows].log1p() * PLACE_WEIGHT).tocsr()


class Batches:
    """Draws batches at random, the same ones for the same generator."""

    def __init__(self, corpus: Corpus, rows: Rows, random: np.random.Generator) -> None:
        """Take the rows that may be drawn."""
        self._corpus = corpus
        self._random = random
        documented = corpus.documented[rows]
        self._documented = rows[documented]
        bare = rows[~documented]
        self._named = bare[np.diff(corpus.parts["name"].indptr)[bare] > 1]  # one word says too little
        package = corpus.package[self._documented]
        counts = np.bincount(package, minlength=len(corpus.packages))
        self._packages = np.flatnonzero(counts >= _HARD_LEAST)
        self._of_package = {int(item): self._documented[package == item] for item in self._packages}
        chances = np.minimum(counts[self._packages], _HARD_MOST).astype(np.float64)
        self._chances = chances / max(1.0, chances.sum())

    def draw(self) -> Batch:
        """Return the next batch."""
        kind = self._random.random()
        if kind < _NAME_BATCHES and len(self._named):
            rows = self._sample(self._named, BATCH_ROWS)
            asked = self._corpus.parts["name"][rows]
            named = np.zeros(len(rows), np.bool_)
        else:
            hard = kind < _NAME_BATCHES + _HARD_BATCHES and len(self._packages) >= _HARD_PACKAGES
            rows = self._neighbours() if hard else self._sample(self._documented, BATCH_ROWS)
            whole = self._random.random(len(rows)) < _WHOLE_DOCS
            asked = (self._part("sentence", rows, ~whole) + self._part("doc", rows, whole)).tocsr()
            asked.eliminate_zeros()
            named = self._random.random(len(rows)) >= _NAMELESS
        questions = question_amounts(asked)
        return Batch(self._thin(questions), self._thin(text_amounts(self._corpus, rows, named)), _equal_rows(questions))

    def _neighbours(self) -> Rows:
        chosen = self._random.choice(self._packages, _HARD_PACKAGES, replace=False, p=self._chances)
        return np.concatenate(
            [self._sample(self._of_package[int(item)], BATCH_ROWS // _HARD_PACKAGES) for item in chosen]
        )

    def _sample(self, rows: Rows, count: int) -> Rows:
        return self._random.choice(rows, min(count, len(rows)), replace=False)

    def _part(self, part: str, rows: Rows, wanted: npt.NDArray[np.bool_]) -> sp.csr_matrix:
        return sp.diags(wanted.astype(np.float32)) @ self._corpus.parts[part][rows]

    def _thin(self, amounts: sp.csr_matrix) -> sp.csr_matrix:
        kept = self._random.random(len(amounts.data)) >= _DROPPED
        return sp.csr_matrix((amounts.data * kept, amounts.indices, amounts.indptr), shape=amounts.shape)


def _equal_rows(questions: sp.csr_matrix) -> npt.NDArray[np.bool_]:
    """Return (B, B): whether two different rows have equal tokens."""
    ordered = questions.sorted_indices()
    keys = [
        ordered.indices[start:end].tobytes() for start, end in zip(ordered.indptr, ordered.indptr[1:], strict=False)
    ]
    numbers = np.unique(np.array(keys, object), return_inverse=True)[1]
    same: npt.NDArray[np.bool_] = numbers[:, None] == numbers[None, :]
    np.fill_diagonal(same, val=False)
    return same
