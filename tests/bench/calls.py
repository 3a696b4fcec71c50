"""Call edges against a tool that knows types, site by site: python -m tests.bench.calls REPO --answers FILE.

For each call site: where does the tool say that the called name is defined? An edge is right if that line is in the
definition that it leads to. Sites of which the tool knows nothing are counted and left out. Precision is by strategy;
recall is the share of the sites resolved inside the repository of which our surest edge is right.

The tools are programs of tests/bench/oracles: jedi_calls.py is asked with the sites (--jedi PYTHON), the others answer
for all calls:

    go run tests/bench/oracles/calls.go REPO > FILE
    node tests/bench/oracles/calls.mjs REPO node_modules/typescript > FILE
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pipelines.artifacts import Artifact, ArtifactRef, Target
from pipelines.discover import ParserPool, build_symbols
from pipelines.discover.graph.binding import Binding, Outcome, bind_calls
from pipelines.discover.listing.files import list_files
from pipelines.discover.tree import open_tree
from pipelines.formats import SYMBOLS
from pipelines.progress import Silent
from pipelines.settings import IndexSettings
from pipelines.store import ArtifactStore

_ORACLES = Path(__file__).parent / "oracles"
Place = tuple[str, int, int]  # path, line, column in bytes


class Node(NamedTuple):
    path: str
    name: str
    kind: str
    first: int
    last: int


@dataclass
class Repository:
    """The symbols of a repository as one bucket."""

    symbols: Artifact
    nodes: list[Node] = field(default_factory=list)
    sites: dict[Place, tuple[int, str, str | None]] = field(default_factory=dict)  # -> caller, name, receiver


def read(root: Path, store_folder: Path) -> Repository:
    store = ArtifactStore(store_folder)
    store.initialise()
    listing = list_files(root, "measured", IndexSettings())
    target = Target(ArtifactRef("measured", SYMBOLS.name, "0", "measured"), "measured")
    with open_tree(root, listing) as tree, ParserPool(IndexSettings()) as pool:
        build_symbols(store, target, listing.files, tree, pool, Silent())
    repository = Repository(store.open(target.ref))
    symbols = repository.symbols.table("symbols.parquet")
    shown = ("path", "qualified_name", "kind", "start_line", "end_line")
    repository.nodes = [Node(*row) for row in zip(*(symbols[name].to_pylist() for name in shown), strict=True)]
    numbers = {identity: node for node, identity in enumerate(symbols["symbol_id"].to_pylist())}
    starts: dict[str, list[int]] = {}
    for call in repository.symbols.table("calls.parquet").to_pylist():
        path = call["path"]
        if path not in starts:
            starts[path] = [0, *(place + 1 for place, byte in enumerate((root / path).read_bytes()) if byte == 10)]
        if call["caller"] is not None and call["line"] <= len(starts[path]):
            place = path, call["line"], call["start_byte"] - starts[path][call["line"] - 1]
            repository.sites[place] = numbers[call["caller"]], call["name"], call["receiver"]
    return repository


def outcomes(repository: Repository) -> dict[tuple[int, str, str | None], Outcome]:
    found = {}
    for calls in bind_calls([repository.symbols], lambda: None):
        names, receivers = calls.columns["name"].to_pylist(), calls.columns["receiver"].to_pylist()
        for caller, name, receiver, place in zip(
            calls.caller.tolist(), names, receivers, calls.place.tolist(), strict=True
        ):
            found[caller, name, receiver] = calls.kinds[place]
    return found


def ask_jedi(python: str, root: Path, sites: list[Place]) -> dict[Place, Any]:
    question = json.dumps({"root": str(root), "sites": sites})
    command = [python, str(_ORACLES / "jedi_calls.py")]
    answer = subprocess.run(command, input=question, capture_output=True, text=True, check=True).stdout
    return dict(zip(sites, json.loads(answer), strict=True))


@dataclass
class Tally:
    """Figures by strategy; `examples` of what is wrong or missed."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    inside: int = 0
    found: int = 0
    missed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


class Judge:
    """Tells whether an edge leads to the place that the tool names."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self._by_path: dict[str, list[int]] = defaultdict(list)
        for number, node in enumerate(nodes):
            self._by_path[node.path].append(number)

    def at(self, path: str, line: int) -> int | None:
        """Return the innermost definition on a line."""
        around = [n for n in self._by_path.get(path, ()) if self.nodes[n].first <= line <= self.nodes[n].last]
        return min(around, key=lambda n: (self.nodes[n].last - self.nodes[n].first, -self.nodes[n].first), default=None)

    def agrees(self, node: int, answer: list[list[Any]]) -> bool:
        mine = self.nodes[node]
        for path, line in answer:
            if path != mine.path:
                continue
            if (found := self.at(path, line)) is None:
                continue
            other = self.nodes[found]
            if found == node or (other.name == mine.name and mine.first <= line <= mine.last):
                return True
            holder = mine.name.rpartition(".")[0]
            if holder == other.name and other.kind not in ("function", "method"):  # a class and its constructor
                return True
            if mine.kind not in ("function", "method", "macro") and other.name.rpartition(".")[0] == mine.name:
                return True
        return False


def compare(repository: Repository, answers: dict[Place, Any]) -> Tally:
    bound, judge, tally = outcomes(repository), Judge(repository.nodes), Tally()
    for place, answer in answers.items():
        key = repository.sites[place]
        outcome = bound[key]
        strategy = outcome.strategy.name.lower() if isinstance(outcome, Binding) else str(outcome)
        if answer is None:
            tally.unknown[strategy] += 1
            continue
        inside = [item for item in answer if judge.at(*item) is not None] if answer != "outside" else []
        if answer != "outside" and not inside:
            tally.unknown[strategy] += 1
            continue
        said = f"{place[0]}:{place[1]} {key[2] or ''}.{key[1]}"
        right = isinstance(outcome, Binding) and bool(inside) and any(judge.agrees(n, inside) for n in outcome.nodes)
        if isinstance(outcome, Binding):
            (tally.right if right else tally.wrong)[strategy] += 1
            if not right:
                names = ", ".join(f"{judge.nodes[n].path}:{judge.nodes[n].name}" for n in outcome.nodes)
                tally.examples[f"wrong {strategy}"].append(f"{said} -> {names}; is {answer}")
        if inside:
            tally.inside += 1
            sure = right and isinstance(outcome, Binding) and len(outcome.nodes) == 1
            tally.found += sure
            if not right:
                tally.missed[strategy] += 1
                tally.examples[f"missed {strategy}"].append(f"{said}; is {answer}")
    return tally


def report(tally: Tally) -> Iterator[str]:
    yield f"{'strategy':18}{'judged':>8}{'right':>8}{'precision':>11}{'unknown':>9}"
    for name in sorted(
        tally.right | tally.wrong, key=lambda item: -(tally.right[item] / (tally.right[item] + tally.wrong[item]))
    ):
        judged = tally.right[name] + tally.wrong[name]
        yield f"{name:18}{judged:8}{tally.right[name]:8}{tally.right[name] / judged:11.3f}{tally.unknown[name]:9}"
    recall = tally.found / max(1, tally.inside)
    yield f"recall {recall:.3f} of {tally.inside} sites; unknown to the tool {tally.unknown.total()}"
    yield "missed: " + ", ".join(f"{name} {count}" for name, count in tally.missed.most_common())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repo", type=Path)
    parser.add_argument("--jedi", help="the interpreter of an environment that has jedi")
    parser.add_argument("--answers", type=Path, help="what calls.go or calls.mjs wrote")
    parser.add_argument("--sites", type=int, default=2_000, help="sites that are drawn for jedi")
    parser.add_argument("--show", type=int, default=0, help="examples of each kind of difference")
    options = parser.parse_args()
    root = options.repo.resolve()
    with tempfile.TemporaryDirectory() as folder:
        repository = read(root, Path(folder))
        answers = _answers(options, root, repository)
        tally = compare(repository, answers)
    sys.stdout.write("\n".join(report(tally)) + "\n")
    for kind, examples in sorted(tally.examples.items()):
        for example in random.Random(1).sample(examples, min(options.show, len(examples))):
            sys.stdout.write(f"{kind:24} {example}\n")


def _answers(options: argparse.Namespace, root: Path, repository: Repository) -> dict[Place, Any]:
    if options.jedi:
        sites = sorted(place for place in repository.sites if place[0].endswith((".py", ".pyi")))
        drawn = sorted(random.Random(1).sample(sites, min(options.sites, len(sites))))
        return ask_jedi(options.jedi, root, drawn)
    rows = json.loads(options.answers.read_text())
    known = {(path, line, column): answer for path, line, column, answer in rows}
    return {place: known[place] for place in repository.sites if place in known}


if __name__ == "__main__":
    main()
