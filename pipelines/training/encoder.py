"""The encoder while it is trained: weighted sums of table rows, forward and backward. In: token matrices. Out: vectors.

    x = sum over tokens of amount * exp(weight[token]) * table[token];  u = x / |x|;  v = (u + bias) / |u + bias|

Amounts are the encoder's own (`embedding.code.TokenWeights`): log(1 + count) in the body, more in name and place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

#: Single precision; the sums are short, and a check of the gradients may use double.
Matrix = npt.NDArray[np.floating]
_TINY = 1e-8


@dataclass(slots=True)
class Side:
    """What text and question have each for themselves: token weights (V) as logarithms, and a bias (D)."""

    weights: Matrix
    bias: Matrix


@dataclass(frozen=True, slots=True)
class Encoded:
    """A batch, with what the way back needs."""

    amounts: sp.csr_matrix  # (B, V), weighted
    length: Matrix  # (B, 1)
    direction: Matrix  # (B, D)
    moved: Matrix  # (B, 1): length after the bias
    vectors: Matrix  # (B, D), of length 1


@dataclass(frozen=True, slots=True)
class Gradient:
    """The gradient of one side's batch: of the rows `tokens` of the table, of their weights, of the bias."""

    tokens: npt.NDArray[np.intp]
    rows: Matrix
    weights: Matrix
    bias: Matrix


def encode(amounts: sp.csr_matrix, table: Matrix, side: Side) -> Encoded:
    """Encode a (B, V) matrix of amounts."""
    weighted = sp.csr_matrix(
        (amounts.data * np.exp(side.weights)[amounts.indices], amounts.indices, amounts.indptr), shape=amounts.shape
    )
    total = weighted @ table
    length = np.linalg.norm(total, axis=1, keepdims=True) + _TINY
    direction = total / length
    vectors = direction + side.bias
    moved = np.linalg.norm(vectors, axis=1, keepdims=True) + _TINY
    return Encoded(weighted, length, direction, moved, vectors / moved)


def backward(encoded: Encoded, gradient: Matrix, table: Matrix) -> Gradient:
    """Return the gradient of the parameters, given that of the vectors."""
    moved = project(gradient, encoded.vectors) / encoded.moved
    total = project(moved, encoded.direction) / encoded.length
    tokens, local = np.unique(encoded.amounts.indices, return_inverse=True)
    narrow = sp.csr_matrix(
        (encoded.amounts.data, local.astype(np.int32), encoded.amounts.indptr),
        shape=(encoded.amounts.shape[0], len(tokens)),
    )
    rows = narrow.T.tocsr() @ total
    # A weight is the logarithm of a factor of its row's amounts: its gradient is row times row gradient.
    return Gradient(tokens, rows, (rows * table[tokens]).sum(axis=1), moved.sum(axis=0))


def project(gradient: Matrix, unit: Matrix) -> Matrix:
    """Take out of a gradient what points along a vector of length 1, which scaling undoes."""
    projected: Matrix = gradient - unit * (unit * gradient).sum(axis=1, keepdims=True)
    return projected
