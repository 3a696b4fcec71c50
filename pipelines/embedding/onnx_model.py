"""The `onnx` encoder: any transformer that was exported as ONNX, by path.

In: texts. Out: pooled unit vectors, cut to the wanted width. Each text is run alone, on one thread of the runtime, and
several texts at a time on the cores of the machine. So a vector never depends on the texts beside it: neither padding,
nor the scales of a dynamically quantised model, nor the matrix kernel that a batch size selects can reach it. A text
fills the matrix units by its own length: MiniLM-L6 at 64, 128 and 256 tokens does 56, 26 and 13 texts per CPU second
alone, 52, 24 and 10 in batches of sixteen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipelines.embedding.cores import on_cores
from pipelines.embedding.explained import Explained
from pipelines.embedding.model_files import ModelFiles
from pipelines.embedding.recipe import RECIPE, compose_query
from pipelines.embedding.runtime import open_session, runtime_name
from pipelines.embedding.sentencepiece_model import sentencepiece_tokenizer
from pipelines.errors import EncoderError
from pipelines.fingerprint import fingerprint

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

_REVISION = 1
_IDS, _MASK, _TYPES = "input_ids", "attention_mask", "token_type_ids"
_KNOWN_INPUTS = (_IDS, _MASK, _TYPES)
_EXPORT_HINT = "export the encoder alone, with batch and length as dynamic axes"
_PER_TOKEN, _PER_TEXT = 3, 2  # ranks of an output that needs pooling, and of one that is a vector already


class OnnxEncoder:
    """A transformer. `truncated` counts the texts that were longer than the model reads."""

    name = "onnx"

    def __init__(self, files: ModelFiles, dimensions: int) -> None:
        """Take the files; they are loaded on first use."""
        self._files = files
        self.dimensions = dimensions
        self.truncated = 0

    @property
    def runtime(self) -> str:
        """Name what runs the model."""
        return runtime_name()

    @cached_property
    def digest(self) -> str:
        """Fingerprint of model, tokenizer, pooling, prefixes and text recipe."""
        return fingerprint([self.name, _REVISION, RECIPE, self.dimensions, self._files.digest()])

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return (len(texts), dimensions) unit vectors; a zero row for a blank text.

        :raises EncoderError: if model and tokenizer do not fit each other, or the model is narrower than `dimensions`.
        """
        return self._encode([self._files.text_prefix + text if text.strip() else "" for text in texts])

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the (dimensions,) vector of a question."""
        composed = compose_query(text)
        vector: npt.NDArray[np.float32] = self._encode([self._files.query_prefix + composed if composed else ""])[0]
        return vector

    def _encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        result = np.zeros((len(texts), self.dimensions), np.float32)
        # Tokenised here, one by one: the tokenizer then starts no threads of its own, which would not survive a fork.
        tokens = {row: self._tokenize(text) for row, text in enumerate(texts) if text}
        for row, vector in zip(tokens, on_cores(self._run, list(tokens.values())), strict=True):
            result[row] = vector
        return result

    def _tokenize(self, text: str) -> tuple[list[int], list[int]]:
        tokenizer = self._tokenizer
        with Explained(f"tokenizer {self._files.tokenizer} cannot read a text of {len(text)} characters"):
            encoding = tokenizer.encode(text)
        self.truncated += bool(encoding.overflowing)
        return encoding.ids, encoding.type_ids

    def _run(self, tokens: tuple[list[int], list[int]]) -> npt.NDArray[np.float32]:
        ids, types = tokens
        given = {_IDS: ids, _MASK: [1] * len(ids), _TYPES: types}
        feed = {name: np.array([given[name]], kind) for name, kind in self._inputs.items()}
        with Explained(f"model {self._files.model} cannot run {len(ids)} tokens of {self._files.tokenizer}"):
            (output,) = self._session.run([self._output], feed)
        if output.ndim == _PER_TOKEN:
            output = self._pool(output)
        if output.ndim != _PER_TEXT or output.shape[-1] < self.dimensions:
            raise EncoderError(
                f"model {self._files.model} gives {output.shape[-1]} numbers in shape {output.shape}; "
                f"embedder.dimensions is {self.dimensions}",
                hint=f"set embedder.dimensions to at most {output.shape[-1]}",
            )
        vector = output[0, : self.dimensions].astype(np.float64)
        if not np.isfinite(vector).all():
            return np.full(self.dimensions, np.nan, np.float32)  # the caller counts what is no number
        length = np.sqrt((vector * vector).sum())
        unit: npt.NDArray[np.float32] = (vector / length if length > 0 else vector).astype(np.float32)
        return unit

    def _pool(self, output: npt.NDArray[np.float32]) -> npt.NDArray[np.floating]:
        """Return (1, width) of (1, length, width)."""
        if self._files.pooling == "cls":
            return output[:, 0]
        if self._files.pooling == "mean":
            mean: npt.NDArray[np.float64] = output.mean(axis=1, dtype=np.float64)
            return mean
        raise EncoderError(
            f"model {self._files.model} is pooled by {self._files.pooling}, which is not known here",
            hint="export it with the pooling inside, as an output `sentence_embedding`",
        )

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        return open_session(self._files.model, _EXPORT_HINT)

    @cached_property
    def _inputs(self) -> dict[str, type[np.generic]]:
        """Return the number types of the model's inputs, by name."""
        kinds: dict[str, type[np.generic]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
        inputs = self._session.get_inputs()
        for item in inputs:
            fixed = [size for size in item.shape if isinstance(size, int) and size > 1]
            if item.name not in _KNOWN_INPUTS or item.type not in kinds or fixed:
                raise EncoderError(
                    f"model {self._files.model} has an input {item.name} {item.type} {item.shape}; "
                    f"known are {', '.join(_KNOWN_INPUTS)}, as whole numbers, [batch, length] of any length",
                    hint=_EXPORT_HINT,
                )
        return {item.name: kinds[item.type] for item in inputs}

    @cached_property
    def _output(self) -> str:
        """Return the name of a ready sentence vector if the model has one, else of its first output."""
        outputs = self._session.get_outputs()
        ready = [item.name for item in outputs if len(item.shape) == _PER_TEXT and "sentence" in item.name]
        name: str = (ready or [outputs[0].name])[0]
        return name

    @cached_property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        path = self._files.tokenizer
        hint = "give a tokenizer.json, a BERT vocab.txt or a SentencePiece .model with --tokenizer"
        with Explained(f"tokenizer {path} cannot be read", hint):
            tokenizer = self._read_tokenizer(path)
        limit = self._files.max_tokens
        if not self._files.set_limit:
            limit = min(limit, (tokenizer.truncation or {}).get("max_length", limit))
        tokenizer.enable_truncation(limit)  # set once: changing it while another thread encodes is an error there
        tokenizer.no_padding()
        return tokenizer

    def _read_tokenizer(self, path: Path) -> tokenizers.Tokenizer:
        import tokenizers

        if path.suffix == ".model":
            return sentencepiece_tokenizer(path, self._files.ends)
        if path.suffix == ".txt":
            built = tokenizers.BertWordPieceTokenizer(str(path), lowercase=self._files.lower_case)
            tokenizer: tokenizers.Tokenizer = built._tokenizer
            return tokenizer
        return tokenizers.Tokenizer.from_file(str(path))
