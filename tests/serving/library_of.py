"""A library over a real store of small generations, whose states a test sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pipelines.errors import StrataError
from pipelines.generation import EncoderInfo
from pipelines.retrieval import open_generation
from pipelines.serving.cli.host import RepositoryStatus
from pipelines.serving.library import Volume
from pipelines.serving.service import Service
from pipelines.store import Pointer
from tests.retrieval.builders import Call, Doc, WordEncoder, make_generation, make_store

COMMIT = "4f2d0c1b9a8e7d6c5b4a39281706f5e4d3c2b1a0"
DOCS = (
    Doc("orders/retry.py", "def with_retry(call, attempts=3):\n    return backoff(call, attempts)", "with_retry"),
    Doc("orders/backoff.py", "def backoff(call, attempts):\n    sleep(attempts)\n    call()", "backoff"),
    Doc("web/page.go", "func Render(page string) string {\n\treturn escape(page)\n}", "Render", language="go"),
    Doc("README.md", "# Retry\n\nHow a failed call is tried again.", "Retry", kind="section", language="markdown"),
)
CALLS = (Call("with_retry", "backoff"),)


class SmallLibrary:
    """A Library. `states` has the state of each repository, by default ready; `fails` is raised by every method."""

    def __init__(self, root: Path) -> None:
        self.store = make_store(root)
        self.states: dict[str, str] = {}
        self.fails: StrataError | None = None
        self.looks = 0
        self.opened: list[Volume] = []

    def publish(self, docs: Iterable[Doc] = DOCS, *, repo: str = "sample", calls: Sequence[Call] = ()) -> str:
        document = make_generation(self.store, docs, repo=repo, calls=calls)
        before = self.store.pointer(repo)
        self.store.write_generation(repo, document.generation, document.as_json())
        previous = (before.generation,) if before else ()
        self.store.publish(repo, Pointer(document.generation, COMMIT, False, "2026-01-02T03:04:05+00:00", previous))
        return document.generation

    def pointers(self) -> Mapping[str, Pointer]:
        if self.fails:
            raise self.fails
        found = {repo: self.store.pointer(repo) for repo in self.store.repositories()}
        return {repo: pointer for repo, pointer in found.items() if pointer}

    def open(self, repo: str) -> Volume:
        pointer = self.pointers()[repo]
        self.opened.append(Volume(open_generation(self.store, repo, pointer.generation), pointer, WordEncoder()))
        return self.opened[-1]

    def statuses(self) -> Sequence[RepositoryStatus]:
        self.looks += 1
        pointers = self.pointers()
        encoder = EncoderInfo.of(WordEncoder())
        return [
            RepositoryStatus(
                repo,
                "/src/" + repo,
                "",
                self.states.get(repo, "ready" if repo in pointers else "missing"),
                pointers.get(repo),
                {"files": 4, "chunks": 4} if repo in pointers else {},
                encoder if repo in pointers else None,
                str(self.store.root),
                "being indexed by process 7" if self.states.get(repo) == "building" else "",
            )
            for repo in sorted({*pointers, *self.states})
        ]


@contextmanager
def served(library: SmallLibrary) -> Iterator[Service]:
    """Give a started service, and close it."""
    service = Service(library)
    service.start()
    try:
        yield service
    finally:
        service.close()


def library_of(root: Path, docs: Iterable[Doc] = DOCS, calls: Sequence[Call] = CALLS) -> SmallLibrary:
    library = SmallLibrary(root)
    library.publish(docs, calls=calls)
    return library


def wait_until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for what another thread does."""
    import time

    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
