"""The records that cross stages, and the protocols of the parts that can be exchanged.

Bulk data crosses stages as Arrow tables (see formats); a record is used where single things are handled: one listed
file, one hit. All are frozen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:  # for the annotations of encoders alone: whoever needs only a name of an enum does not load numpy
    import numpy as np
    import numpy.typing as npt

    from pipelines.artifacts import Target
    from pipelines.store import ArtifactStore


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
    MALFORMED = "malformed"  # not of the format that its name tells: a notebook that is no JSON
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
    CONSTANT = "constant"


#: Kinds that the percentile ranks of the graph metrics are taken among.
CALLABLE_KINDS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.MACRO})


class TypingRole(StrEnum):
    """What a row of typings.parquet says of its name."""

    BASE = "base"  # the class that owns the row extends or implements this type; no name
    DECLARED = "declared"  # the name has this type
    VALUE = "value"  # the name gets this value: a path, or a call written as its callee and "()"
    RETURNS = "returns"  # the function that owns the row returns this type; no name


class CallStrategy(IntEnum):
    """How a call was bound to a definition: the codes of graph_snapshot's strategy.npy, surest first."""

    OWN_CLASS = 1  # self.f(), this.f(): a method of the caller's class
    ENCLOSING_SCOPE = 2  # f(), defined in the caller, its class or its namespace
    SAME_FILE = 3  # f(), at the top level of the caller's file
    IMPORTED = 4  # a name, or a member of a module or class, that the file imports, includes or uses
    INHERITED = 5  # self.f(), super().f(): a method of a base of the caller's class
    TYPED = 6  # x.f(), where the source says of which class x is: declared, constructed, returned
    SAME_PACKAGE = 7  # a name of the caller's folder, where folders are packages
    LINKED = 8  # the nearest C or C++ definition of the name that other files can see
    UNIQUE_METHOD = 9  # the only method of a distinctive name, in a place that the file imports from
    NAMED_TYPE = 10  # X.f(), X::f(), new X().f(), with a class X that has an f
    UNIQUE_NAME = 11  # the only function of a distinctive name in the language
    RECEIVER_NAME = 12  # envelope.seal(): a variable named like a class that has the method
    AMBIGUOUS = 13  # one of a few definitions; each gets an edge


#: Confidence of an edge by strategy. From .5 on an edge may move vectors and counts for the blast radius. Measured:
#: (right + 1) / (judged + 2), rounded down, over call sites that type-aware tools resolve in nine repositories; the
#: table stands in docs/formats/graph_snapshot.md, the command is tests/bench/calls.py.
CALL_CONFIDENCE: Mapping[CallStrategy, float] = {
    CallStrategy.OWN_CLASS: 0.99,
    CallStrategy.ENCLOSING_SCOPE: 0.99,
    CallStrategy.SAME_FILE: 0.99,
    CallStrategy.IMPORTED: 0.99,
    CallStrategy.INHERITED: 0.99,
    CallStrategy.TYPED: 0.99,
    CallStrategy.SAME_PACKAGE: 0.99,
    CallStrategy.LINKED: 0.99,
    CallStrategy.UNIQUE_METHOD: 0.95,
    CallStrategy.NAMED_TYPE: 0.93,
    CallStrategy.UNIQUE_NAME: 0.88,
    CallStrategy.RECEIVER_NAME: 0.8,
    CallStrategy.AMBIGUOUS: 0.98,  # shared by the candidates: below .5 each, whatever their number
}
#: Strategies that rest on the name alone: right for most callees, and how false hubs are made.
NAME_ONLY_STRATEGIES = frozenset(
    {CallStrategy.RECEIVER_NAME, CallStrategy.UNIQUE_NAME, CallStrategy.UNIQUE_METHOD, CallStrategy.AMBIGUOUS}
)


class UnresolvedCall(StrEnum):
    """Why a call site has no edge. Each is counted in the counts and the report of graph_snapshot."""

    MODULE_LEVEL = "module_level"  # outside every function: there is no caller to draw an edge from
    EXTERNAL = "external"  # the name or its receiver is imported from outside the repository
    BUILTIN = "builtin"  # part of the language or its prelude
    UNKNOWN_NAME = "unknown_name"  # nothing of that name is defined in the language
    UNKNOWN_RECEIVER = "unknown_receiver"  # methods of that name exist, the receiver's type is not known
    COMMON_NAME = "common_name"  # only the name matches, and it is too common to trust
    AMBIGUOUS = "ambiguous"  # too many definitions fit


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
    CONSTANT = "constant"  # of several lines; a short one stays in the text around it
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
    """One file of a source listing, as git names it, before it is read.

    A file that the listing skips is left unread, so it has no blob id, and its size is 0 unless the size is the reason:
    an edited image or an excluded file changes no bucket.
    """

    path: str
    blob_id: str  # "" for a skipped file
    size: int  # bytes on disk; where git converts line ends, not the length of what SourceTree.read returns
    language: str  # "" where none is known: only for a skipped file
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
    warnings: tuple[str, ...] = ()  # what was meant to leave out files, and cannot: file, line, why


class SourceTree(Protocol):
    """Reads file contents of one repository: a working tree or a commit."""

    def read(self, file: ListedFile) -> bytes:
        """Return the content of a listed file that is not skipped: the bytes whose git blob id is `file.blob_id`.

        Where git converts line ends on checkout, these are the blob's bytes, not those of the working file, so equal
        ids give equal rows on every machine. Not for several threads at once.

        :raises SourceMoved: if the content is no longer the listed blob; the message names the path.
        :raises Unreadable: if this one file may not be read: SkipReason.UNREADABLE.
        """
        ...


class Encoder(Protocol):
    """Turns texts into vectors. Two encoders with equal digest give equal vectors for equal texts."""

    @property
    def name(self) -> str:
        """Name of the embedder: code, vocab, hash, onnx, api."""
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


@runtime_checkable
class Literate(Protocol):
    """An encoder with a vocabulary of whole words."""

    def knows(self, word: str) -> bool:
        """Tell whether a folded word is a common one, so that it is meant as it is written."""
        ...


@dataclass(frozen=True, slots=True)
class Estimate:
    """What encoding would send to a service, and cost there. `tokens` is a guess, rather too high than too low."""

    texts: int
    tokens: int
    dollars: float  # 0 where no price is known
    service: str

    def __str__(self) -> str:
        cost = f", about ${self.dollars:,.4f}," if self.dollars else ""
        return f"embedding {self.texts:,} texts, about {self.tokens:,} tokens,{cost} at {self.service}"


@runtime_checkable
class Metered(Protocol):
    """An encoder whose work is paid for, so it is agreed to first."""

    def estimate(self, store: ArtifactStore, targets: Sequence[Target]) -> Estimate:
        """Return what encoding the chunks of some chunk_vectors would take."""
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
    symbol: str  # the definition; of what stands outside of any, the constant or field that the line is in
    scope: str
    score: float
    distance: int | None  # Hamming distance in bits; None where the semantic branch did not see the row
    excerpt: str
    terms: Mapping[str, float] = field(default_factory=dict)
    line: int = 0  # the line to open: the definition, the declaration, or the first with most words of the query


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check on one artifact or generation."""

    name: str
    asset: str
    passed: bool
    severity: Severity
    message: str
    repo: str = ""  # told where several repositories may be checked
