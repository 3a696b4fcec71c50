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
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from pipelines.discover.binding import Binding, Outcome, bind_calls
from pipelines.discover.files import list_files
from pipelines.discover.parse import ParsedFile, parse_file
from pipelines.discover.tree import open_tree
from pipelines.formats import CALLS_TABLE, FILES_TABLE, IMPORTS_TABLE, SYMBOLS_TABLE, TYPINGS_TABLE
from pipelines.settings import IndexSettings

_ORACLES = Path(__file__).parent / "oracles"
_TABLES = {
    "symbols": SYMBOLS_TABLE,
    "calls": CALLS_TABLE,
    "imports": IMPORTS_TABLE,
    "typings": TYPINGS_TABLE,
}
_IDS = {"symbol_id", "caller", "owner", "bloom"}
Place = tuple[str, int, int]  # path, line, column in bytes


class Node(NamedTuple):
    path: str
    name: str
    kind: str
    first: int
    last: int


@dataclass
class Repository:
    """A parsed repository in the shape of one bucket."""

    files: list[tuple[str, str]] = field(default_factory=list)
    tables: dict[str, pa.Table] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    sites: dict[Place, tuple[int, tuple[Any, ...]]] = field(default_factory=dict)  # -> caller node, key of its call

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        table = self.tables[name.removesuffix(".parquet")]
        return table.select(columns) if columns else table


def read(root: Path, languages: frozenset[str]) -> Repository:
    listing = list_files(root, "bench", IndexSettings())
    parsed: list[tuple[str, str, ParsedFile, bytes]] = []
    with open_tree(root, listing) as tree:
        for file in listing.files:
            if file.skip_reason is not None:
                continue
            wanted = not languages or file.language in languages
            data = tree.read(file) if wanted else b""
            rows = parse_file("bench", file.path, file.language, data) if wanted else ParsedFile()
            parsed.append((file.path, file.language, rows, data))
    repository = Repository([(path, language) for path, language, _, _ in parsed])
    for name, schema in _TABLES.items():
        rows = [[path, *row] for path, _, found, _ in parsed for row in getattr(found, name)]
        values = list(zip(*rows, strict=True)) or [()] * len(schema.names)
        columns = dict(zip(_order(schema), map(list, values), strict=True))
        for column in _IDS & columns.keys():
            columns[column] = [None if value is None else bytes.fromhex(value) for value in columns[column]]
        repository.tables[name] = pa.Table.from_pydict(columns, schema)
    repository.tables["symbols"] = repository.tables["symbols"].sort_by("symbol_id")
    paths, languages_of = zip(*repository.files, strict=True)
    repository.tables["files"] = pa.table({"path": paths, "language": languages_of})
    symbols = repository.tables["symbols"]
    shown = ("path", "qualified_name", "kind", "start_line", "end_line")
    repository.nodes = [Node(*row) for row in zip(*(symbols[name].to_pylist() for name in shown), strict=True)]
    numbers = {identity: node for node, identity in enumerate(symbols["symbol_id"].to_pylist())}
    for path, _, found, data in parsed:
        starts = [0, *(place + 1 for place, byte in enumerate(data) if byte == 10)]
        for caller, name, receiver, line, start in found.calls:
            if caller is not None:
                node = numbers[bytes.fromhex(caller)]
                repository.sites[path, line, start - starts[line - 1]] = node, (node, name, receiver)
    return repository


def _order(schema: pa.Schema) -> list[str]:
    """Return the columns of a table as parsed rows have them: the path first."""
    return ["path", *(name for name in schema.names if name != "path")]


def outcomes(repository: Repository) -> dict[tuple[Any, ...], Outcome]:
    found = {}
    for calls in bind_calls([repository], lambda: None):
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
        _, key = repository.sites[place]
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
    repository = read(root, frozenset({"python"}) if options.jedi else frozenset())
    if options.jedi:
        sites = sorted(repository.sites)
        drawn = sorted(random.Random(1).sample(sites, min(options.sites, len(sites))))
        answers = ask_jedi(options.jedi, root, drawn)
    else:
        rows = json.loads(options.answers.read_text())
        answers = {(path, line, column): answer for path, line, column, answer in rows}
        answers = {place: answers.get(place) for place in repository.sites if place in answers}
    tally = compare(repository, answers)
    sys.stdout.write("\n".join(report(tally)) + "\n")
    for kind, examples in sorted(tally.examples.items()):
        for example in random.Random(1).sample(examples, min(options.show, len(examples))):
            sys.stdout.write(f"{kind:24} {example}\n")


if __name__ == "__main__":
    main()
