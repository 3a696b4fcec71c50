"""The `code` encoder: a table of trained token vectors, run by onnxruntime. In: texts. Out: unit vectors.

A text's vector is the weighted sum of its tokens' rows, scaled to length 1, moved by a bias, scaled again. Text and
question share the table; each side has token weights and a bias of its own. Of d numbers wanted the first d are taken:
the table was trained so that they say most. `pipelines/training` makes the model; data/encoder/code.json says of what.

A vector never depends on the texts beside it. A text's tokens stand in order of their rows, and texts are run together
only with those of equal length, so that each sum is a matrix product whose shape its own text decides.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from pipelines.embedding.cores import on_cores
from pipelines.embedding.explained import Explained
from pipelines.embedding.pieces import PIECES_VERSION, Pieces
from pipelines.embedding.recipe import RECIPE, RECIPE_VERSION, compose_query, fields
from pipelines.embedding.runtime import open_session, runtime_name
from pipelines.errors import EncoderError
from pipelines.fingerprint import fingerprint

if TYPE_CHECKING:
    import onnxruntime

#: Raised when anything below changes a vector.
_REVISION = 2
#: A token that occurs more often than this in one text counts as this often.
_MAX_COUNT = 255
_LOG_COUNTS = np.array([math.log1p(count) for count in range(_MAX_COUNT + 1)])
#: Fields of a text in the order in which their weights are added.
_NAME, _PLACE, _BODY = range(3)
_FIELDS = 3
#: Texts whose tokens are counted at one time.
_BLOCK_TEXTS = 4_096
#: A text is filled up to a multiple of so many tokens of weight 0, so that more texts have equal lengths.
_LENGTH_STEP = 8
#: Tokens of one run of the model: their rows as floats, a kilobyte each, stay in the cache.
_RUN_TOKENS = 1_024


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much each token of N texts counts."""

    offsets: npt.NDArray[np.int64]  # (N + 1): where each text's tokens begin
    rows: npt.NDArray[np.int64]  # ascending within a text
    amounts: npt.NDArray[np.float32]

    def groups(self) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.int64], npt.NDArray[np.float32]]]:
        """Yield texts of equal padded length: their numbers (B), (B, length) rows and amounts; none without a token."""
        lengths = np.diff(self.offsets)
        padded = -(-lengths // _LENGTH_STEP) * _LENGTH_STEP
        order = np.argsort(padded, kind="stable")
        starts = _starts(padded[order])
        for start, end in zip(starts, np.append(starts, len(order))[1:], strict=True):
            length = int(padded[order[start]])
            size = max(1, _RUN_TOKENS // max(1, length))
            for first in range(start, end, size) if length else ():
                texts = order[first : min(first + size, end)]
                places = self.offsets[texts, None] + np.arange(length)
                held = np.arange(length) < lengths[texts, None]
                places[~held] = 0
                yield texts, self.rows[places], np.where(held, self.amounts[places], np.float32(0))


class TokenWeights:
    """How often a text's tokens count: log(1 + count) in the body, more in the name and in the place."""

    def __init__(self, pieces: Pieces, name_weight: float, place_weight: float) -> None:
        self.pieces = pieces
        self._name_weight = name_weight
        self._place_weight = place_weight

    def of(self, texts: Sequence[str]) -> Amounts:
        """Return the amounts of composed texts."""
        field_of, rows = self._tokens(texts)
        # The parts of a text stand in one run, those of one token side by side, body first: so they are added.
        keys = (field_of // _FIELDS * self.pieces.size + rows) * _FIELDS + (_BODY - field_of % _FIELDS)
        keys = np.sort(keys.astype(np.min_scalar_type(len(texts) * self.pieces.size * _FIELDS)))  # 32 bits: 2x as fast
        starts = _starts(keys)
        tokens, fields_after = np.divmod(keys[starts], _FIELDS)
        amounts = self._weigh(np.diff(starts, append=len(keys)), _BODY - fields_after)
        starts = _starts(tokens)
        text_of, rows = np.divmod(tokens[starts], self.pieces.size)
        summed = np.add.reduceat(amounts, starts) if len(starts) else amounts
        offsets = np.searchsorted(text_of, np.arange(len(texts) + 1))
        return Amounts(offsets, rows.astype(np.int64), summed.astype(np.float32))

    def of_question(self, composed: str) -> Amounts:
        """Return the amounts of a question, which is all body, without the columns that pay for many texts."""
        found = [row for word in composed.split() for row in self.pieces.rows(word)]
        rows, counts = np.unique(np.array(found, np.int64), return_counts=True)
        amounts = _LOG_COUNTS[np.minimum(counts, _MAX_COUNT)]
        return Amounts(np.array([0, len(rows)], np.int64), rows, amounts.astype(np.float32))

    def _tokens(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the rows of all tokens, and of each in which of the 3 N fields it stands."""
        from pipelines.word_columns import split_at_spaces, text_column  # not above: a query needs no columns

        words = split_at_spaces(text_column(list(chain.from_iterable(map(fields, texts)))))
        cut = [self.pieces.rows(word) for word in words.distinct.to_pylist()]
        counts = np.fromiter(map(len, cut), np.int64, len(cut))
        flat = np.fromiter(chain.from_iterable(cut), np.int64, int(counts.sum()))
        firsts = np.cumsum(counts) - counts
        lengths = counts[words.numbers]
        ends = np.cumsum(lengths)
        places = np.arange(int(lengths.sum())) + np.repeat(firsts[words.numbers] - ends + lengths, lengths)
        fields_of_words = np.repeat(np.arange(len(words.offsets) - 1), np.diff(words.offsets))
        return np.repeat(fields_of_words, lengths), flat[places]

    def _weigh(self, counts: npt.NDArray[np.intp], field: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        logs = _LOG_COUNTS[np.minimum(counts, _MAX_COUNT)]
        weighed: npt.NDArray[np.float64] = np.where(field == _PLACE, self._place_weight * logs, logs)
        weighed[field == _NAME] = self._name_weight * counts[field == _NAME]
        return weighed


def _starts(keys: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
    """Return where each run of equal sorted keys begins."""
    begins = np.ones(len(keys), np.bool_)
    begins[1:] = keys[1:] != keys[:-1]
    return np.flatnonzero(begins)


class CodeEncoder:
    """The bundled encoder."""

    name = "code"
    #: A block for each of four cores: under 100 MB, and less than a second.
    texts_at_once = 4 * _BLOCK_TEXTS

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

    @property
    def runtime(self) -> str:
        """Name what runs the model."""
        return runtime_name()

    @cached_property
    def digest(self) -> str:
        """Fingerprint of weights, vocabulary, the rules of tokens and of the text."""
        files = [hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest() for path in self._files()]
        rules = [_REVISION, _MAX_COUNT, _LENGTH_STEP, PIECES_VERSION, RECIPE]
        return fingerprint([self.name, *rules, self.dimensions, *files])

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return (len(texts), dimensions) unit vectors; a zero row for a text without a token."""
        result = np.zeros((len(texts), self.dimensions), np.float32)
        weigh = self._weights.of

        def fill(block: slice) -> None:
            self._run(weigh(texts[block]), TEXT_SIDE, result[block])

        blocks = [slice(start, start + _BLOCK_TEXTS) for start in range(0, len(texts), _BLOCK_TEXTS)]
        deque(on_cores(fill, blocks), maxlen=0)
        return result

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the (dimensions,) vector of a question."""
        result = np.zeros((1, self.dimensions), np.float32)
        self._run(self._weights.of_question(compose_query(text)), QUERY_SIDE, result)
        vector: npt.NDArray[np.float32] = result[0]
        return vector

    def knows(self, word: str) -> bool:
        """Tell whether a folded word is in the vocabulary."""
        return word in self._weights.pieces

    def _run(self, tokens: Amounts, side: int, result: npt.NDArray[np.float32]) -> None:
        """Fill in the rows of the texts that have a token."""
        chosen = np.array(side, np.int64)
        for numbers, rows, amounts in tokens.groups():
            (vectors,) = self._session.run(None, {TOKENS: rows, WEIGHTS: amounts, SIDE: chosen})
            result[numbers] = _unit(vectors[:, : self.dimensions])

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


def _unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Scale the numbers that are taken to length 1."""
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    unit: npt.NDArray[np.float64] = exact / np.where(lengths > 0, lengths, 1)
    return unit
