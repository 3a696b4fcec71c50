"""What the command line asks of its surroundings: the environment, the store, and the build through Dagster.

The command line lives in pipelines/, which neither reads the environment nor imports Dagster. So it is handed a Host;
assets_defs/command.py makes the real one and is the entry point of `strata`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # named in annotations only: this module must not make `strata --help` load Arrow and numpy
    from pipelines.generation import EncoderInfo
    from pipelines.plan import Plan
    from pipelines.progress import Progress
    from pipelines.records import CheckResult, Listing, Staleness
    from pipelines.retrieval import Searcher
    from pipelines.serving.library import Library
    from pipelines.store import Pointer

#: What a listed file is called that would be indexed, where others have a SkipReason.
INDEXED = "indexed"


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What `strata index` was asked. `overrides` has settings given as flags, by section, then key."""

    path: Path | None = None  # None = the repository of the key, without a key that of the working directory
    repo: str = ""  # "" = the key that the path has, or gets from its folder's name
    rev: str = ""
    full: bool = False
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    agreed_tokens: int = 0  # that may be paid for, with an embedder that costs money


@dataclass(frozen=True, slots=True)
class Benchmarked:
    """How a benchmark was answered: means by group and way, and what is to be known of its checkouts."""

    figures: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class IndexOutcome:
    """What a run of `strata index` did; the fields of its JSON document."""

    repo: str
    path: str
    store: str
    commit: str
    generation: str
    published: bool  # the generation is the one served now
    files_indexed: int
    files_skipped: Counter[str]  # by reason
    encodings: Counter[str]  # indexed files that are not UTF-8, by encoding
    quarantined_pieces: int  # parts of indexed files that hold a secret and are left out
    quarantined_files: int  # files that such parts are in
    symbols: int
    chunks: int
    vectors_total: int
    vectors_reused: int
    vectors_embedded: int
    buckets_total: int
    buckets_computed: int
    buckets_reused: int
    checks: Sequence[CheckResult]
    encoder: EncoderInfo
    duration_s: float
    warnings: Sequence[str]  # what may have gone another way than it was meant
    #: Seconds by asset that was materialised, and "dagster" for the rest; empty: nothing had to be.
    stages: Mapping[str, float] = field(default_factory=dict)

    @property
    def up_to_date(self) -> bool:
        """Tell that the published generation was the wanted one already."""
        return self.published and not self.stages and not self.buckets_computed


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would do: the wanted state, and its listing with what only reading a file can tell decided too."""

    plan: Plan
    listing: Listing


@dataclass(frozen=True, slots=True)
class Opened:
    """A searcher over one or more repositories, and how each stands to its source."""

    searcher: Searcher
    pointers: Mapping[str, Pointer]  # by repository key
    compare: Callable[[], Mapping[str, Staleness]]  # by repository key; begun already, waits until it is known

    @property
    def staleness(self) -> Mapping[str, Staleness]:
        """How each repository stands to its source."""
        return self.compare()


@dataclass(frozen=True, slots=True)
class RepositoryStatus:
    """One repository of a store as `strata status` and `strata repos list` show it."""

    repo: str
    path: str
    rev: str
    state: str  # "ready", "stale", "unknown", "building", "missing" (nothing published), "error"
    pointer: Pointer | None
    counts: Mapping[str, int]  # files, symbols, chunks, vectors, quarantined pieces of the served generation
    encoder: EncoderInfo | None
    store: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class QuarantinedPlace:
    """Lines of a file that are in no chunk, and what found the secret in them."""

    path: str
    start_line: int
    end_line: int
    detector: str


@dataclass(frozen=True, slots=True)
class Quarantine:
    """What of a published repository is left out for its secrets. `reasons` counts all places, by detector."""

    repo: str
    reasons: Mapping[str, int]
    places: Sequence[QuarantinedPlace]  # the first, by path and line
    omitted: int  # places that are not among them


@dataclass(frozen=True, slots=True)
class GarbageReport:
    """What `strata gc` removed, or would remove."""

    generations: int
    artifacts: int
    runs: int
    bytes: int
    dry_run: bool


class Host(Protocol):
    """The surroundings. Every method raises StrataError with a message for the user."""

    def index(self, request: IndexRequest, progress: Progress) -> IndexOutcome:
        """Bring the index of one repository up to date and publish it."""
        ...

    def preview(self, request: IndexRequest, progress: Progress) -> Preview:
        """Return what would be indexed, why each other file is left out, and what would become of it."""
        ...

    def open(self, where: Sequence[str]) -> Opened:
        """Open the published index of the named repositories (keys or paths); none named = all of the store at hand."""
        ...

    def status(self, where: Sequence[str]) -> Sequence[RepositoryStatus]:
        """Tell how the repositories of the store at hand stand."""
        ...

    def quarantine(self, where: Sequence[str], limit: int) -> Sequence[Quarantine]:
        """Tell which places of the published repositories are left out for a secret, at most `limit` of each."""
        ...

    def add_repository(self, key: str, path: Path, rev: str) -> RepositoryStatus:
        """Register a repository with the store at hand, without indexing it."""
        ...

    def remove_repository(self, key: str) -> None:
        """Forget a repository and everything stored of it."""
        ...

    def check(self, where: Sequence[str]) -> Sequence[CheckResult]:
        """Run every check on the published generations, checksums included."""
        ...

    def evaluate(self, where: Sequence[str], both: bool, progress: Progress) -> Sequence[Mapping[str, Any]]:
        """Evaluate the published generations anew and return the rows of formats.EVAL_TABLE, with `repo`, `diffusion`.

        :param both: whether each is measured with diffusion on and off; else as it is published.
        """
        ...

    def benchmark(self, folder: Path, checkouts: Path, ways: Sequence[str], progress: Progress) -> Benchmarked:
        """Index the checkouts of a benchmark, ask its questions in some ways, and return means by group and way.

        :param folder: has repos.json and annotations/. :param checkouts: has a folder for each repository.
        """
        ...

    def collect_garbage(self, dry_run: bool) -> GarbageReport:
        """Remove generations and artifacts that the retention rule no longer keeps."""
        ...

    def develop(self, port: int) -> int:
        """Run the Dagster UI and daemon on the store at hand until interrupted; return the exit code."""
        ...

    def library(self) -> Library:
        """Return the published indexes of the store at hand, for a server."""
        ...

    def access_token(self, file: Path | None) -> str:
        """Return the token that a server asks for: that of the file, else of the environment; "" for none."""
        ...
