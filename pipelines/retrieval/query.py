"""What is asked, and what is answered. In: values from a command line or a request. Out: a checked Query; an Answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from pipelines.errors import InputError
from pipelines.records import ChunkKind, Hit, SearchMode

if TYPE_CHECKING:
    from pipelines.retrieval.expansion import Expansion

FUSIONS = ("rrf", "late")
EXPANSIONS = ("neighbors", "blast")
#: What puts the semantic pool into order: the stored int8 vectors, or the signs of its rows.
SCORINGS = ("int8", "asymmetric")
MAX_LIMIT = 200
MAX_POOL = 10_000
MAX_DEPTH = 5
#: Longest query in characters: a pasted function fits many times over, a pasted file does not.
MAX_QUERY_CHARS = 32_768


@dataclass(frozen=True, slots=True)
class Query:
    """One question. Checked on construction: InputError names the field, the value and what is allowed.

    Punctuation in `text` is literal. Only with `keyword_and` a "quoted phrase" must stand in the text as it is, one
    that is not closed up to the query's end, and -word must not occur, beside a word that must. `paths` are globs: `*`
    stays within a folder, `**` does not, a pattern without `/` fits at any depth, and a folder's name fits all in it.
    """

    text: str
    limit: int = 10
    mode: SearchMode = SearchMode.HYBRID
    fusion: str = "rrf"
    no_fusion: bool = False  # the plain order of one branch: Hamming distance, or BM25 with mode = lexical
    keyword_and: bool = False
    candidate_pool: int = 256
    scoring: str = "int8"
    paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    expand: str | None = None
    expand_depth: int = 1
    explain: bool = False

    #: What may be given for each field that is bounded: choices, the range of a number, of the length of a text.
    ALLOWED: ClassVar[Mapping[str, tuple[str, ...] | range]] = {
        "text": range(1, MAX_QUERY_CHARS + 1),
        "limit": range(1, MAX_LIMIT + 1),
        "mode": tuple(SearchMode),
        "fusion": FUSIONS,
        "candidate_pool": range(1, MAX_POOL + 1),
        "scoring": SCORINGS,
        "kinds": tuple(ChunkKind),
        "expand": EXPANSIONS,
        "expand_depth": range(1, MAX_DEPTH + 1),
    }

    def __post_init__(self) -> None:
        # Arguments of a process and JSON strings may hold lone surrogates, which no index and no output can carry.
        object.__setattr__(self, "text", self.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        if not self.text.strip():
            raise InputError("the query is empty", hint="give words, a name or a sentence")
        if len(self.text) > MAX_QUERY_CHARS:
            raise InputError(f"the query has {len(self.text)} characters", hint=f"at most {MAX_QUERY_CHARS}")
        _require_choice("mode", self.mode, tuple(SearchMode))
        object.__setattr__(self, "mode", SearchMode(self.mode))
        _require_choice("fusion", self.fusion, FUSIONS)
        _require_choice("scoring", self.scoring, SCORINGS)
        if self.expand is not None:
            _require_choice("expand", self.expand, EXPANSIONS)
        object.__setattr__(self, "kinds", tuple(kind.casefold() for kind in self.kinds))
        for kind in self.kinds:
            _require_choice("kind", kind, tuple(ChunkKind))
        _require_range("limit", self.limit, 1, MAX_LIMIT)
        _require_range("candidate_pool", self.candidate_pool, self.limit, MAX_POOL)
        _require_range("expand_depth", self.expand_depth, 1, MAX_DEPTH)
        if self.expand is None and self.expand_depth != 1:
            raise InputError(
                f"expand_depth = {self.expand_depth} has nothing to expand",
                hint=f"give expand as well: {', '.join(EXPANSIONS)}",
            )
        if self.fusion == "late" and not self.semantic:
            raise InputError(
                f"fusion late ranks the semantic pool, which mode {self.mode} does not have",
                hint="use mode hybrid or semantic, or fusion rrf",
            )

    @property
    def semantic(self) -> bool:
        """Whether the semantic branch is asked."""
        return self.mode in (SearchMode.HYBRID, SearchMode.SEMANTIC)

    @property
    def lexical(self) -> bool:
        """Whether the lexical branch is asked."""
        return self.mode is not SearchMode.SEMANTIC

    @property
    def symbols(self) -> bool:
        """Whether names are looked up."""
        return self.mode is not SearchMode.SEMANTIC

    @property
    def marks(self) -> frozenset[str]:
        """What shows in a text that it answers: keywords, their other forms, and names whole; no common words."""
        from pipelines.retrieval.analysis import analyse  # what only checks a query goes without it

        analysis = analyse(self.text)
        return analysis.forms.union(analysis.whole)


@dataclass(frozen=True, slots=True)
class Answer:
    """The ranked hits, and how they came about.

    `counts` has the candidates of each branch; `inactive` names what could not tell rows apart, with the reason;
    `notes` has what one must know to read the hits.
    """

    query: Query
    hits: tuple[Hit, ...]
    counts: Mapping[str, int]
    timing_ms: Mapping[str, float]
    expansion: Expansion | None = None
    inactive: Mapping[str, str] = field(default_factory=dict)
    analysis: Mapping[str, Any] = field(default_factory=dict)  # with explain: what the query was taken for
    notes: tuple[str, ...] = ()


def _require_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name} {value!r} is not known", hint=f"allowed: {', '.join(allowed)}")


def _require_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InputError(f"{name} = {value} is out of range", hint=f"allowed: {least} to {most}")
