"""As many bits as are asked for, whatever the width of the vectors. In: vectors. Out: the values whose signs are kept.

B bits of D values are the signs of the first B values where B <= D. For more, the vector x is extended to
[x; R1 x; R2 x; ..] and cut off after B values. Every R is a D x D orthogonal matrix, so each of its values is another
view of the whole vector, and signs of a view tell what the signs of x did not. R is a product of three rounds, each

    H P S    S flips signs, P permutes, H is the Hadamard matrix on blocks of the largest power of two that divides D

(Ailon and Chazelle, STOC 2006, in the form of three rounds that is known to act like a rotation drawn at random.) Flips
and permutations are drawn from a hash, and H only adds and subtracts, in one order. So the bits are equal on every
machine, which a matrix out of a QR decomposition, or a product by BLAS, would not give.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.quantization.signs import sign_bits

Values = npt.NDArray[np.float32]

_ROUNDS = 3
#: Rows that are turned at a time: 1 MB of float32 at 256 values stays in the cache through all additions.
_BLOCK_ROWS = 1_024


@dataclass(frozen=True)
class BitMap:
    """From vectors of `dimensions` values to codes of `bits` bits."""

    dimensions: int
    bits: int
    seed: int

    def values(self, vectors: npt.NDArray[Any]) -> Values:
        """Return the values whose signs are the bits, (.., dimensions) to (.., bits)."""
        if self.bits <= self.dimensions:
            return np.asarray(vectors[..., : self.bits], np.float32)
        rows = np.asarray(vectors, np.float32).reshape(-1, self.dimensions)
        extended = np.empty((len(rows), self.bits), np.float32)
        extended[:, : self.dimensions] = rows
        for start in range(0, len(rows), _BLOCK_ROWS):
            columns = np.ascontiguousarray(rows[start : start + _BLOCK_ROWS].T)
            for number, turns in enumerate(self._rotations, 1):
                first = number * self.dimensions
                part = extended[start : start + _BLOCK_ROWS, first : first + self.dimensions]
                part[:] = _rotate(columns, turns)[: part.shape[1]].T
        return extended.reshape(*vectors.shape[:-1], self.bits)

    def codes(self, vectors: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """Return the packed sign bits, (.., dimensions) to (.., bits / 8)."""
        return sign_bits(self.values(vectors))

    @cached_property
    def _rotations(self) -> tuple[tuple[_Turn, ...], ...]:
        count = -(-self.bits // self.dimensions) - 1
        return tuple(
            tuple(_draw_turn(self.dimensions, f"{self.seed} {number} {place}") for place in range(_ROUNDS))
            for number in range(count)
        )


@dataclass(frozen=True, slots=True)
class _Turn:
    """One round: which value comes to each place, and its factor: a sign, scaled so that the round keeps lengths."""

    order: npt.NDArray[np.intp]
    factors: Values  # (D, 1)
    block: int


def _draw_turn(dimensions: int, name: str) -> _Turn:
    stream = np.frombuffer(hashlib.shake_256(name.encode()).digest(8 * dimensions), "<u8")
    block = dimensions & -dimensions
    signs = np.where(stream & np.uint64(1), np.float32(1), np.float32(-1))
    factors = signs * np.float32(1 / math.sqrt(block))
    return _Turn(np.argsort(stream, kind="stable"), factors[:, None], block)


def _rotate(columns: Values, turns: tuple[_Turn, ...]) -> Values:
    """Return R x for the columns x of (D, n)."""
    for turn in turns:
        columns = _hadamard(columns[turn.order] * turn.factors, turn.block)
    return columns


def _hadamard(columns: Values, block: int) -> Values:
    """Multiply each block of rows by the Hadamard matrix of ones and minus ones."""
    half = 1
    while half < block:
        pairs = columns.reshape(-1, 2, half, columns.shape[1])
        turned = np.empty_like(pairs)
        np.add(pairs[:, 0], pairs[:, 1], out=turned[:, 0])
        np.subtract(pairs[:, 0], pairs[:, 1], out=turned[:, 1])
        columns = turned.reshape(columns.shape)
        half *= 2
    return columns
