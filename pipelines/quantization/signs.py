"""Which side of zero: vectors as packed sign bits. In: vectors. Out: codes, and which rows can have one.

Bit i of a code is 1 where value i is above zero; bits fill each byte from the least significant one. A zero therefore
counts as not positive, and a row of zeros would be a valid-looking code of no bits: `usable_rows` marks such rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.errors import ArtifactMismatch


def sign_bits(vectors: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the packed sign bits of vectors, (.., D) to (.., D / 8) bytes.

    :raises ArtifactMismatch: if D is not a multiple of 8.
    """
    if vectors.shape[-1] % 8:
        raise ArtifactMismatch(f"vectors of {vectors.shape[-1]} values do not fill whole bytes of sign bits")
    return np.packbits(vectors > 0, axis=-1, bitorder="little")


def usable_rows(vectors: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return (N,) True where all values of a row are finite and some value is not zero."""
    usable: npt.NDArray[np.bool_] = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
    return usable
