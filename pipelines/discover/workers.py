"""A pool of parser processes. In: files with their bytes. Out: their rows, whatever a file does to its parser.

The children are started as programs of their own, not forked and not by multiprocessing, so the pool works inside any
parent: threads, Dagster, a test. Each child has one batch at a time and answers file by file, so when one dies or is
late it is known on which file. That file is tried once more, alone in a new child; if it fails again it is recorded as
crashed. A file that was too slow is not tried again. The rest of the batch goes to a new child: nothing else is lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pipelines.discover.parse import ParsedFile
from pipelines.discover.wire import frame, take_frames
from pipelines.errors import StrataError
from pipelines.records import SkipReason
from pipelines.settings import IndexSettings

#: A batch is closed at this many bytes or files: some tens of milliseconds of parsing, far more than a message costs.
_BATCH_BYTES = 256 << 10
_BATCH_FILES = 64
#: A further child is started for each so many bytes of work; starting one costs as much as parsing about this.
_BYTES_PER_CHILD = 2 << 20
#: Seconds that a child may take to start on a busy machine.
_START_TIMEOUT_S = 120.0
#: How often a file is given to a child before it is held to be the cause of the child's end.
_MAX_TRIES = 2
_READ_BYTES = 1 << 20
#: Seconds between the end of a child's output and its own end, in which how it ended is decided.
_LAST_WORDS_S = 10.0
_STDERR_TAIL_BYTES = 4_096
_DETAIL_CHARS = 200


@dataclass(slots=True)
class Job:
    """One file to be parsed. `tries` counts the children that ended while they had it."""

    path: str
    language: str
    data: bytes
    tries: int = 0


@dataclass(slots=True)
class _Child:
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    ready: bool = False
    repo: str = ""
    batch: deque[Job] = field(default_factory=deque)  # what is not answered yet; the first is being parsed
    buffer: bytearray = field(default_factory=bytearray)
    deadline: float = 0.0

    @property
    def output(self) -> int:
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def send(self, repo: str, batch: Sequence[Job]) -> None:
        """Hand over a batch; a child that is ready reads all of it before it does anything else."""
        head = json.dumps({"repo": repo, "files": [[job.path, job.language] for job in batch]}).encode()
        self.batch = deque(batch)
        assert self.process.stdin is not None
        rest = memoryview(b"".join([frame(head), *(frame(job.data) for job in batch)]))
        with contextlib.suppress(BrokenPipeError):  # it has ended: so does its output, and that is dealt with there
            while rest:
                rest = rest[os.write(self.process.stdin.fileno(), rest) :]

    def end(self, patience: float = 0.0) -> str:
        """End the child, by force once it has had `patience` seconds to do so itself; return what it said last."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        self.process.kill()
        with self.errors, self.process:
            self.process.wait()
            size = self.errors.seek(0, os.SEEK_END)
            self.errors.seek(max(0, size - _STDERR_TAIL_BYTES))
            lines = self.errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:_DETAIL_CHARS] if lines else ""


class ParserPool:
    """Parser processes, started when there is work, that stay until the pool is left. Use as a context manager."""

    def __init__(self, settings: IndexSettings, *, command: Sequence[str] | None = None) -> None:
        self._timeout = settings.file_timeout_s
        self._workers = settings.workers or os.cpu_count() or 1
        self._command = tuple(command or _worker_command())
        self._children: list[_Child] = []
        self._open = False

    def __enter__(self) -> Self:
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        while self._children:
            self._children.pop().end()

    def parse(
        self, repo: str, jobs: Iterable[Job], total_bytes: int, answered: Callable[[], None] = lambda: None
    ) -> dict[str, ParsedFile]:
        """Parse files and return their rows by path.

        :param repo: repository key. :param jobs: the files, each path once; taken as children become free.
        :param total_bytes: about how much there is, to know how many children are worth starting.
        :param answered: called after each file.
        :raises StrataError: if the children cannot be started at all.
        """
        if not self._open:
            raise RuntimeError("a ParserPool is used inside its `with` block")
        return _Run(self, repo, jobs, total_bytes, answered).results()

    def _start(self) -> _Child:
        errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the child ends)
        process = subprocess.Popen(
            [*self._command, str(os.getpid())],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        child = _Child(process, errors, deadline=time.monotonic() + _START_TIMEOUT_S)
        self._children.append(child)
        return child

    def _end(self, child: _Child, patience: float = 0.0) -> str:
        self._children.remove(child)
        return child.end(patience)


class _Run:
    """One call of ParserPool.parse."""

    def __init__(
        self, pool: ParserPool, repo: str, jobs: Iterable[Job], total_bytes: int, answered: Callable[[], None]
    ) -> None:
        self._pool = pool
        self._repo = repo
        self._batches = _batches(jobs)
        self._again: deque[list[Job]] = deque()  # batches of children that ended
        self._wanted = min(pool._workers, 1 + total_bytes // _BYTES_PER_CHILD)
        self._answered = answered
        self._answers: dict[str, bytes] = {}
        self._failed: dict[str, ParsedFile] = {}
        self._selector = selectors.DefaultSelector()

    def results(self) -> dict[str, ParsedFile]:
        with self._selector:
            for child in list(self._pool._children):
                if child.process.poll() is not None:
                    self._pool._end(child)
                else:
                    self._selector.register(child.output, selectors.EVENT_READ, child)
            waiting = self._next_batch()
            while waiting or any(child.batch for child in self._pool._children):
                while waiting and len(self._pool._children) < self._wanted:
                    self._selector.register((child := self._pool._start()).output, selectors.EVENT_READ, child)
                for child in self._free_children():
                    if not waiting:
                        break
                    child.deadline = time.monotonic() + self._pool._timeout
                    child.send(self._repo, waiting)
                    waiting = self._next_batch()
                self._wait()
                waiting = waiting or self._next_batch()
        parsed = {path: ParsedFile(**json.loads(answer)) for path, answer in self._answers.items()}
        return parsed | self._failed

    def _next_batch(self) -> list[Job]:
        return self._again.popleft() if self._again else next(self._batches, [])

    def _free_children(self) -> list[_Child]:
        return [child for child in self._pool._children if child.ready and not child.batch]

    def _wait(self) -> None:
        """Wait until a child answers, ends or is late."""
        busy = [child for child in self._pool._children if child.batch or not child.ready]
        wait = min((child.deadline for child in busy), default=time.monotonic()) - time.monotonic()
        for key, _ in self._selector.select(max(0.0, wait)):
            self._read(key.data)
        now = time.monotonic()
        for child in busy:
            if child in self._pool._children and (child.batch or not child.ready) and child.deadline <= now:
                self._late(child)

    def _read(self, child: _Child) -> None:
        data = os.read(child.output, _READ_BYTES)
        if not data:
            self._ended(child)
            return
        child.buffer += data
        for answer in take_frames(child.buffer):
            if child.ready:
                self._answers[child.batch.popleft().path] = answer
                self._answered()
            child.ready = True
            child.deadline = time.monotonic() + self._pool._timeout

    def _late(self, child: _Child) -> None:
        if not child.ready:
            raise StrataError(
                f"a parser process did not start within {_START_TIMEOUT_S:.0f} s: {self._drop(child)}",
                hint="the machine may be overloaded; run again",
            )
        self._drop(child)
        job = child.batch.popleft()
        self._fail(job, SkipReason.TIMED_OUT, f"no result within {self._pool._timeout:g} s")
        self._requeue(child)

    def _ended(self, child: _Child) -> None:
        said = self._drop(child, _LAST_WORDS_S)
        if not child.ready:
            raise StrataError(f"the parser process did not start: {said}", hint="check the installation")
        if not child.batch:
            return
        job = child.batch[0]
        job.tries += 1
        if job.tries >= _MAX_TRIES:
            child.batch.popleft()
            self._fail(job, SkipReason.CRASHED, _cause(child.process.returncode, said))
        else:
            self._again.append([child.batch.popleft()])
        self._requeue(child)

    def _drop(self, child: _Child, patience: float = 0.0) -> str:
        self._selector.unregister(child.output)
        return self._pool._end(child, patience)

    def _requeue(self, child: _Child) -> None:
        if child.batch:
            self._again.append(list(child.batch))

    def _fail(self, job: Job, reason: SkipReason, detail: str) -> None:
        self._failed[job.path] = ParsedFile.skipped(reason, detail)
        self._answered()


def _batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    batch: list[Job] = []
    size = 0
    for job in jobs:
        if batch and (size + len(job.data) > _BATCH_BYTES or len(batch) == _BATCH_FILES):
            yield batch
            batch, size = [], 0
        batch.append(job)
        size += len(job.data)
    if batch:
        yield batch


def _cause(code: int | None, said: str) -> str:
    """Say how a child ended: by which signal, or with which last line."""
    if code is not None and code < 0:
        return f"the parser process was ended by signal {-code}"
    return f"the parser process ended with code {code}: {said}"


#: The package is entered without its `__init__`, whose other modules would load pyarrow and scipy into every child.
_BOOTSTRAP = """
import sys, types
package = types.ModuleType("pipelines.discover")
package.__path__ = [sys.argv[1] + "/pipelines/discover"]
sys.path.insert(0, sys.argv.pop(1))
sys.modules[package.__name__] = package
from pipelines.discover.worker import main
sys.exit(main())
"""


def _worker_command() -> tuple[str, ...]:
    """Return the command of a child that imports the same `pipelines` as this process, wherever it is started."""
    root = Path(__file__).resolve().parents[2]
    # -P keeps the working directory, which is the user's repository, off the module path.
    return (sys.executable, "-P", "-c", _BOOTSTRAP, str(root))
