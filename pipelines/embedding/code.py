"""The `code` encoder: a table of trained token vectors, run by onnxruntime. In: texts. Out: unit vectors.

A text's vector is the weighted sum of its tokens' rows, scaled to length 1, moved by a bias, scaled again. Text and
question share the table; each side has token weights and a bias of its own. Of d numbers wanted the first d are taken:
the table was trained so that they say most. Each text is run alone, its tokens in order of their rows, so a vector
never depends on the texts beside it. `pipelines/training` makes the model; data/encoder/code.json says from what.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipelines.embedding.code_files import (
    MODEL_NAME,
    QUERY_SIDE,
    RULES_KEY,
    SIDE,
    TEXT_SIDE,
    TOKENS,
    VOCABULARY_NAME,
    WEIGHTS,
    WIDTH,
)
from pipelines.embedding.explained import Explained
from pipelines.embedding.pieces import PIECES_VERSION, Pieces
from pipelines.embedding.recipe import RECIPE_VERSION, compose_query, fields
from pipelines.embedding.runtime import open_session
from pipelines.errors import EncoderError
from pipelines.fingerprint import fingerprint

if TYPE_CHECKING:
    import onnxruntime

#: Raised when anything below changes a vector.
_REVISION = 1
#: A token that occurs more often than this in one text counts as this often.
_MAX_COUNT = 255
_LOG_COUNTS = tuple(math.log1p(count) for count in range(_MAX_COUNT + 1))


class TokenWeights:
    """How often a text's tokens count: log(1 + count) in the body, more in the name and in the place."""

    def __init__(self, pieces: Pieces, name_weight: float, place_weight: float) -> None:
        self._rows = pieces.rows
        self._name_weight = name_weight
        self._place_weight = place_weight

    def of(self, text: str) -> dict[int, float]:
        """Return the weight of each row that a composed text has tokens of, in order of the rows."""
        name, place, body = fields(text)
        weights = {row: _LOG_COUNTS[min(count, _MAX_COUNT)] for row, count in self._count(body).items()}
        for row, count in self._count(place).items():
            weights[row] = weights.get(row, 0.0) + self._place_weight * _LOG_COUNTS[min(count, _MAX_COUNT)]
        for row, count in self._count(name).items():
            weights[row] = weights.get(row, 0.0) + self._name_weight * count
        return dict(sorted(weights.items()))

    def _count(self, line: str) -> Counter[int]:
        return Counter(chain.from_iterable(map(self._rows, line.split()))) if line else Counter()


class CodeEncoder:
    """The bundled encoder."""

    name = "code"

    def __init__(self, folder: Path, dimensions: int) -> None:
        """Take the folder with the model and its vocabulary; they are read on first use.

        :raises EncoderError: if one of them is missing, or more numbers are wanted than the model has.
        """
        if dimensions > WIDTH:
            raise EncoderError(
                f"the code encoder has {WIDTH} dimensions, not {dimensions}",
                hint=f"set embedder.dimensions to at most {WIDTH}",
            )
        self._model, self._vocabulary = folder / MODEL_NAME, folder / VOCABULARY_NAME
        for path in (self._model, self._vocabulary):
            if not path.is_file():
                raise EncoderError(f"the code encoder has no {path}", hint="reinstall codestrata")
        self.dimensions = dimensions

    @cached_property
    def digest(self) -> str:
        """Fingerprint of weights, vocabulary, the rules of tokens and of the text."""
        files = [hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest() for path in self._files()]
        return fingerprint([self.name, _REVISION, PIECES_VERSION, RECIPE_VERSION, self.dimensions, *files])

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return (len(texts), dimensions) unit vectors; a zero row for a text without a token."""
        return self._encode(texts, TEXT_SIDE)

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the (dimensions,) vector of a question."""
        vector: npt.NDArray[np.float32] = self._encode([compose_query(text)], QUERY_SIDE)[0]
        return vector

    def _encode(self, texts: Sequence[str], side: int) -> npt.NDArray[np.float32]:
        result = np.zeros((len(texts), self.dimensions), np.float32)
        weigh, run = self._weights.of, self._session.run
        chosen = np.array(side, np.int64)
        for place, text in enumerate(texts):
            weights = weigh(text)
            if weights:
                rows = np.fromiter(weights.keys(), np.int64, len(weights))
                amounts = np.fromiter(weights.values(), np.float32, len(weights))
                (vector,) = run(None, {TOKENS: rows, WEIGHTS: amounts, SIDE: chosen})
                result[place] = _unit(vector[: self.dimensions])
        return result

    def _files(self) -> tuple[Path, Path]:
        return self._model, self._vocabulary

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        return open_session(self._model, "reinstall codestrata")

    @cached_property
    def _weights(self) -> TokenWeights:
        rules = self._rules
        with Explained(f"vocabulary {self._vocabulary} cannot be read", "reinstall codestrata"):
            tokens = gzip.decompress(self._vocabulary.read_bytes()).decode("utf-8").split("\n")
        return TokenWeights(Pieces(tokens, int(rules["buckets"])), rules["name_weight"], rules["place_weight"])

    @cached_property
    def _rules(self) -> Mapping[str, float]:
        with Explained(f"model {self._model} has no rules", "reinstall codestrata"):
            rules: Mapping[str, float] = json.loads(self._session.get_modelmeta().custom_metadata_map[RULES_KEY])
        wanted = {"pieces": PIECES_VERSION, "recipe": RECIPE_VERSION}
        found = {key: rules.get(key) for key in wanted}
        if found != wanted:
            raise EncoderError(f"model {self._model} was trained by rules {found}, not {wanted}", hint="train it again")
        return rules


def _unit(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scale the numbers that are taken to length 1."""
    exact = vector.astype(np.float64)
    length = np.sqrt((exact * exact).sum())
    unit: npt.NDArray[np.float32] = (exact / length if length > 0 else exact).astype(np.float32)
    return unit
