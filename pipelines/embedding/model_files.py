"""Where the parts of an ONNX model lie, and what its own configuration says of pooling, length and prefixes.

In: the paths that the settings name. Out: a ModelFiles. Read are the files that exports of sentence encoders bring
along, beside the model or one folder above it (`onnx/model.onnx`): tokenizer.json or vocab.txt, tokenizer_config.json,
1_Pooling/config.json, config_sentence_transformers.json.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import EncoderError

#: Tokens that a text may have where the tokenizer names no limit; the usual position table of BERT models.
DEFAULT_TOKENS = 512
_MODEL_PLACES = ("model.onnx", "onnx/model.onnx")
_TOKENIZERS = ("tokenizer.json", "vocab.txt")
_SENTENCEPIECE = ("sentencepiece.bpe.model", "tokenizer.model", "spiece.model")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model and how it wants to be used."""

    model: Path
    tokenizer: Path
    pooling: str  # "mean" or "cls", for a model that gives a vector per token
    lower_case: bool  # for a vocab.txt, which does not say it
    max_tokens: int
    query_prefix: str
    text_prefix: str

    def digest(self) -> str:
        """Return the hash of the model with its external data, the tokenizer, and what was read of the rest."""
        hasher = hashlib.blake2b(digest_size=16)
        # "model.onnx.data" and "model.onnx_data" are the usual names of weights outside the model file.
        for path in [*sorted(self.model.parent.glob(f"{self.model.name}*")), self.tokenizer]:
            with open(path, "rb") as file:
                hasher.update(hashlib.file_digest(file, "blake2b").digest())
        usage = [self.pooling, self.lower_case, self.max_tokens, self.query_prefix, self.text_prefix]
        hasher.update(json.dumps(usage).encode())
        return hasher.hexdigest()


def find_model(model: str, tokenizer: str) -> ModelFiles:
    """Find the files of a model.

    :param model: path of the model, or of the folder that holds it.
    :param tokenizer: path of the tokenizer, "" to look beside the model.
    :raises EncoderError: if one is missing or of a kind that cannot be read.
    """
    place = Path(model).expanduser()
    if place.is_dir():
        place = next((place / name for name in _MODEL_PLACES if (place / name).is_file()), place / _MODEL_PLACES[0])
    if not place.is_file():
        raise EncoderError(f"there is no model {place}", hint="give the path of an .onnx file with --model")
    folders = (place.parent, place.parent.parent) if place.parent.name == "onnx" else (place.parent,)
    found = Path(tokenizer).expanduser() if tokenizer else _first(folders, _TOKENIZERS)
    if found is None or not found.is_file():
        raise EncoderError(f"there is no tokenizer {found or place.parent / _TOKENIZERS[0]}", hint=_hint(folders))
    if found.name not in _TOKENIZERS and found.suffix not in (".json", ".txt"):
        raise EncoderError(f"tokenizer {found} is of a kind that cannot be read", hint=_hint((found.parent,)))
    about_tokens = _read(folders, "tokenizer_config.json")
    pooling = _read(folders, "1_Pooling/config.json")
    prompts = _read(folders, "config_sentence_transformers.json").get("prompts") or {}
    limit = about_tokens.get("model_max_length")
    return ModelFiles(
        model=place,
        tokenizer=found,
        pooling="cls" if pooling.get("pooling_mode_cls_token") else "mean",
        lower_case=bool(about_tokens.get("do_lower_case", True)),
        max_tokens=min(int(limit), DEFAULT_TOKENS) if isinstance(limit, (int, float)) else DEFAULT_TOKENS,
        query_prefix=str(prompts.get("query", "")),
        text_prefix=str(prompts.get("document") or prompts.get("passage") or ""),
    )


def _first(folders: tuple[Path, ...], names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names for folder in folders if (folder / name).is_file()), None)


def _hint(folders: tuple[Path, ...]) -> str:
    if _first(folders, _SENTENCEPIECE):
        return "a SentencePiece .model is not read: save it as tokenizer.json, as its transformers tokenizer does"
    return "put tokenizer.json (or a BERT vocab.txt) beside the model, or give its path with --tokenizer"


def _read(folders: tuple[Path, ...], name: str) -> dict[str, Any]:
    path = _first(folders, (name,))
    if path is None:
        return {}
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise EncoderError(f"{path} cannot be read: {error}") from error
    return document if isinstance(document, dict) else {}
