"""The records that cross stages, and the protocols of the parts that can be exchanged.

Bulk data crosses stages as Arrow tables (see formats); a record is used where single things are handled: one listed
file, one hit. All are frozen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt


class Content(StrEnum):
    """What a file is, for the `content` setting and the chunker that takes it."""

    CODE = "code"
    DOCS = "docs"
    TEXT = "text"  # configuration and languages without a grammar: line windows


class SkipReason(StrEnum):
    """Why a listed file is not indexed. Each is counted per bucket and can be listed with `strata index --dry-run`."""

    EXCLUDED = "excluded"  # by include or exclude patterns
    STRATAIGNORE = "strataignore"
    CONTENT = "content"  # outside the `content` setting
    DENIED = "denied"  # on the deny list: may hold secrets
    UNSUPPORTED = "unsupported"  # no language and no text type known for the name
    TOO_LARGE = "too_large"
    EMPTY = "empty"  # no byte but white space
    BINARY = "binary"
    UNDECODABLE = "undecodable"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    NESTED_REPOSITORY = "nested_repository"
    MISSING = "missing"  # tracked, but not in the working tree
    NOT_A_FILE = "not_a_file"  # a socket, a device, a folder under a file's name
    UNREADABLE = "unreadable"
    PATH_NOT_UTF8 = "path_not_utf8"
    GENERATED = "generated"  # minified or generated: its longest line is over the limit
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"  # the parser process died on it


class SymbolKind(StrEnum):
    """What a definition is. Functions, methods and macros are the nodes that may call and be called."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    INTERFACE = "interface"
    STRUCT = "struct"
    TRAIT = "trait"
    ENUM = "enum"
    TYPE = "type"
    MACRO = "macro"


#: Kinds that the percentile ranks of the graph metrics are taken among.
CALLABLE_KINDS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.MACRO})


class ChunkKind(StrEnum):
    """What a searchable row shows. The kinds of symbols have rows of the same name."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    INTERFACE = "interface"
    STRUCT = "struct"
    TRAIT = "trait"
    ENUM = "enum"
    TYPE = "type"
    MACRO = "macro"
    MODULE = "module"  # what is left of a file outside its definitions
    SECTION = "section"  # a heading and its text
    WINDOW = "window"  # a run of lines of a file without a grammar


class SearchMode(StrEnum):
    """Which branches answer a query."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"
    SYMBOL = "symbol"


class Staleness(StrEnum):
    """How a published generation relates to its source; what cannot be compared is unknown, never fresh."""

    FRESH = "fresh"
    STALE = "stale"
    UNKNOWN = "unknown"


class Severity(StrEnum):
    """ERROR fails `strata check` and blocks publication; WARN is shown."""

    ERROR = "error"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One file of a source listing, as git names it, before it is read."""

    path: str
    blob_id: str  # "" where the content has none (a skipped socket, a submodule)
    size: int
    language: str
    scope: str
    content: Content
    skip_reason: SkipReason | None = None
    skip_detail: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """All files of one repository at one moment, sorted by path hash; `commit` is "" without one."""

    repo: str
    commit: str
    dirty: bool  # the working tree differs from the commit
    files: tuple[ListedFile, ...]


class SourceTree(Protocol):
    """Reads file contents of one repository: a working tree or a commit."""

    def read(self, file: ListedFile) -> bytes:
        """Return the bytes of a listed file; SourceMoved if its content is no longer the listed blob."""
        ...


class Encoder(Protocol):
    """Turns texts into vectors. Two encoders with equal digest give equal vectors for equal texts."""

    @property
    def name(self) -> str:
        """Name of the embedder: vocab, hash, onnx."""
        ...

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        ...

    @property
    def digest(self) -> str:
        """Fingerprint of weights, tokenizer and text recipe."""
        ...

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return (len(texts), dimensions) unit vectors, or zero rows; a row never depends on its neighbours."""
        ...

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the (dimensions,) vector of a question."""
        ...


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked answer. `terms` holds every value that went into the score, by name."""

    rank: int
    chunk_id: str  # 32 hex digits
    repo: str
    path: str
    start_line: int
    end_line: int
    language: str
    kind: str
    symbol: str
    scope: str
    score: float
    distance: int | None  # Hamming distance in bits; None where the semantic branch did not see the row
    excerpt: str
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check on one artifact or generation."""

    name: str
    asset: str
    passed: bool
    severity: Severity
    message: str
