"""The training loop. In: a Corpus, the rows that may be learned from, a seed. Out: the trained parameters.

Adam (Kingma and Ba 2015), for the rows of the table only where a batch has their token; the rate warms up, then falls
along a cosine. One thread gives the same numbers every time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from pipelines.training.batches import Batches
from pipelines.training.corpus import Corpus
from pipelines.training.encoder import Gradient, Matrix, Side, backward, encode
from pipelines.training.initial import initial_table, token_weights
from pipelines.training.objective import contrast

DIMENSIONS = 256
#: At 1e-3 the table learns too slowly, at 1e-2 a little worse. The biases touch every vector and move more gently.
_RATE, _BIAS_RATE_SHARE = 3e-3, 0.3
_LEAST_RATE = 1e-5
_WARM_UP_STEPS = 50
_MOMENTUM, _SCALING, _TINY = 0.9, 0.999, 1e-8
_FIRST_SCALE, _MOST_SCALE = np.log(20.0), np.log(100.0)


@dataclass(slots=True)
class Parameters:
    """All that is learned: the (V, D) table, what each side has, and the logarithm of the scale of similarities."""

    table: Matrix
    text: Side
    question: Side
    scale: float

    @classmethod
    def initial(cls, corpus: Corpus, rows: npt.NDArray[np.intp], random: np.random.Generator) -> Self:
        """Return where training starts."""
        weights = token_weights(corpus)
        text, question = (Side(weights.copy(), np.zeros(DIMENSIONS, np.float32)) for _ in range(2))
        return cls(initial_table(corpus, rows, DIMENSIONS, random), text, question, float(_FIRST_SCALE))

    def save(self, path: Path) -> None:
        """Write everything as one .npz."""
        arrays = {f"{name}_{part}": getattr(getattr(self, name), part) for name in _SIDES for part in _PARTS}
        np.savez(path, table=self.table, scale=np.float64(self.scale), **arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as found:
            text, question = (Side(*(found[f"{name}_{part}"] for part in _PARTS)) for name in _SIDES)
            return cls(found["table"], text, question, float(found["scale"]))


_SIDES, _PARTS = ("text", "question"), ("weights", "bias")


class _Adam:
    """Means of one array's gradients and of their squares."""

    def __init__(self, like: Matrix) -> None:
        self._mean = np.zeros_like(like)
        self._square = np.zeros_like(like)

    def step(
        self, values: Matrix, gradient: Matrix, rate: float, step: int, rows: npt.NDArray[np.intp] | slice
    ) -> None:
        mean = self._mean[rows] * _MOMENTUM + gradient * (1 - _MOMENTUM)
        square = self._square[rows] * _SCALING + gradient * gradient * (1 - _SCALING)
        self._mean[rows], self._square[rows] = mean, square
        corrected = np.sqrt(square / (1 - _SCALING**step)) + _TINY
        values[rows] -= rate * (mean / (1 - _MOMENTUM**step)) / corrected


class Learner:
    """Moves parameters, batch by batch."""

    def __init__(self, parameters: Parameters, batches: Batches, steps: int) -> None:
        self.parameters = parameters
        self._batches = batches
        self._steps = steps
        self._table = _Adam(parameters.table)
        self._weights = [_Adam(side.weights) for side in (parameters.text, parameters.question)]
        self._biases = [_Adam(side.bias) for side in (parameters.text, parameters.question)]
        self._scale = _Adam(np.zeros(1, np.float32))

    def run(self, told: Callable[[int, float], None]) -> None:
        """Take all steps; `told` hears the number of each and its loss."""
        for step in range(1, self._steps + 1):
            told(step, self._step(step))

    def _step(self, step: int) -> float:
        found, batch = self.parameters, self._batches.draw()
        rate = _RATE * min(1.0, step / _WARM_UP_STEPS) * (1 + np.cos(np.pi * step / self._steps)) / 2 + _LEAST_RATE
        texts = encode(batch.texts, found.table, found.text)
        questions = encode(batch.questions, found.table, found.question)
        loss = contrast(questions.vectors, texts.vectors, batch.same, found.scale)
        gradients = [backward(texts, loss.texts, found.table), backward(questions, loss.questions, found.table)]
        for place, (side, gradient) in enumerate(zip((found.text, found.question), gradients, strict=True)):
            self._weights[place].step(side.weights, gradient.weights, rate, step, gradient.tokens)
            self._biases[place].step(side.bias, gradient.bias, rate * _BIAS_RATE_SHARE, step, slice(None))
        tokens, rows = _joined(gradients)
        self._table.step(found.table, rows, rate, step, tokens)
        scale = np.array([found.scale], np.float32)
        self._scale.step(scale, np.array([loss.scale], np.float32), rate, step, slice(None))
        found.scale = min(float(scale[0]), float(_MOST_SCALE))
        return loss.value


def _joined(gradients: list[Gradient]) -> tuple[npt.NDArray[np.intp], Matrix]:
    """Return the tokens of both sides, each once, and the sum of their gradients."""
    tokens = np.union1d(*(gradient.tokens for gradient in gradients))
    rows = np.zeros((len(tokens), gradients[0].rows.shape[1]), np.float32)
    for gradient in gradients:
        rows[np.searchsorted(tokens, gradient.tokens)] += gradient.rows
    return tokens, rows
