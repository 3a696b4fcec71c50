"""Where training starts: latent semantic analysis of the pairs themselves. In: a Corpus. Out: a table and weights.

Tokens that stand in the same pairs, on either side, get near rows. No vector of anybody else's model goes in.
Randomised subspace iteration after Halko, Martinsson and Tropp (2011), algorithm 4.4.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pipelines.training.corpus import Corpus

#: Smooth inverse frequency (Arora, Liang, Ma 2017): a token of share p weighs a / (a + p).
_SMOOTHING = 3e-4
_SAMPLE_ROWS = 150_000
_OVERSAMPLING, _POWER_ROUNDS = 24, 3
#: What stands in the code weighs half of what stands in the documentation, of which there is less.
_BODY_SHARE = 0.5
#: Length of a random vector that is added to each row of length 1: tokens that always occur together must differ.
_NOISE = 0.5

Table = npt.NDArray[np.float32]


def token_weights(corpus: Corpus) -> Table:
    """Return the (V) logarithms of how much a token says, by how rare it is."""
    body, doc = (np.bincount(corpus.parts[part].indices, minlength=corpus.pieces.size) for part in ("body", "doc"))
    held = body + doc
    share = (held + 1) / (held + 1).sum()
    weights: Table = np.log(_SMOOTHING / (_SMOOTHING + share)).astype(np.float32)
    return weights


def initial_table(corpus: Corpus, rows: npt.NDArray[np.intp], dimensions: int, random: np.random.Generator) -> Table:
    """Return the (V, dimensions) table that training starts from, rows of length 1.

    :param rows: the pairs that may be learned from.
    """
    chosen = np.sort(random.choice(rows, min(len(rows), _SAMPLE_ROWS), replace=False))
    texts = _weighed(corpus, chosen)
    back = texts.T.tocsr()
    width = corpus.pieces.size
    basis = random.standard_normal((width, dimensions + _OVERSAMPLING), np.float32)
    for _ in range(_POWER_ROUNDS + 1):
        basis = np.linalg.qr(back @ (texts @ basis))[0]
    projected = texts @ basis
    vectors, strengths, _ = np.linalg.svd(projected.T @ projected)
    # The square root of a singular value: between the raw scores and their whitening.
    table = (basis @ vectors[:, :dimensions]) * strengths[:dimensions] ** 0.25
    noise = random.standard_normal(table.shape, np.float32) / np.sqrt(dimensions)
    return _unit_rows(_unit_rows(table) + _NOISE * noise)


def _weighed(corpus: Corpus, rows: npt.NDArray[np.intp]) -> sp.csr_matrix:
    body, doc = (corpus.parts[part][rows].log1p() for part in ("body", "doc"))
    texts = (body * _BODY_SHARE + doc + corpus.parts["name"][rows]) @ sp.diags(np.exp(token_weights(corpus)))
    length = np.sqrt(np.asarray(texts.multiply(texts).sum(axis=1)).ravel())
    return (sp.diags(1 / np.maximum(length, 1e-6)) @ texts).tocsr().astype(np.float32)


def _unit_rows(table: Table) -> Table:
    length = np.linalg.norm(table, axis=1, keepdims=True)
    unit: Table = np.where(length > 0, table / np.maximum(length, 1e-9), 0).astype(np.float32)
    return unit
