"""Kill `strata index` at random moments while others ask: python -m tests.bench.kills REPO --kills 10.

Works on a copy of REPO. Each round edits some files, starts a re-index and kills it with SIGKILL; one process per
query and one process with an index that it opened once keep asking all the while. Then the next run must repair, and
the last generation must be that of a build from nothing elsewhere. Prints a table; exits 1 if anything did not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines.locks import writer_of
from pipelines.store import ArtifactStore
from resources.environment import variables_for_child

_CODE = Path(__file__).parents[2]
_KEY = "killed"
_QUESTION = "open a connection and read the answer"
#: Seconds a run may take to repair what a kill left; the first build of the copy has no limit.
_REPAIR_S = 300
#: Seconds in which children of a killed process must have noticed.
_ORPHANS_S = 10
#: Asks one open index over and over; every answer must be the first one.
_LONG_LIVED = """
import sys
from pathlib import Path
from assets_defs.opening import open_index
from pipelines.retrieval import Query
from resources.environment import Environment

opened = open_index(Environment(Path(sys.argv[1])), [])
first = None
print("opened", flush=True)
while not Path(sys.argv[2]).exists():
    answer = [(hit.chunk_id, hit.score, hit.excerpt) for hit in opened.searcher.search(Query(sys.argv[3])).hits]
    first = first or answer
    assert answer == first, "another answer from the same generation"
    print("asked", flush=True)
"""


@dataclass(slots=True)
class Round:
    """What one kill did. `queries` counts the processes that asked meanwhile."""

    number: int
    after_s: float
    outcome: str  # "killed", or "ended" where the run was quicker
    queries: int = 0
    faults: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Questions:
    """One process per query, until it is told to stop. `answers` has exit code, stdout and stderr of each."""

    folder: Path
    answers: list[tuple[int, bytes, bytes]] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def ask_on(self) -> None:
        while not self.stop.is_set():
            done = subprocess.run(
                _strata("query", _QUESTION, "--json"), cwd=self.folder, env=_env(), capture_output=True
            )
            self.answers.append((done.returncode, done.stdout, done.stderr))


def _strata(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "assets_defs.command", *arguments]


def _env() -> dict[str, str]:
    return variables_for_child(
        {"PYTHONPATH": str(_CODE), "STRATA_HOME": None, "STRATA_CONFIG": None, "DAGSTER_HOME": None}
    )


def _run(folder: Path, *arguments: str, timeout: float | None = None) -> dict[str, Any]:
    done = subprocess.run(
        _strata(*arguments), cwd=folder, env=_env(), capture_output=True, timeout=timeout, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{arguments} ended with {done.returncode}: {done.stderr.decode()[-2_000:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _edit(repo: Path, chance: random.Random, round_number: int) -> None:
    """Append a line to six files, add a file, and remove the one that was added three rounds before."""
    files = sorted(path for path in repo.rglob("*") if path.suffix in (".py", ".go", ".c", ".md", ".ts", ".java"))
    files = [path for path in files if path.is_file() and not {".git", ".strata"} & set(path.parts)]
    for path in chance.sample(files, min(6, len(files))):
        with path.open("a") as file:
            file.write(f"\n// edit {round_number} of {path.name}\n")
    (repo / f"added_{round_number}.py").write_text(f"def added_{round_number}():\n    return {round_number}\n")
    (repo / f"added_{round_number - 3}.py").unlink(missing_ok=True)


def _children(process: int) -> set[int]:
    """Name all processes below one, from /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process}


def _alive(processes: set[int]) -> set[int]:
    def running(process: int) -> bool:
        try:
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    return {process for process in processes if running(process)}


def _kill(repo: Path, number: int, after_s: float) -> Round:
    """Start a re-index, kill its main process, and see that its children end by themselves."""
    process = subprocess.Popen(
        _strata("index", ".", "--json"), cwd=repo, env=_env(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(after_s)
    children = _children(process.pid)
    outcome = "killed" if process.poll() is None else "ended"
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = Round(number, after_s, outcome)
    deadline = time.monotonic() + _ORPHANS_S
    while (left := _alive(children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    done.faults += [f"{len(left)} processes outlived it"] if left else []
    return done


def _verify(store: ArtifactStore, state: Round) -> None:
    """See that every artifact in its place is whole, and that no lock is held."""
    for ref in store.artifacts(_KEY):
        store.verify(ref)
    for ref in store.heads(_KEY):
        store.open(ref)
    if holder := writer_of(store, _KEY):
        state.faults.append(f"locked by {holder}")


def _judge(answers: Sequence[tuple[int, bytes, bytes]], published: set[str], state: Round) -> None:
    """See that every query was answered by one published generation."""
    state.queries = len(answers)
    for code, output, errors in answers:
        if code != 0:
            state.faults.append(f"a query ended with {code}: {errors.decode()[-200:]}")
        elif (generation := json.loads(output)["generation"]) not in published:
            state.faults.append(f"an answer came from {generation}, which was never published")


@contextmanager
def _asked_all_the_while(repo: Path, scratch: Path) -> Iterator[Callable[[], int]]:
    """Run a process that asks one open index until the end; yield what tells how often it has asked."""
    stop = scratch / "stop"
    command = [sys.executable, "-c", _LONG_LIVED, str(repo), str(stop), _QUESTION]
    with (scratch / "long.out").open("w+") as output:
        process = subprocess.Popen(command, cwd=repo, env=_env(), stdout=output, stderr=subprocess.STDOUT)
        path = Path(output.name)
        while "opened" not in path.read_text() and process.poll() is None:
            time.sleep(0.1)
        try:
            yield lambda: path.read_text().count("asked")
        finally:
            stop.touch()
            if process.wait(timeout=60):
                raise RuntimeError(f"the process with an open index failed: {path.read_text()[-2_000:]}")


def _rounds(repo: Path, kills: int, seed: int) -> Iterator[Round]:
    store, chance = ArtifactStore(repo / ".strata"), random.Random(seed)
    served = store.pointer(_KEY)
    published = {served.generation} if served else set()
    _edit(repo, chance, 0)
    began = time.perf_counter()
    published.add(_run(repo, "index", ".", "--json")["generation"])
    duration = time.perf_counter() - began
    for number in range(1, kills + 1):
        _edit(repo, chance, number)
        questions = Questions(repo)
        asking = threading.Thread(target=questions.ask_on)
        asking.start()
        try:
            state = _kill(repo, number, chance.uniform(0, duration))
            pointer = store.pointer(_KEY)
            published |= {pointer.generation} if pointer else set()
            _verify(store, state)
            _repair(repo, store, published, state)
        finally:
            questions.stop.set()
            asking.join()
        _judge(questions.answers, published, state)
        yield state


def _repair(repo: Path, store: ArtifactStore, published: set[str], state: Round) -> None:
    outcome = _run(repo, "index", ".", "--json", timeout=_REPAIR_S)
    published.add(outcome["generation"])
    if not outcome["published"]:
        state.faults.append("the next run did not publish")
    if not _run(repo, "check", "--json")["passed"]:
        state.faults.append("a check fails after the repair")
    # a run that has nothing to do takes no lock, and only the holder of the lock may clear
    left = list((store.root / "tmp").glob("*/*"))
    if left and state.outcome == "killed" and outcome["buckets"]["computed"]:
        state.faults.append(f"{len(left)} temporary folders are left")


def _built_anew(repo: Path, scratch: Path) -> str:
    """Return the generation of a build of the same content from nothing, in another folder."""
    fresh = scratch / "elsewhere"
    shutil.copytree(repo, fresh, symlinks=True, ignore=shutil.ignore_patterns(".strata"))
    generation: str = _run(fresh, "index", ".", "--repo", _KEY, "--json")["generation"]
    return generation


def _show(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _all_rounds(source: Path, scratch: Path, kills: int, seed: int) -> bool:
    """Do all rounds on a copy, show each, and tell whether everything held."""
    repo, held = scratch / "repo", True
    shutil.copytree(source, repo, symlinks=True, ignore=shutil.ignore_patterns(".strata"))
    _run(repo, "index", ".", "--repo", _KEY, "--json")
    with _asked_all_the_while(repo, scratch) as asked:
        before = asked()
        for state in _rounds(repo, kills, seed):
            row = f"{state.number:>4}  {state.after_s:>7.2f}  {state.outcome:8}{state.queries:>7}"
            _show(f"{row}  {asked() - before:>10}  {'; '.join(state.faults) or '-'}")
            before, held = asked(), held and not state.faults
    served = ArtifactStore(repo / ".strata").pointer(_KEY)
    equal = served is not None and served.generation == _built_anew(repo, scratch)
    _show(f"the last generation is that of a build from nothing: {'yes' if equal else 'NO'}")
    return held and equal


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repo", type=Path)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    options = parser.parse_args()
    _show(f"seed {options.seed}")
    _show(f"{'kill':>4}  {'after s':>7}  {'outcome':8}{'queries':>7}  {'long-lived':>10}  faults")
    with tempfile.TemporaryDirectory(prefix="strata-kills-") as name:
        return int(not _all_rounds(options.repo, Path(name), options.kills, options.seed))


if __name__ == "__main__":
    sys.exit(main())
