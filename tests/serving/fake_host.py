"""A host over hand-made records, and a `strata` that uses it: `python -m tests.serving.fake_host SCENARIO ARGUMENT...`.

The records are those of docs/cli.md, so that its samples can be compared with what the commands print.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from pipelines.errors import NothingIndexed
from pipelines.generation import EncoderInfo
from pipelines.plan import Inputs, make_plan
from pipelines.progress import Progress
from pipelines.records import CheckResult, Content, Hit, ListedFile, Listing, Severity, SkipReason, Staleness
from pipelines.retrieval import Answer, Query, Searcher
from pipelines.retrieval.expansion import Blast, Expansion, Related
from pipelines.serving.cli import main
from pipelines.serving.cli.host import (
    Benchmarked,
    GarbageReport,
    IndexOutcome,
    IndexRequest,
    Opened,
    Preview,
    Quarantine,
    QuarantinedPlace,
    RepositoryStatus,
)
from pipelines.serving.library import Library, Volume
from pipelines.settings import Settings
from pipelines.store import Pointer

COMMIT = "4f2d0c1b9a8e7d6c5b4a39281706f5e4d3c2b1a0"
GENERATION = "8c1f0a52d7e94b36a1c5f8e20d9b7364"
ENCODER = EncoderInfo("vocab", "1b9d6bcd5a7e4f0c8d3e2f1a0b9c8d7e", 256)
POINTER = Pointer(GENERATION, COMMIT, False, "2025-11-30T12:00:00+00:00", ())
PASSED = CheckResult("row_order", "chunks", True, Severity.ERROR, "", "sample")
FAILED = CheckResult(
    "checksums", "binary_codes", False, Severity.ERROR, "codes.npy of sample/binary_codes has 3 bytes", "sample"
)
WARNED = CheckResult("bit_balance", "binary_codes", False, Severity.WARN, "3 bits are constant", "sample")


def make_outcome(**changes: Any) -> IndexOutcome:
    values: dict[str, Any] = {
        "repo": "sample",
        "path": "/src/sample",
        "store": "/src/sample/.strata",
        "commit": COMMIT,
        "generation": GENERATION,
        "published": True,
        "files_indexed": 41,
        "files_skipped": Counter({"binary": 1, "denied": 2}),
        "encodings": Counter({"latin-1": 1}),
        "quarantined_pieces": 0,
        "quarantined_files": 0,
        "symbols": 210,
        "chunks": 260,
        "vectors_total": 260,
        "vectors_reused": 200,
        "vectors_embedded": 60,
        "buckets_total": 16,
        "buckets_computed": 4,
        "buckets_reused": 12,
        "checks": [PASSED],
        "encoder": ENCODER,
        "duration_s": 1.42,
        "warnings": [".gitignore, line 3: '[' is never closed, so the pattern matches nothing"],
        "stages": {"symbols": 0.4, "chunks": 0.2},
    }
    return IndexOutcome(**(values | changes))


def make_listing(*files: ListedFile, warnings: tuple[str, ...] = ()) -> Listing:
    denied = ListedFile(".env", "a", 120, "", "", Content.TEXT, SkipReason.DENIED, ".env")
    kept = ListedFile("orders/retry.py", "b", 900, "python", "", Content.CODE)
    return Listing("sample", COMMIT, False, files or (kept, denied), warnings)


def make_hit(rank: int = 1, **changes: Any) -> Hit:
    values: dict[str, Any] = {
        "rank": rank,
        "chunk_id": "00112233445566778899aabbccddeeff",
        "repo": "sample",
        "path": "orders/retry.py",
        "start_line": 14,
        "end_line": 31,
        "line": 14,
        "language": "python",
        "kind": "function",
        "symbol": "with_retry",
        "scope": "",
        "score": 0.048387,
        "distance": 71,
        "excerpt": "def with_retry(call, attempts=3):\n    delay = backoff(attempts)",
        "terms": {"lexical": 0.016129, "semantic": 0.015873},
    }
    return Hit(**(values | changes))


def make_expansion() -> Expansion:
    anchor, other = "00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"
    related = Related(
        anchor, other, "sample", "orders/checkout.py", "place_order", 40, 62, 1, "caller", 0.9, "import", anchor
    )
    return Expansion("neighbors", (related,), (Blast(anchor, "with_retry", 1, 3, 2, 0.91, False),), 4)


def make_status(**changes: Any) -> RepositoryStatus:
    values: dict[str, Any] = {
        "repo": "sample",
        "path": "/src/sample",
        "rev": "",
        "state": "ready",
        "pointer": POINTER,
        "counts": {"files": 41, "symbols": 210, "chunks": 260, "vectors": 260, "quarantined": 0},
        "encoder": ENCODER,
        "store": "/src/sample/.strata",
    }
    return RepositoryStatus(**(values | changes))


EVAL_ROW = {
    "repo": "sample",
    "diffusion": False,
    "fixture": "known-items",
    "case_kind": "name",
    "mode": "hybrid",
    "cases": 50,
    "hit_at_1": 0.94,
    "hit_at_3": 0.98,
    "mrr_at_10": 0.96,
    "ndcg_at_10": 0.97,
}


@dataclass
class FakeSearcher:
    """Gives the same hits to every query and remembers the queries."""

    hits: tuple[Hit, ...]
    asked: list[Query] = field(default_factory=list)
    generations: Any = (SimpleNamespace(document=SimpleNamespace(encoder=ENCODER)),)

    def search(self, query: Query) -> Answer:
        self.asked.append(query)
        counts = {"lexical": 12, "semantic": 256, "symbol": 1, "fused": 260}
        inactive = {"blast": "it is the same for every row"}
        expansion = make_expansion() if query.expand else None
        return Answer(query, self.hits, counts, {"total": 3.2}, expansion, inactive, {"keywords": ["retry"]})


class EmptyLibrary:
    """A Library of a store without anything published."""

    def pointers(self) -> Mapping[str, Pointer]:
        return {}

    def open(self, repo: str) -> Volume:
        raise NothingIndexed(f"nothing of {repo} is published", hint="run `strata index .`")

    def statuses(self) -> Sequence[RepositoryStatus]:
        return []


@dataclass
class FakeHost:
    """A Host whose answers are its fields. `before` runs at the start of every method."""

    before: Callable[[], object] = lambda: None
    outcome: IndexOutcome = field(default_factory=make_outcome)
    listed: Listing = field(default_factory=make_listing)
    searcher: FakeSearcher = field(default_factory=lambda: FakeSearcher((make_hit(),)))
    pointers: Mapping[str, Pointer] = field(default_factory=lambda: {"sample": POINTER})
    staleness: Mapping[str, Staleness] = field(default_factory=lambda: {"sample": Staleness.FRESH})
    statuses: Sequence[RepositoryStatus] = field(default_factory=lambda: [make_status()])
    checks: Sequence[CheckResult] = (PASSED,)
    runs: Sequence[Mapping[str, Any]] = (EVAL_ROW,)
    notes: Sequence[str] = ()
    asked: list[Any] = field(default_factory=list)
    books: Library = field(default_factory=lambda: EmptyLibrary())

    def index(self, request: IndexRequest, progress: Progress) -> IndexOutcome:
        self.before()
        self.asked.append(request)
        progress.begin("parsing", 2)
        progress.advance()
        progress.note("one file took long")
        progress.advance()
        progress.end()
        return self.outcome

    def preview(self, request: IndexRequest, progress: Progress) -> Preview:
        self.before()
        self.asked.append(request)
        return Preview(make_plan(self.listed, Inputs(Settings(), ENCODER.digest, "grammars")), self.listed)

    def open(self, where: Sequence[str]) -> Opened:
        self.before()
        self.asked.append(where)
        return Opened(cast("Searcher", self.searcher), self.pointers, lambda: self.staleness)

    def status(self, where: Sequence[str]) -> Sequence[RepositoryStatus]:
        self.before()
        return self.statuses

    def quarantine(self, where: Sequence[str], limit: int) -> Sequence[Quarantine]:
        self.before()
        places = [
            QuarantinedPlace("deploy/keys.py", 12, 15, "private-key"),
            QuarantinedPlace("run.sh", 3, 3, "aws-key"),
        ]
        shown = places[:limit]
        return [Quarantine("sample", {"aws-key": 1, "private-key": 1}, shown, len(places) - len(shown))]

    def add_repository(self, key: str, path: Path, rev: str) -> RepositoryStatus:
        self.before()
        return make_status(repo=key, path=str(path), rev=rev, state="missing", pointer=None, counts={}, encoder=None)

    def remove_repository(self, key: str) -> None:
        self.before()
        self.asked.append(key)

    def check(self, where: Sequence[str]) -> Sequence[CheckResult]:
        self.before()
        return self.checks

    def evaluate(self, where: Sequence[str], both: bool, progress: Progress) -> Sequence[Mapping[str, Any]]:
        self.before()
        self.asked.append(both)
        return self.runs

    def benchmark(self, folder: Path, checkouts: Path, ways: Sequence[str], progress: Progress) -> Benchmarked:
        self.before()
        groups = (("all", ""), ("language", "python"), ("category", "symbol"), ("repository", "click"))
        return Benchmarked(
            [
                {"by": by, "group": group, "way": way, "questions": 20, "ndcg_at_10": 0.9}
                for by, group in groups
                for way in ways
            ],
            self.notes,
        )

    def collect_garbage(self, dry_run: bool) -> GarbageReport:
        self.before()
        return GarbageReport(2, 31, 5, 1_234_567, dry_run)

    def develop(self, port: int) -> int:
        self.before()
        return port % 256

    def library(self) -> Library:
        self.before()
        return self.books

    def access_token(self, file: Path | None) -> str:
        return ""


def _make_noise() -> None:
    warnings.warn("a library is about to change", DeprecationWarning, stacklevel=2)
    sys.stdout.write("a library is chatty\n")
    sys.stderr.write("a library logs\n")


def _refuse() -> None:
    raise NothingIndexed("there is no index for .", hint="run `strata index .`")


def _break() -> None:
    raise ZeroDivisionError("a fault")


def _signal_self(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(60)  # the signal ends it


SCENARIOS: dict[str, Callable[[], object]] = {
    "plain": lambda: None,
    "noisy": _make_noise,
    "refuse": _refuse,
    "broken": _break,
    "interrupted": lambda: _signal_self(signal.SIGINT),
    "terminated": lambda: _signal_self(signal.SIGTERM),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], FakeHost(SCENARIOS[sys.argv[1]])))
