"""What a user may set: one frozen dataclass per section of strata.toml, checked on construction.

Parsing only: no path is resolved and no model is loaded here, so checking a configuration is safe everywhere. A message
names the dotted key, the value and what is allowed.
"""

from __future__ import annotations

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipelines.endpoint import Endpoint
from pipelines.errors import SettingsError
from pipelines.fingerprint import NOT_AN_INPUT
from pipelines.identity import DEFAULT_BUCKETS, MAX_BUCKETS, require_repo_key

#: Encoders that ship with Strata and need no model; then those that need one.
BUNDLED = ("code", "vocab", "hash")
EMBEDDERS = (*BUNDLED, "onnx", "api")
#: What a user who names no model that can be used needs to know.
MODEL_FOLDER = (
    "a model's folder holds model.onnx or onnx/model.onnx, and tokenizer.json, vocab.txt or a SentencePiece .model; "
    "docs/encoders.md tells how to get MiniLM"
)
CONTENT_CHOICES = ("all", "code", "docs")
#: How a message names the type that a setting must have.
_TYPE_NAMES = {str: "a string", int: "an integer", float: "a number", bool: "true or false"}


def _require(condition: bool, key: str, value: object, allowed: str) -> None:
    if not condition:
        raise SettingsError(f"{key} = {value!r} is not allowed", hint=f"allowed: {allowed}")


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """[index]: which files are read. Patterns are gitignore patterns relative to the indexed root."""

    include: tuple[str, ...] = ()  # empty = everything
    exclude: tuple[str, ...] = ()
    content: str = "all"
    scopes: tuple[str, ...] = ()  # folder patterns of a monorepo: "packages/*"
    buckets: int = field(default=DEFAULT_BUCKETS, metadata=NOT_AN_INPUT)  # the bucket's own files are its input
    #: Largest file that is parsed, in bytes: every hand-written source file seen is smaller, generated tables are not.
    max_file_bytes: int = 4_194_304
    #: Largest text file without a grammar, in bytes: source files of such languages reach some hundred kB, data more.
    max_text_bytes: int = 1_048_576
    #: Seconds that one file may take in a parser process before it is given up.
    file_timeout_s: float = field(default=30.0, metadata=NOT_AN_INPUT)
    #: Largest share of the files that may be lost to a fault in an index that is published: half of a repository is
    #: better than none, less is none that anyone should trust.
    max_failed_share: float = field(default=0.5, metadata=NOT_AN_INPUT)
    workers: int = field(default=0, metadata=NOT_AN_INPUT)  # parser processes; 0 = one per core

    def __post_init__(self) -> None:
        _require(self.content in CONTENT_CHOICES, "index.content", self.content, ", ".join(CONTENT_CHOICES))
        powers = [2**power for power in range(MAX_BUCKETS.bit_length())]
        _require(self.buckets in powers, "index.buckets", self.buckets, f"a power of two from 1 to {MAX_BUCKETS}")
        _require(self.max_file_bytes > 0, "index.max_file_bytes", self.max_file_bytes, "a positive number of bytes")
        _require(self.max_text_bytes > 0, "index.max_text_bytes", self.max_text_bytes, "a positive number of bytes")
        _require(self.file_timeout_s > 0, "index.file_timeout_s", self.file_timeout_s, "a positive number of seconds")
        _require(0 <= self.max_failed_share <= 1, "index.max_failed_share", self.max_failed_share, "0 to 1")
        _require(self.workers >= 0, "index.workers", self.workers, "0 (one per core) or a positive number")


@dataclass(frozen=True, slots=True)
class ChunkingSettings:
    """[chunking]: how long a chunk may be, in characters."""

    #: A function above this is split at line ends into parts; about 60 lines of code.
    max_chars: int = 3_000
    #: A module remainder or section below this is joined to its neighbour instead of standing alone.
    min_chars: int = 40

    def __post_init__(self) -> None:
        _require(self.max_chars >= 200, "chunking.max_chars", self.max_chars, "200 or more")
        _require(0 <= self.min_chars < self.max_chars, "chunking.min_chars", self.min_chars, "0 to max_chars")


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """[embedder]: which encoder gives the vectors."""

    name: str = "code"
    model: str = ""  # path of an ONNX model, for name = "onnx"; name of a service's model, for name = "api"
    tokenizer: str = ""  # path of the ONNX model's tokenizer; default: beside the model
    dimensions: int = 256
    url: str = ""  # of a service, for name = "api"
    price: float = field(default=0.0, metadata=NOT_AN_INPUT)  # dollars for a million tokens of it; 0 = not known
    #: Tokens that a run may send to it without anybody being asked.
    agreed_tokens: int = field(default=0, metadata=NOT_AN_INPUT)

    def __post_init__(self) -> None:
        _require(self.name in EMBEDDERS, "embedder.name", self.name, ", ".join(EMBEDDERS))
        fits = 64 <= self.dimensions <= 1024 and self.dimensions % 8 == 0
        _require(fits, "embedder.dimensions", self.dimensions, "a multiple of 8 from 64 to 1024")
        if self.name == "onnx" and not self.model:
            message = "embedder.model is missing: embedder.name = 'onnx' needs the path of one"
            raise SettingsError(message, hint=f"give --model PATH, or set embedder.model; {MODEL_FOLDER}")
        if self.model and self.name in BUNDLED:
            hint = "give --embedder onnx, or set embedder.name = 'onnx'"
            raise SettingsError(
                f"embedder.model = {self.model!r} is not used by embedder.name = {self.name!r}", hint=hint
            )
        self._check_service()

    def _check_service(self) -> None:
        _require(self.price >= 0, "embedder.price", self.price, "0 or more dollars")
        _require(self.agreed_tokens >= 0, "embedder.agreed_tokens", self.agreed_tokens, "0 or more")
        if self.name != "api":
            if self.url:
                hint = "give --embedder api, or set embedder.name = 'api'"
                raise SettingsError(f"embedder.url is not used by embedder.name = {self.name!r}", hint=hint)
            return
        if not self.url:
            hint = "give --url, such as https://api.openai.com/v1 or http://localhost:11434/v1, or set embedder.url"
            raise SettingsError("embedder.url is missing: embedder.name = 'api' needs the service's address", hint=hint)
        try:
            Endpoint.parse(self.url)
        except ValueError as error:  # the value is not repeated: it may hold a password
            hint = "such as https://api.openai.com/v1; give it with --url, or set embedder.url"
            raise SettingsError(f"embedder.url cannot be used: {error}", hint=hint) from None
        hint = "give --model NAME, such as text-embedding-3-small, or set embedder.model"
        if not self.model:
            message = "embedder.model is missing: embedder.name = 'api' needs the name of a model of the service"
            raise SettingsError(message, hint=hint)
        if self.model.startswith("/"):
            message = f"embedder.model = {self.model!r} is a path, not the name of a model of the service"
            raise SettingsError(message, hint=hint)


@dataclass(frozen=True, slots=True)
class DiffusionSettings:
    """[diffusion]: mixing of vectors over the call graph; off unless it is asked for."""

    enabled: bool = False
    alpha: float = 0.25  # share that the neighbours' mean gets in each iteration
    iterations: int = 2
    bidirectional: bool = False  # callers as well as callees
    #: Edges below this confidence are guesses: they may be shown, but must not move vectors.
    min_confidence: float = 0.5

    def __post_init__(self) -> None:
        _require(0 < self.alpha < 1, "diffusion.alpha", self.alpha, "above 0 and below 1")
        _require(1 <= self.iterations <= 16, "diffusion.iterations", self.iterations, "1 to 16")
        _require(0 <= self.min_confidence <= 1, "diffusion.min_confidence", self.min_confidence, "0 to 1")


@dataclass(frozen=True, slots=True)
class QuantizationSettings:
    """[quantization]: how many sign bits stand for a vector."""

    #: 0 = one for each of the encoder's dimensions. Fewer are the first ones, more are signs of rotated vectors.
    bits: int = 0
    seed: int = 0  # draws the rotations; nothing where there are none

    def __post_init__(self) -> None:
        fits = self.bits == 0 or (64 <= self.bits <= 1024 and self.bits % 8 == 0)
        _require(fits, "quantization.bits", self.bits, "0 (one per dimension) or a multiple of 8 from 64 to 1024")
        _require(self.seed >= 0, "quantization.seed", self.seed, "0 or more")


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """[evaluation]: what a generation must reach before it is published."""

    judgments: str = ""  # path of a judgment file, relative to the configuration file
    #: Least share of the repository's own names whose definition ranks first; below it the evaluation check fails.
    floor: float = 0.5
    known_items: int = 50  # names drawn from the repository

    def __post_init__(self) -> None:
        _require(0 <= self.floor <= 1, "evaluation.floor", self.floor, "0 to 1")
        _require(0 <= self.known_items <= 10_000, "evaluation.known_items", self.known_items, "0 to 10000")


@dataclass(frozen=True, slots=True)
class ArtifactSettings:
    """[artifacts]: where artifacts go and how many generations stay."""

    uri: str = ""  # a folder; default: .strata in the indexed root, data/store in a deployment
    keep: int = 2  # generations per repository that stay, the served one included
    keep_runs: int = 200  # Dagster run records that stay

    def __post_init__(self) -> None:
        _require(self.keep >= 1, "artifacts.keep", self.keep, "1 or more")
        _require(self.keep_runs >= 1, "artifacts.keep_runs", self.keep_runs, "1 or more")
        remote = "://" in self.uri and not self.uri.startswith("file://")
        _require(not remote, "artifacts.uri", self.uri, "a local folder; object storage is not supported yet")


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """[[repositories]]: one repository of a deployment."""

    key: str
    path: str
    rev: str = ""  # a commit, branch or tag; "" = the working tree
    branch: str = ""  # another name for rev

    def __post_init__(self) -> None:
        require_repo_key(self.key)
        _require(bool(self.path), f"repositories.{self.key}.path", self.path, "a folder")
        _require(not (self.rev and self.branch), f"repositories.{self.key}.rev", self.rev, "rev or branch, not both")


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole of strata.toml."""

    index: IndexSettings = field(default_factory=IndexSettings)
    chunking: ChunkingSettings = field(default_factory=ChunkingSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    diffusion: DiffusionSettings = field(default_factory=DiffusionSettings)
    quantization: QuantizationSettings = field(default_factory=QuantizationSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    artifacts: ArtifactSettings = field(default_factory=ArtifactSettings)
    repositories: tuple[RepositorySettings, ...] = ()

    def __post_init__(self) -> None:
        keys = [item.key for item in self.repositories]
        for key in keys:
            _require(keys.count(key) == 1, "repositories.key", key, "each key once")


def parse_settings(content: str, source: str) -> Settings:
    """Parse the text of a strata.toml.

    :param content: the TOML text. :param source: its path, for messages.
    :raises SettingsError: for TOML that does not parse, an unknown key, a wrong type or a value out of range.
    """
    try:
        document = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{source} is not valid TOML: {error}") from error
    try:
        settings: Settings = _build(Settings, document, "")
        return settings
    except SettingsError as error:
        raise SettingsError(f"{source}: {error.message}", hint=error.hint) from error


def override(settings: Settings, section: str, **values: Any) -> Settings:
    """Return the settings with some keys of one section replaced; a value of None leaves its key as it is."""
    given = {key: value for key, value in values.items() if value is not None}
    changed = dataclasses.replace(getattr(settings, section), **given)
    return dataclasses.replace(settings, **{section: changed})


def _build(kind: type[Any], document: Mapping[str, Any], prefix: str) -> Any:
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for key, value in document.items():
        if key not in hints:
            raise SettingsError(f"unknown key {prefix}{key}", hint=f"allowed: {', '.join(sorted(hints))}")
        values[key] = _convert(hints[key], value, f"{prefix}{key}")
    missing = [
        item.name
        for item in dataclasses.fields(kind)
        if item.name not in values
        and item.default is dataclasses.MISSING
        and item.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise SettingsError(f"{prefix}{missing[0]} is missing")
    return kind(**values)


def _convert(hint: Any, value: Any, key: str) -> Any:
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, dict):
            raise SettingsError(f"{key} must be a table")
        return _build(typing.cast("type[Any]", hint), value, f"{key}.")
    if isinstance(hint, types.GenericAlias) and typing.get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise SettingsError(f"{key} = {value!r} must be a list")
        return tuple(_convert(typing.get_args(hint)[0], item, key) for item in value)
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise SettingsError(f"{key} = {value!r} must be {_TYPE_NAMES[hint]}")
    return value
