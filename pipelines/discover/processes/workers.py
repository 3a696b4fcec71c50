"""A pool of parser processes. In: files with their bytes. Out: their rows, whatever a file does to its parser.

The children are started as programs of their own, not forked and not by multiprocessing, so the pool works inside any
parent: threads, Dagster, a test. Each child has one batch at a time, says when it is done with a file, and hands over
the rows of all at the end. So when one dies or is late it is known on which file. That file is tried once more, alone
in a new child; if it fails again it is recorded as crashed. A file that was too slow is not tried again. The others of
the batch go to a new child: nothing else is lost.

Only time in which this process was awake counts: after a stop of all (Ctrl-Z) no child is late.
"""

from __future__ import annotations

import builtins
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

import pyarrow as pa

from pipelines.discover.parsing.parse import Outcome
from pipelines.discover.processes.unpacking import COLUMN_TYPES, TABLES, unpack_rows
from pipelines.discover.processes.wire import frame, take_frames
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
    batch: list[Job] = field(default_factory=list)  # what is not handed over yet
    done: int = 0  # of the batch; the next one is being parsed
    head: bytes = b""  # of the answer to the batch, once it is here
    buffer: bytearray = field(default_factory=bytearray)
    deadline: float = 0.0

    @property
    def output(self) -> int:
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def send(self, repo: str, batch: Sequence[Job]) -> None:
        """Hand over a batch; a child that is ready reads all of it before it does anything else."""
        files = [[job.path, job.language] for job in batch]
        head = json.dumps({"repo": repo, "types": COLUMN_TYPES, "files": files}).encode()
        self.batch, self.done, self.head = list(batch), 0, b""
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


@dataclass(slots=True)
class Parsed:
    """What became of files, by path, and their rows, in no order."""

    outcomes: dict[str, Outcome]
    tables: dict[str, pa.Table]


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
    ) -> Parsed:
        """Parse files and return their outcomes and rows.

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
        self._outcomes: dict[str, Outcome] = {}
        self._rows: dict[str, list[pa.RecordBatch]] = {name: [] for name in TABLES}
        self._selector = selectors.DefaultSelector()
        self._last_pass = time.monotonic()

    def results(self) -> Parsed:
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
        tables = {name: pa.Table.from_batches(self._rows[name], schema) for name, schema in TABLES.items()}
        return Parsed(self._outcomes, tables)

    def _next_batch(self) -> list[Job]:
        while self._again:
            if batch := self._again.popleft():
                return batch
        return next(self._batches, [])

    def _free_children(self) -> list[_Child]:
        return [child for child in self._pool._children if child.ready and not child.batch]

    def _wait(self) -> None:
        """Wait until a child answers, ends or is late."""
        busy = [child for child in self._pool._children if child.batch or not child.ready]
        wait = max(0.0, min((child.deadline for child in busy), default=0.0) - time.monotonic())
        self._read_all(wait)
        now = time.monotonic()
        away, self._last_pass = now - self._last_pass - wait, now
        if away > self._pool._timeout / 2:  # it was stopped, or had other work: perhaps the children were stopped too
            for child in busy:
                child.deadline = max(child.deadline, now + self._pool._timeout)
        if any(self._is_late(child, now) for child in busy):
            self._read_all(0.0)  # what arrived while others were read
        for child in busy:
            if self._is_late(child, now):
                self._late(child)

    def _read_all(self, wait: float) -> None:
        for key, _ in self._selector.select(wait):
            self._read(key.data)

    def _is_late(self, child: _Child, now: float) -> bool:
        return child in self._pool._children and bool(child.batch or not child.ready) and child.deadline <= now

    def _read(self, child: _Child) -> None:
        data = os.read(child.output, _READ_BYTES)
        if not data:
            self._ended(child)
            return
        child.deadline = time.monotonic() + self._pool._timeout
        child.buffer += data
        for message in take_frames(child.buffer):
            if not child.ready:
                child.ready = True
            elif not message:
                child.done += 1
            elif not child.head:
                child.head = message
            else:
                self._take(child, message)

    def _take(self, child: _Child, body: bytes) -> None:
        """Take over what a child found in a batch."""
        head = json.loads(child.head)
        paths = [job.path for job in child.batch]
        self._outcomes.update(zip(paths, (Outcome(*columns) for columns in head["outcomes"]), strict=True))
        column = pa.array(paths, pa.string())
        rest = memoryview(body)
        for name, described in head["tables"].items():
            buffers = []
            for size in described["sizes"]:
                buffers.append(rest[:size])
                rest = rest[size:]
            if any(described["counts"]):
                self._rows[name].append(unpack_rows(TABLES[name], column, described["counts"], buffers))
        child.batch = []
        for _ in paths:
            self._answered()

    def _late(self, child: _Child) -> None:
        if not child.ready:
            raise StrataError(
                f"a parser process did not start within {_START_TIMEOUT_S:.0f} s: {self._drop(child)}",
                hint="the machine may be overloaded; run again",
            )
        self._drop(child)
        job = self._withdraw(child)
        if job is not None:
            self._fail(job, SkipReason.TIMED_OUT, f"no result within {self._pool._timeout:g} s")

    def _ended(self, child: _Child) -> None:
        said = self._drop(child, _LAST_WORDS_S)
        if not child.ready:
            raise StrataError(f"the parser process did not start: {said}", hint="check the installation")
        job = self._withdraw(child)
        if job is None:
            return
        job.tries += 1
        if job.tries >= _MAX_TRIES:
            self._fail(job, SkipReason.CRASHED, _cause(child.process.returncode, said))
        else:
            self._again.append([job])

    def _withdraw(self, child: _Child) -> Job | None:
        """Return the file that a child was parsing when it ended; the other ones are given to another child."""
        done, rest = child.batch[: child.done], child.batch[child.done :]
        child.batch = []
        if len(done) == 1 and not rest:  # it ended while it put together the rows of this one
            return done[0]
        self._again += [done] if rest else [[job] for job in done]
        if not rest:
            return None
        self._again.append(rest[1:])
        return rest[0]

    def _drop(self, child: _Child, patience: float = 0.0) -> str:
        self._selector.unregister(child.output)
        return self._pool._end(child, patience)

    def _fail(self, job: Job, reason: SkipReason, detail: str) -> None:
        self._outcomes[job.path] = Outcome.skipped(reason, detail)
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
    """Say how a child ended: by which signal, or by which error; what that says may be a piece of the file."""
    if code is not None and code < 0:
        return f"the parser process was ended by signal {-code}"
    name = said.partition(":")[0]
    error = getattr(builtins, name, None)
    known = isinstance(error, type) and issubclass(error, BaseException)
    return f"the parser process ended with code {code}{f': {name}' if known else ''}"


#: The package is entered without its `__init__`, whose other modules would load pyarrow and scipy into every child.
_BOOTSTRAP = """
import sys, types
package = types.ModuleType("pipelines.discover")
package.__path__ = [sys.argv[1] + "/pipelines/discover"]
sys.path.insert(0, sys.argv.pop(1))
sys.modules[package.__name__] = package
from pipelines.discover.processes.worker import main
sys.exit(main())
"""


def _worker_command() -> tuple[str, ...]:
    """Return the command of a child that imports the same `pipelines` as this process, wherever it is started."""
    root = Path(__file__).resolve().parents[3]
    # -P keeps the working directory, which is the user's repository, off the module path.
    return (sys.executable, "-P", "-c", _BOOTSTRAP, str(root))
