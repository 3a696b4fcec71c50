"""Is what a name stands for the first hit for that name? A command: python -m tests.bench.exact_names REPO ...

Each REPO is an indexed repository, by path or key, with its checkout. universal-ctags says what it defines, so that the
oracle is another program than the one that is measured; names are drawn from the files that are no tests, in the order
of their hashes, evenly over functions, types, constants, fields and members of enumerations. A hit is right where ctags
has a definition of that very name, or where the hit is one: any of them may be meant. `line` counts the first hits that
show the line of a definition.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from assets_defs.host import StrataHost
from pipelines.records import Hit, SymbolKind
from pipelines.retrieval import Query, Searcher
from pipelines.roles import is_test_path
from resources.environment import Environment
from tests.bench.measure import circumstances

NAMES = 50
DEPTH = 3
MIN_CHARS = 3
_KINDS = {
    "functions": "function func method methodSpec generator",
    "types": "class interface struct union enum typedef type talias alias trait annotation",
    "constants": "macro constant const",
    "fields": "member field property",
    "enum members": "enumerator enumConstant",
}
GROUPS: Mapping[str, frozenset[str]] = {group: frozenset(kinds.split()) for group, kinds in _KINDS.items()}
#: How ctags calls the languages whose figures make sense: what it knows well.
LANGUAGES = "C,C++,C#,Go,Java,JavaScript,TypeScript,Python,Ruby,Rust,PHP"


class Tag(NamedTuple):
    """One definition of ctags."""

    group: str
    name: str
    path: str
    line: int


class Figures(NamedTuple):
    """How many names were asked, and of how many the definition stood first, in the first three, with its line."""

    asked: int
    first: int
    in_three: int
    line: int


def read_tags(root: Path, paths: Sequence[str]) -> list[Tag]:
    """Return what ctags finds in some files of a repository."""
    command = [
        *("ctags", "--options=NONE", "--output-format=json", "--fields=NFnKsP", "--sort=no", "-f", "-", "-L", "-"),
        f"--languages={LANGUAGES}",
    ]
    done = subprocess.run(command, cwd=root, input="\n".join(paths), capture_output=True, text=True, check=True)
    found = []
    for text in done.stdout.splitlines():
        item = json.loads(text)
        group = _group(item) if item["_type"] == "tag" else ""
        if group:
            found.append(Tag(group, item["name"], item["path"], item["line"]))
    return found


def _group(item: Mapping[str, str]) -> str:
    kind, scope = item["kind"], item.get("scopeKind", "")
    if item["path"].endswith((".py", ".rb")):  # there a method is a member, and a variable what it is written as
        if kind == "member":
            return "functions"
        if kind == "variable":
            return "fields" if scope == "class" else "constants" if not scope and item["name"].isupper() else ""
    if kind == "constant" and item["pattern"][2:3].isspace():
        return ""  # a local variable
    return next((group for group, kinds in GROUPS.items() if kind in kinds), "")


def draw(tags: Sequence[Tag], count: int) -> list[Tag]:
    """Return names of each group in turn, the same for the same tags."""
    by_group: dict[str, list[Tag]] = defaultdict(list)
    taken: set[str] = set()
    for tag in sorted(tags, key=lambda item: (hashlib.blake2b(f"{item.group} {item.name}".encode()).digest(), item)):
        usable = len(tag.name) >= MIN_CHARS and tag.name.isidentifier() and not tag.name.startswith("__anon")
        if usable and tag.name not in taken:
            taken.add(tag.name)
            by_group[tag.group].append(tag)
    drawn: list[Tag] = []
    while len(drawn) < count and any(by_group.values()):
        for group in GROUPS:
            if by_group[group] and len(drawn) < count:
                drawn.append(by_group[group].pop(0))
    return drawn


def measure(searcher: Searcher, tags: Sequence[Tag], drawn: Sequence[Tag], show: bool) -> dict[str, Figures]:
    """Ask for each drawn name and return the figures by group."""
    places: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for tag in tags:
        places[tag.name].add((tag.path, tag.line))
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for tag in drawn:
        hits = searcher.search(Query(tag.name, limit=DEPTH)).hits
        right = [_is_right(hit, tag.name, places[tag.name]) for hit in hits]
        line = (
            bool(right)
            and right[0]
            and (_is_named(hits[0], tag.name) or (hits[0].path, hits[0].line) in places[tag.name])
        )
        for number, value in enumerate((True, right[:1] == [True], any(right), line)):
            counts[tag.group][number] += value
        if show and not line:
            seen = ", ".join(f"{hit.path}:{hit.line} {hit.kind} {hit.symbol}" for hit in hits)
            rank = right.index(True) + 1 if any(right) else "-"
            sys.stdout.write(f"  {rank} {tag.name} ({tag.group}) {tag.path}:{tag.line}  found: {seen}\n")
    return {group: Figures(*values) for group, values in counts.items()}


def _is_right(hit: Hit, name: str, places: Set[tuple[str, int]]) -> bool:
    return _is_named(hit, name) or any(
        hit.path == path and hit.start_line <= line <= hit.end_line for path, line in places
    )


def _is_named(hit: Hit, name: str) -> bool:
    return hit.symbol.rpartition(".")[2] == name and hit.kind in frozenset(SymbolKind)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure each repository and print one table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.exact_names")
    parser.add_argument("repositories", nargs="+", metavar="REPO")
    parser.add_argument("--names", type=int, default=NAMES)
    parser.add_argument("--show", action="store_true", help="show what was not right at once")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args(argv)
    host = StrataHost(Environment.read())
    found: dict[str, dict[str, Figures]] = {}
    for name in arguments.repositories:
        (status,) = host.status([name])
        opened = host.open([name])
        root = Path(status.path)
        labels = [generation.rows.labels["path"] for generation in opened.searcher.generations]
        paths = sorted(path for label in labels for path in label.values() if not is_test_path(path))
        tags = read_tags(root, paths)
        found[status.repo] = measure(opened.searcher, tags, draw(tags, arguments.names), arguments.show)
    for line in _table(found):
        sys.stdout.write(line + "\n")
    if arguments.json:
        content = {repo: {group: item._asdict() for group, item in rows.items()} for repo, rows in found.items()}
        method = "names of universal-ctags, asked as they are; see tests/bench/exact_names.py"
        result = {"method": method, **circumstances(), "figures": content}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0


def _table(found: Mapping[str, Mapping[str, Figures]]) -> Iterator[str]:
    yield f"{'repository':<14}{'names':<14}{'asked':>6}{'rank 1':>8}{'rank 1-3':>10}{'line':>8}"
    for repo, rows in found.items():
        total = Figures(*map(sum, zip(*rows.values(), strict=True)))
        for group, item in (*rows.items(), ("all", total)):
            shares = [f"{value / item.asked:.0%}" for value in (item.first, item.in_three, item.line)]
            yield f"{repo:<14}{group:<14}{item.asked:>6}{shares[0]:>8}{shares[1]:>10}{shares[2]:>8}"


if __name__ == "__main__":
    sys.exit(main())
