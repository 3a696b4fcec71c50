"""Where the parts of an ONNX model lie, and what its own configuration says of pooling, length and prefixes.

In: the paths that the settings name. Out: a ModelFiles. Read are the files that exports of sentence encoders bring
along, beside the model or one folder above it (`onnx/model.onnx`): tokenizer.json, vocab.txt or a SentencePiece .model,
tokenizer_config.json, 1_Pooling/config.json, sentence_bert_config.json, config_sentence_transformers.json.

A model may have come with a clone, so what is found beside it must be a regular file, and not a link that leads out of
the model's folder. What was named may be a link; so may the files of a snapshot in the cache of the Hugging Face hub,
which lead to the blobs of the same model.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.embedding import sentencepiece_model
from pipelines.errors import EncoderError
from pipelines.settings import MODEL_FOLDER

#: Tokens that a text may have where the tokenizer names no limit; the usual position table of BERT models.
DEFAULT_TOKENS = 512
_MODEL_PLACES = ("model.onnx", "onnx/model.onnx")
#: The first that is there is taken: a tokenizer.json says all, a .model needs tokenizer_config.json beside it.
_TOKENIZERS = ("tokenizer.json", "vocab.txt", *sentencepiece_model.NAMES)
#: How the files of weights outside the model are named after it: "model.onnx.data", "model.onnx_data_1".
_WEIGHTS = re.compile(r"[._]data(_[0-9]+)?")
#: Larger than any configuration; those that list the tokens of a large vocabulary have 1 MB.
_MOST_BYTES = 16 << 20
_KINDS = (".json", ".txt", ".model")
#: What tokenizer_config.json says of the tokens around a text.
_ABOUT_ENDS = ("tokenizer_class", "add_bos_token", "add_eos_token")
#: Ways of pooling by the keys of 1_Pooling/config.json; the last differs from the mean by its length alone.
_POOLING = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean",
}


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model and how it wants to be used."""

    model: Path
    weights: tuple[Path, ...]  # that lie outside the model, in order of their names
    tokenizer: Path
    pooling: str  # "mean", "cls" or a way that is not known here, for a model that gives a vector per token
    lower_case: bool  # for a vocab.txt, which does not say it
    max_tokens: int
    set_limit: bool  # max_tokens was chosen for this model, and is not to be lowered by what a tokenizer.json says
    query_prefix: str
    text_prefix: str
    ends: Mapping[str, Any]  # of tokenizer_config.json, for a SentencePiece .model, which does not say it

    def digest(self) -> str:
        """Return the hash of the model with its external data, the tokenizer, and what was read of the rest.

        :raises EncoderError: if one of them cannot be read.
        """
        hasher = hashlib.blake2b(digest_size=16)
        for path in (self.model, *self.weights, self.tokenizer):
            try:
                with open(path, "rb") as file:
                    hasher.update(hashlib.file_digest(file, "blake2b").digest())
            except OSError as error:
                raise EncoderError(f"{path} cannot be read: {error.strerror}") from error
        usage = [self.pooling, self.lower_case, self.max_tokens, self.set_limit, self.query_prefix, self.text_prefix]
        hasher.update(json.dumps([*usage, self.ends], sort_keys=True).encode())
        return hasher.hexdigest()


def find_model(model: str, tokenizer: str) -> ModelFiles:
    """Find the files of a model.

    :param model: path of the model, or of the folder that holds it.
    :param tokenizer: path of the tokenizer, "" to look beside the model.
    :raises EncoderError: if one is missing, of a kind that cannot be read, or a link that leads out of the folder.
    """
    place = Path(model).expanduser()
    if place.is_dir():
        place = _first((place,), _MODEL_PLACES) or place / _MODEL_PLACES[0]
    if not place.is_file():
        raise EncoderError(f"there is no model {place}", hint=MODEL_FOLDER)
    folders = (place.parent, place.parent.parent) if place.parent.name == "onnx" else (place.parent,)
    found = Path(tokenizer).expanduser() if tokenizer else _first(folders, _TOKENIZERS)
    hint = "put tokenizer.json, vocab.txt or a SentencePiece .model beside the model, or give it with --tokenizer"
    if found is None or not found.is_file():
        raise EncoderError(f"there is no tokenizer {found or place.parent / _TOKENIZERS[0]}", hint=hint)
    if found.suffix not in _KINDS:
        raise EncoderError(f"tokenizer {found} is of a kind that cannot be read", hint=hint)
    about_tokens = _read(folders, "tokenizer_config.json")
    prompts = _read(folders, "config_sentence_transformers.json").get("prompts") or {}
    if not isinstance(prompts, dict):
        raise EncoderError(f"the prompts of model {place} in config_sentence_transformers.json are no object")
    chosen = _number(_read(folders, "sentence_bert_config.json").get("max_seq_length"))
    return ModelFiles(
        model=place,
        weights=_weights(place),
        tokenizer=found,
        pooling=_pooling(_read(folders, "1_Pooling/config.json")),
        lower_case=bool(about_tokens.get("do_lower_case", True)),
        max_tokens=chosen or min(_number(about_tokens.get("model_max_length")) or DEFAULT_TOKENS, DEFAULT_TOKENS),
        set_limit=bool(chosen),
        query_prefix=str(prompts.get("query", "")),
        text_prefix=str(prompts.get("document") or prompts.get("passage") or ""),
        ends={key: about_tokens[key] for key in _ABOUT_ENDS if key in about_tokens and found.suffix == ".model"},
    )


def _pooling(config: Mapping[str, Any]) -> str:
    """Return the one way that the configuration names; where it names several, or one that is new, their keys."""
    named = [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
    ways = {_POOLING.get(key, key) for key in named}
    return " + ".join(sorted(ways)) or "mean"


def _number(value: object) -> int:
    """Return a positive number as it is, anything else as 0: what stands for "no limit" may not fit an int."""
    return int(value) if isinstance(value, (int, float)) and 0 < value < 1 << 31 else 0


def _weights(model: Path) -> tuple[Path, ...]:
    size = len(model.name)
    try:
        names = [name for name in os.listdir(model.parent) if name.startswith(model.name)]
    except OSError as error:
        raise EncoderError(f"{model.parent} cannot be listed: {error.strerror}") from error
    root = model.parent.parent if model.parent.name == "onnx" else model.parent
    return tuple(_checked(root, model.parent / name) for name in sorted(names) if _WEIGHTS.fullmatch(name, size))


def _first(folders: tuple[Path, ...], names: tuple[str, ...]) -> Path | None:
    found = (folder / name for name in names for folder in folders if os.path.lexists(folder / name))
    path = next(found, None)
    return None if path is None else _checked(folders[-1], path)


def _checked(root: Path, path: Path) -> Path:
    """Return a path that was found in the folder of a model; EncoderError for what is no file there."""
    if not path.is_file():
        raise EncoderError(f"{path} is no regular file", hint="remove it, or put the file itself there")
    home, target = root.resolve(), path.resolve()
    blobs = home.parent.parent / "blobs" if home.parent.name == "snapshots" else home
    if not target.is_relative_to(home) and not target.is_relative_to(blobs):
        raise EncoderError(f"{path} is a link that leads out of {home}", hint="put the file itself there")
    return path


def _read(folders: tuple[Path, ...], name: str) -> dict[str, Any]:
    path = _first(folders, (name,))
    if path is None:
        return {}
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES} bytes")
        document = json.loads(content)
    except (OSError, ValueError, RecursionError) as error:
        raise EncoderError(f"{path} cannot be read: {error}") from error
    return document if isinstance(document, dict) else {}
