"""The surroundings of the command line: a Host whose methods load what they need when they are called.

`strata --help` loads none of it, `strata query` no dagster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resources.environment import Environment

if TYPE_CHECKING:
    from pipelines.progress import Progress
    from pipelines.records import CheckResult
    from pipelines.serving.cli.host import (
        Benchmarked,
        GarbageReport,
        IndexOutcome,
        IndexRequest,
        Opened,
        Preview,
        Quarantine,
        RepositoryStatus,
    )
    from pipelines.serving.library import Library


class StrataHost:
    """The Host of `strata`; see pipelines/serving/cli/host.py for what each method does."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def index(self, request: IndexRequest, progress: Progress) -> IndexOutcome:
        """Bring the index of one repository up to date and publish it."""
        from assets_defs import building

        return building.index(self._environment, request, progress)

    def preview(self, request: IndexRequest, progress: Progress) -> Preview:
        """Return what would be indexed, why each other file is left out, and what would become of it."""
        from assets_defs import building

        return building.preview(self._environment, request, progress)

    def open(self, where: Sequence[str]) -> Opened:
        """Open the published index of the named repositories."""
        from assets_defs import opening

        return opening.open_index(self._environment, where)

    def status(self, where: Sequence[str]) -> Sequence[RepositoryStatus]:
        """Tell how the repositories of the store at hand stand."""
        from assets_defs import upkeep

        return upkeep.status(self._environment, where)

    def quarantine(self, where: Sequence[str], limit: int) -> Sequence[Quarantine]:
        """Tell which places of the published repositories are left out for a secret."""
        from assets_defs import upkeep

        return upkeep.quarantine(self._environment, where, limit)

    def add_repository(self, key: str, path: Path, rev: str) -> RepositoryStatus:
        """Register a repository with the store at hand, without indexing it."""
        from assets_defs import upkeep

        return upkeep.add_repository(self._environment, key, path, rev)

    def remove_repository(self, key: str) -> None:
        """Forget a repository and everything stored of it."""
        from assets_defs import upkeep

        upkeep.remove_repository(self._environment, key)

    def check(self, where: Sequence[str]) -> Sequence[CheckResult]:
        """Run every check on the published generations, checksums included."""
        from assets_defs import upkeep

        return upkeep.check(self._environment, where)

    def evaluate(self, where: Sequence[str], both: bool, progress: Progress) -> Sequence[Mapping[str, Any]]:
        """Evaluate the published generations anew."""
        from assets_defs import evaluating

        return evaluating.evaluate(self._environment, where, both, progress)

    def benchmark(self, folder: Path, checkouts: Path, ways: Sequence[str], progress: Progress) -> Benchmarked:
        """Ask a public benchmark of the indexes of its repositories."""
        from assets_defs import benchmarking

        return benchmarking.benchmark(self._environment, folder, checkouts, ways, progress)

    def collect_garbage(self, dry_run: bool) -> GarbageReport:
        """Remove generations, artifacts and run records that the retention rule no longer keeps."""
        from assets_defs import upkeep

        return upkeep.collect(self._environment, dry_run)

    def develop(self, port: int) -> int:
        """Run the Dagster UI and daemon on the store at hand until interrupted."""
        from assets_defs import develop

        return develop.run(self._environment, port)

    def library(self) -> Library:
        """Return the published indexes of the store at hand, for a server."""
        from assets_defs.library import StoreLibrary

        return StoreLibrary(self._environment)

    def access_token(self, file: Path | None) -> str:
        """Return the token that a server asks for."""
        return self._environment.access_token(file)
