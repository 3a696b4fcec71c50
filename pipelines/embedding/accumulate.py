"""Weighted sums of pseudo-random token vectors, exact in whole numbers.

Each token has a vector of +1 and -1 drawn from its hash; a text's vector is the sum of its tokens' vectors, each times
a whole weight, scaled to length 1. Sums of whole numbers do not depend on the order of adding, so a text has the same
vector alone, in any batch, with any number of threads and on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

#: Gives, for distinct tokens, their (len(tokens), dimensions) int8 matrix of +1 and -1.
SignMatrix = Callable[[Sequence[str]], npt.NDArray[np.int8]]
#: Texts whose tokens share one sign matrix: bounds it to a few megabytes, and common tokens are still drawn once.
_TEXTS_PER_BLOCK = 256


def accumulate(weighted: Sequence[Mapping[str, int]], signs: SignMatrix, dimensions: int) -> npt.NDArray[np.float32]:
    """Return the (len(weighted), dimensions) unit vectors of texts given as weights by token; a zero row for no token.

    :param weighted: for each text, the whole weight of each of its tokens.
    :param signs: draws the vectors of tokens. :param dimensions: their width.
    """
    result = np.zeros((len(weighted), dimensions), np.float32)
    for start in range(0, len(weighted), _TEXTS_PER_BLOCK):
        block = weighted[start : start + _TEXTS_PER_BLOCK]
        rows = {token: row for row, token in enumerate(dict.fromkeys(token for text in block for token in text))}
        matrix = signs(list(rows))
        for index, text in enumerate(block, start):
            if text:
                weights = np.fromiter(text.values(), np.float64, len(text))
                picked = matrix[np.fromiter(map(rows.__getitem__, text), np.intp, len(text))]
                # Whole numbers far below 2^53: the product is exact in float64, and twice as quick as in int64.
                result[index] = _unit(weights @ picked.astype(np.float64))
    return result


def _unit(total: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scale to length 1. The squared length is summed in whole numbers; root and quotient are correctly rounded."""
    squared = int((total.astype(np.int64) ** 2).sum())
    return total / np.sqrt(np.float64(squared)) if squared else total
