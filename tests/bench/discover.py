"""The symbols stage against a bare parse of the same files: python -m tests.bench.discover [REPOSITORY] [--sample N].

The bare parse reads each file and parses it with its grammar, nothing else, in as many processes as the stage has
parsers. Every Nth file by path hash is taken, so that a sample is spread over the whole repository.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Self

from tree_sitter import Parser, QueryCursor

from pipelines.bloom import SpanBits
from pipelines.decode import NotText
from pipelines.discover import ParserPool, build_symbols, list_files, open_tree
from pipelines.discover.listing.git import blob_id
from pipelines.discover.parsing.grammars import CompiledLanguage
from pipelines.discover.parsing.languages import LANGUAGES, grammar_for
from pipelines.discover.parsing.parse import parse_file
from pipelines.discover.parsing.readable import readable
from pipelines.discover.parsing.source import Source
from pipelines.discover.parsing.symbols import outline
from pipelines.discover.processes.packing import pack_rows
from pipelines.discover.processes.unpacking import COLUMN_TYPES
from pipelines.discover.secrets import find_secrets
from pipelines.plan import BucketPlan, Inputs, make_plan
from pipelines.progress import Silent
from pipelines.records import ListedFile, Listing, SourceTree
from pipelines.settings import IndexSettings, Settings
from pipelines.store import ArtifactStore

#: Seconds between two looks at the memory of all processes.
_LOOK_S = 0.5
#: Files that the parts are measured on, one by one in this process.
_PART_FILES = 1_500


class Memory:
    """The most memory that this process and all below it have had together: proportional set size, in MB."""

    def __init__(self) -> None:
        self.peak = 0.0
        self.cpu = 0.0  # seconds that looking took
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK_S):
            self.peak = max(self.peak, sum(map(_proportional_mb, _tree("self"))))
            self.cpu = time.thread_time()


def _tree(pid: str) -> Iterator[str]:
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _tree(child)
    except OSError:
        return


def _proportional_mb(pid: str) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1_024 for line in lines if line.startswith("Pss:")), 0.0)


_parsers: dict[str, Parser] = {}


def parse_bare(job: tuple[str, str]) -> tuple[int, float]:
    """Read and parse one file; return its size and the CPU seconds."""
    path, language = job
    began = time.process_time()
    data = Path(path).read_bytes()
    if language in LANGUAGES:
        if language not in _parsers:
            _parsers[language] = CompiledLanguage(LANGUAGES[language])._parser
        _parsers[language].parse(data)
    return len(data), time.process_time() - began


def spent() -> float:
    """Return the CPU seconds of this process and of all that it has waited for."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


@contextmanager
def timed(into: dict[str, float], name: str) -> Iterator[None]:
    began = time.process_time()
    yield
    into[name] = into.get(name, 0.0) + time.process_time() - began


def parts(root: Path, files: Sequence[ListedFile]) -> Mapping[str, float]:
    """Return the CPU seconds of each part of the work of one parser process."""
    seconds: dict[str, float] = {}
    compiled = {name: CompiledLanguage(LANGUAGES[name]) for name in LANGUAGES}
    gc.disable()
    for file in files:
        data = (root / file.path).read_bytes()
        with timed(seconds, "decode"):
            text = readable(file.language, data)
        if isinstance(text, NotText):
            continue
        with timed(seconds, "secrets"):
            secrets = find_secrets(text.text)
        if file.language in LANGUAGES:
            with timed(seconds, "source"):
                source = Source(text.text, [(span.start_byte, span.end_byte) for span in secrets])
                language = compiled[grammar_for(file.language, file.path, text.text)]
            with timed(seconds, "parse of the file"):
                language._parser.parse(data)
            _parts_of_outline(seconds, file, source, language)
        with timed(seconds, "all of it"):
            parsed = parse_file("bench", file.path, file.language, data)
        with timed(seconds, "pack"):
            for table, types in COLUMN_TYPES.items():
                pack_rows(getattr(parsed, table), types)
    gc.enable()
    return seconds


def _parts_of_outline(seconds: dict[str, float], file: ListedFile, source: Source, language: CompiledLanguage) -> None:
    visible = source.data
    with timed(seconds, "hide"):
        if language.language.visible is not None:
            visible = language.language.visible(source.data)
    with timed(seconds, "parse"):
        root = language._parser.parse(visible).root_node
    with timed(seconds, "query"):
        QueryCursor(language._query).matches(root)
    with timed(seconds, "outline"):
        found = outline(source, language, file.path)
    with timed(seconds, "sketches"):
        SpanBits(source.data).of_all([(item.start, item.end) for item in found.definitions])


class Changed:
    """A tree with one line more in one of its files."""

    def __init__(self, tree: SourceTree, path: str) -> None:
        self._tree = tree
        self._path = path

    def read(self, file: ListedFile) -> bytes:
        if file.path != self._path:
            return self._tree.read(file)
        return self.data

    data = b""


def build(store: ArtifactStore, buckets: Sequence[BucketPlan], tree: SourceTree, settings: IndexSettings) -> float:
    """Make the symbols of buckets and return the wall time in seconds, that of starting the parsers included."""
    began = time.perf_counter()
    with ParserPool(settings) as pool:
        for bucket in buckets:
            build_symbols(store, bucket.targets["symbols"], bucket.files, tree, pool, Silent())
    return time.perf_counter() - began


def change(listing: Listing, tree: SourceTree) -> tuple[Listing, Changed]:
    """Return a listing in which one file of middling size differs, and the tree that has it."""
    code = [file for file in listing.files if file.skip_reason is None and file.language in LANGUAGES]
    file = sorted(code, key=lambda item: item.size)[len(code) // 2]
    changed = Changed(tree, file.path)
    changed.data = tree.read(file) + b"\n"
    other = replace(file, blob_id=blob_id(changed.data, "sha1"), size=len(changed.data))
    return replace(listing, files=tuple(other if item is file else item for item in listing.files)), changed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", nargs="?", default=".", type=Path)
    parser.add_argument("--sample", type=int, default=1, help="take every Nth file (default: all)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-parts", action="store_true", help="leave out the parts of the work")
    options = parser.parse_args()
    root, settings = options.repository.resolve(), Settings(index=IndexSettings(workers=options.workers))
    began, cpu = time.perf_counter(), time.process_time()
    listing = list_files(root, "bench", settings.index)
    listed = time.perf_counter() - began, time.process_time() - cpu
    rows = [("list all files", listed[0], f"{len(listing.files)} files, {listed[1]:.2f} s CPU")]
    listing = replace(listing, files=listing.files[:: options.sample])
    files = [file for file in listing.files if file.skip_reason is None]
    jobs = [(str(root / file.path), file.language) for file in files]

    with ProcessPoolExecutor(options.workers, get_context("spawn"), initializer=gc.disable) as pool:
        list(pool.map(parse_bare, jobs[:200]))  # the processes and their grammars are there
        began = time.perf_counter()
        sizes, seconds = zip(*pool.map(parse_bare, jobs, chunksize=32), strict=True)
        bare, bare_cpu = time.perf_counter() - began, sum(seconds)
    told = f"{bare_cpu:.1f} s CPU, {len(files)} files, {sum(sizes) / 1e6:.1f} MB, {options.workers} processes"
    rows.append(("bare parse", bare, told))

    with tempfile.TemporaryDirectory() as folder, open_tree(root, listing) as tree:
        store = ArtifactStore(Path(folder))
        store.initialise()
        plan = make_plan(listing, Inputs(settings, "bench", "bench"))
        cpu, own = spent(), time.process_time()
        with Memory() as memory:
            whole = build(store, list(plan.buckets.values()), tree, settings.index)
        cpu, own = spent() - cpu - memory.cpu, time.process_time() - own - memory.cpu
        told = f"{whole / bare:.2f}x the bare parse, {cpu / bare_cpu:.2f}x its CPU, {len(files) / whole:.0f} files/s"
        rows.append(("symbols stage", whole, told))
        rows.append(("  CPU of the parent", own, f"{100 * own / cpu:.0f} % of the CPU of the stage"))
        rows.append(("memory", memory.peak, "MB of all processes together, at most"))
        other, changed = change(listing, tree)
        plan = make_plan(other, Inputs(settings, "bench", "bench"))
        again = build(store, list(plan.buckets.values()), changed, settings.index)
        rows.append(("one file changed", again, f"{100 * again / whole:.1f} % of the stage"))
    for name, value, said in rows:
        sys.stdout.write(f"{name:24}{value:10.2f}  {said}\n")
    if not options.no_parts:
        show_parts(parts(root, files[:: max(1, len(files) // _PART_FILES)]))


def show_parts(seconds: Mapping[str, float]) -> None:
    """Write the parts of the work of one parser process, as CPU time and in relation to the parse."""
    parse = seconds["parse of the file"]
    sys.stdout.write("\npart of one process     CPU s    of a bare parse\n")
    for name, value in seconds.items():
        sys.stdout.write(f"{name:20}{value:9.2f}{value / parse:12.2f}x\n")


if __name__ == "__main__":
    main()
