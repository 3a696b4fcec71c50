"""What is learned: each question nearer to its own text than to all others of the batch, and the reverse (InfoNCE).

In: vectors of questions and texts. Out: the loss and its gradients. It is asked of all numbers of a vector and, with
less weight, of its first 64 and 128 (Matryoshka representation learning, Kusupati et al. 2022).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.training.encoder import Matrix, project

#: Numbers of a vector that must do alone, with the weight of their loss.
_WIDTHS = ((256, 1.0), (128, 0.15), (64, 0.3))


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of a batch and its gradients; `scale` is the logarithm of what similarities are multiplied by."""

    value: float
    questions: Matrix
    texts: Matrix
    scale: float


def contrast(questions: Matrix, texts: Matrix, same: npt.NDArray[np.bool_], scale: float) -> Loss:
    """Compare (B, D) questions with (B, D) texts, row by row the right pairs.

    :param same: (B, B), true where another row asks the very same and is no wrong answer.
    """
    asked, told = np.zeros_like(questions), np.zeros_like(texts)
    value = by_scale = 0.0
    for width, weight in _WIDTHS:
        lengths = [np.linalg.norm(side[:, :width], axis=1, keepdims=True) + 1e-8 for side in (questions, texts)]
        left, right = questions[:, :width] / lengths[0], texts[:, :width] / lengths[1]
        loss, similar, gradient = _softmax_loss(left, right, same, scale)
        gradient *= weight
        value += weight * loss
        by_scale += float((gradient * similar).sum()) * np.exp(scale)
        asked[:, :width] += project(np.exp(scale) * (gradient @ right), left) / lengths[0]
        told[:, :width] += project(np.exp(scale) * (gradient.T @ left), right) / lengths[1]
    return Loss(value, asked, told, by_scale)


def _softmax_loss(
    left: Matrix, right: Matrix, same: npt.NDArray[np.bool_], scale: float
) -> tuple[float, Matrix, Matrix]:
    """Return the loss over rows and columns, the similarities, and the gradient by scaled similarities."""
    similar = left @ right.T
    scores = np.exp(scale) * similar
    scores[same] = -np.inf
    own = np.arange(len(left))
    loss = 0.0
    gradient = np.zeros_like(scores)
    for axis in (1, 0):
        chances = np.exp(scores - scores.max(axis=axis, keepdims=True))
        chances /= chances.sum(axis=axis, keepdims=True)
        loss -= float(np.log(chances[own, own] + 1e-12).mean()) / 2
        gradient += chances
    gradient[own, own] -= 2
    return loss, similar, gradient / (2 * len(left))
