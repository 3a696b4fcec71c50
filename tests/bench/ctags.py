"""What Strata defines against what universal-ctags does, one by one: python -m tests.bench.ctags REPO.

Both read the same files, each as the same language. A definition is matched by file, name and place: the line that
ctags names must lie in the span that Strata gives. What only one of the two has is sorted by kind of cause. It decides
nothing by itself: ctags is wrong at times (a macro call that it takes for a function), and says so in --show.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pipelines.discover.listing.files import list_files
from pipelines.discover.parsing.languages import grammar_for
from pipelines.discover.parsing.parse import parse_file
from pipelines.discover.tree import open_tree
from pipelines.records import ListedFile, SourceTree
from pipelines.settings import IndexSettings

#: Files that one run of ctags is given.
_BATCH_FILES = 400
#: Lines that a difference shows of the source.
_SHOWN_CHARS = 100
_INSTALL = "universal-ctags with JSON output is needed: install the package universal-ctags (`ctags --list-features`)"


class Group(NamedTuple):
    """Kinds of ctags and kinds of Strata that mean the same."""

    theirs: frozenset[str]
    ours: frozenset[str]


def _group(theirs: str, ours: str) -> Group:
    return Group(frozenset(theirs.split()), frozenset(ours.split()))


_TYPE_KINDS = "class interface struct trait enum type"
_C_GROUPS = {
    "functions": _group("function", "function method"),
    "types": _group("class struct union enum typedef", _TYPE_KINDS),
    "macros": _group("macro", "macro"),
}
_SCRIPT_GROUPS = {
    "functions": _group("function generator method getter setter", "function method"),
    "types": _group("class interface enum alias", _TYPE_KINDS),
    "constants": _group("constant", "constant"),
}
#: Language of Strata -> language of ctags, and which kinds of the two are compared.
_SPOKEN: dict[str, tuple[str, dict[str, Group]]] = {
    "c": ("C", _C_GROUPS),
    "cpp": ("C++", _C_GROUPS),
    "csharp": (
        "C#",
        {
            "functions": _group("method", "function method"),
            "types": _group("class enum interface struct typedef", _TYPE_KINDS),
        },
    ),
    "elixir": (
        "Elixir",
        {
            "functions": _group("function callback delegate operator test", "function method"),
            "types": _group("module protocol type", _TYPE_KINDS),
            "macros": _group("macro guard", "macro"),
        },
    ),
    "go": (
        "Go",
        {
            "functions": _group("func methodSpec", "function method"),
            "types": _group("interface struct type talias", _TYPE_KINDS),
            "constants": _group("const", "constant"),
        },
    ),
    "haskell": (
        "Haskell",
        {"functions": _group("function", "function method"), "types": _group("type constructor", _TYPE_KINDS)},
    ),
    "java": (
        "Java",
        {
            "functions": _group("method", "function method"),
            "types": _group("annotation class enum interface", _TYPE_KINDS),
        },
    ),
    "javascript": ("JavaScript", _SCRIPT_GROUPS),
    "kotlin": (
        "Kotlin",
        {
            "functions": _group("method", "function method"),
            "types": _group("class interface object typealias", _TYPE_KINDS),
        },
    ),
    "lua": ("Lua", {"functions": _group("function", "function method")}),
    "php": (
        "PHP",
        {
            "functions": _group("function", "function method"),
            "types": _group("class interface trait", _TYPE_KINDS),
            "constants": _group("define", "constant"),
        },
    ),
    "python": (
        "Python",
        {"functions": _group("function member", "function method"), "types": _group("class", _TYPE_KINDS)},
    ),
    "ruby": (
        "Ruby",
        {
            "functions": _group("method singletonMethod alias accessor", "function method"),
            "types": _group("class module", _TYPE_KINDS),
            "constants": _group("constant", "constant"),
        },
    ),
    "rust": (
        "Rust",
        {
            "functions": _group("function method", "function method"),
            "types": _group("interface struct enum typedef", _TYPE_KINDS),
            "macros": _group("macro", "macro"),
        },
    ),
    "shell": ("Sh", {"functions": _group("function", "function method")}),
    "scala": (
        "Scala",
        {
            "functions": _group("method", "function method"),
            "types": _group("class interface object type", _TYPE_KINDS),
        },
    ),
    "typescript": ("TypeScript", _SCRIPT_GROUPS),
    "tsx": ("TypeScript", _SCRIPT_GROUPS),
}


@dataclass(frozen=True, slots=True)
class Tag:
    """One definition; `last` is its last line where that is known."""

    name: str
    kind: str
    first: int
    last: int

    def within(self, span: Tag) -> bool:
        return span.first <= self.first <= span.last


@dataclass(slots=True)
class Difference:
    """What only one side has in one file."""

    cause: str
    path: str
    tag: Tag

    def __str__(self) -> str:
        return f"{self.path}:{self.tag.first} {self.tag.kind} {self.tag.name}"


@dataclass(slots=True)
class Score:
    """The comparison of one language."""

    files: int = 0
    error_files: int = 0
    error_nodes: int = 0
    theirs: int = 0
    ours: int = 0
    matched: int = 0
    renamed: int = 0
    differences: list[Difference] = field(default_factory=list)


@dataclass(slots=True)
class Parsed:
    """What Strata finds in one file."""

    tags: list[Tag]
    error_nodes: int
    skipped: str


def main(argv: Sequence[str] | None = None) -> int:
    """Print one table for each language; exit 0, or 2 where ctags cannot be used."""
    options = _options(argv)
    if not _has_ctags(options.ctags):
        sys.stderr.write(f"{options.ctags}: {_INSTALL}\n")
        return 2
    listing = list_files(options.repo, "measured", IndexSettings())
    spoken = {options.language} if options.language else set(_SPOKEN)
    # A header of C++ is listed as one of C.
    spoken |= {"c"} if "cpp" in spoken else set()
    wanted = [file for file in listing.files if file.language in spoken and file.skip_reason is None]
    files = wanted[options.offset :: options.sample]
    scores: dict[str, Score] = defaultdict(Score)
    with open_tree(options.repo, listing) as tree:
        for start in range(0, len(files), _BATCH_FILES):
            _compare(files[start : start + _BATCH_FILES], tree, options, scores)
    for language in sorted(scores):
        _show(language, scores[language], options)
    return 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repo", type=Path)
    parser.add_argument("--language", help="the one language of Strata that is compared")
    parser.add_argument("--group", action="append", help="functions (default), types, macros, constants; repeatable")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every Nth file by path hash")
    parser.add_argument("--offset", type=int, default=0, help="the first file of the sample")
    parser.add_argument("--show", metavar="CAUSE", help="list the differences whose cause holds this text")
    parser.add_argument("--limit", type=int, default=3, help="samples of each cause; with --show, 50 of them")
    parser.add_argument("--ctags", default="ctags", help="the program")
    return parser.parse_args(argv)


def _has_ctags(program: str) -> bool:
    try:
        features = subprocess.run([program, "--list-features"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return False
    return features.returncode == 0 and any(line.split()[:1] == ["json"] for line in features.stdout.splitlines())


def _compare(
    files: Sequence[ListedFile], tree: SourceTree, options: argparse.Namespace, scores: dict[str, Score]
) -> None:
    """Add one batch of files to the scores."""
    groups = options.group or ["functions"]
    by_language: dict[str, dict[str, Parsed]] = defaultdict(dict)
    for file in files:
        data = tree.read(file)
        language = grammar_for(file.language, file.path, data.decode("utf-8", "replace"))
        if language in _SPOKEN and options.language in (None, language):
            by_language[language][file.path] = _ours(file.path, file.language, data)
    for language, parsed in by_language.items():
        theirs_by_path = _theirs(options, _SPOKEN[language][0], list(parsed), "macros" in groups)
        score = scores[language]
        for path, found in parsed.items():
            score.files += 1
            score.error_files += found.error_nodes > 0
            score.error_nodes += found.error_nodes
            for name in groups:
                if name in _SPOKEN[language][1]:
                    _match(score, path, theirs_by_path.get(path, []), found, _SPOKEN[language][1][name])


def _ours(path: str, language: str, data: bytes) -> Parsed:
    parsed = parse_file("measured", path, language, data)
    tags = [Tag(_plain(row[2]), row[1], row[5], row[6]) for row in parsed.symbols]
    return Parsed(tags, parsed.error_nodes, parsed.skip_reason or parsed.skip_detail or "")


def _theirs(options: argparse.Namespace, language: str, paths: list[str], macros: bool) -> dict[str, list[Tag]]:
    """Run ctags over files and return its definitions by path."""
    command = [options.ctags, "--options=NONE", "--output-format=json", "--fields=NFnKe"]
    command.append(f"--language-force={language}")
    if language in ("C", "C++") and not macros:
        command.append(f"--kinds-{language}=-d")  # register headers have millions of them
    done = subprocess.run(
        [*command, "-f", "-", "-L", "-"],
        cwd=options.repo,
        input="\n".join(paths),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=True,
    )
    found: dict[str, list[Tag]] = defaultdict(list)
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        if tag["_type"] == "tag" and not tag["name"].startswith(("__anon", "Anonymous")):
            last = tag.get("end", tag["line"])
            found[tag["path"]].append(Tag(_plain(tag["name"]), tag["kind"], tag["line"], last))
    return found


def _plain(name: str) -> str:
    """Return a name as both write it: without blanks, quotes and what marks a private property."""
    return "".join(name.split()).strip("\"'`#")


def _match(score: Score, path: str, all_theirs: list[Tag], found: Parsed, group: Group) -> None:
    theirs = [tag for tag in all_theirs if tag.kind in group.theirs]
    ours = [tag for tag in found.tags if tag.kind in group.ours]
    score.theirs += len(theirs)
    score.ours += len(ours)
    free: dict[str, list[Tag]] = defaultdict(list)
    for tag in ours:
        free[tag.name].append(tag)
    missing = []
    for tag in theirs:
        # The innermost span: a constructor stands inside a class of its name.
        fits = [item for item in free[tag.name] if tag.within(item)]
        if fits:
            free[tag.name].remove(min(fits, key=lambda item: item.last - item.first))
            score.matched += 1
        else:
            missing.append(tag)
    spare = [tag for tags in free.values() for tag in tags]
    missing, spare = _pair_by_line(score, path, missing, spare)
    score.differences += [Difference(_cause_theirs(tag, found, spare), path, tag) for tag in missing]
    score.differences += [Difference(_cause_ours(tag, all_theirs), path, tag) for tag in spare]


def _pair_by_line(score: Score, path: str, missing: list[Tag], spare: list[Tag]) -> tuple[list[Tag], list[Tag]]:
    """Match what both find on one line by another name: ctags calls a function by the macro that defines it."""
    by_line = {tag.first: tag for tag in spare}
    alone = []
    for tag in missing:
        other = by_line.pop(tag.first, None)
        if other is None:
            alone.append(tag)
        else:
            spare.remove(other)
            renamed = Tag(f"{other.name}, for ctags {tag.name}", tag.kind, tag.first, tag.last)
            score.differences.append(Difference("both, by another name", path, renamed))
            score.renamed += 1
    return alone, spare


def _cause_theirs(tag: Tag, found: Parsed, spare: list[Tag]) -> str:
    if found.skipped:
        return f"ctags only: {tag.kind}, file skipped: {found.skipped[:40]}"
    if any(item.name == tag.name for item in spare):
        return f"ctags only: {tag.kind}, elsewhere in the file"
    others = sorted(
        {item.kind for item in found.tags if item.name == tag.name and item.first <= tag.first <= item.last}
    )
    if others:
        return f"ctags only: {tag.kind}, is {others[0]} or counted once"
    return f"ctags only: {tag.kind}, file {'with errors' if found.error_nodes else 'without errors'}"


def _cause_ours(tag: Tag, theirs: list[Tag]) -> str:
    others = sorted({item.kind for item in theirs if item.name == tag.name and item.within(tag)})
    if others:
        return f"ours only: {tag.kind}, is {others[0]} for ctags or counted once"
    if any(item.name == tag.name for item in theirs):
        return f"ours only: {tag.kind}, elsewhere in the file"
    return f"ours only: {tag.kind}, unknown to ctags"


def _show(language: str, score: Score, options: argparse.Namespace) -> None:
    if not score.theirs and not score.ours:
        return
    write = sys.stdout.write
    recall = (score.matched + score.renamed) / score.theirs if score.theirs else 1.0
    write(f"\n{language}: {score.files} files, {score.error_files} with errors ({score.error_nodes} error nodes)\n")
    write(
        f"  ctags {score.theirs}  ours {score.ours} ({score.ours / max(1, score.theirs) - 1:+.2%})"
        f"  matched {score.matched}, by another name {score.renamed}  recall {recall:.2%}\n"
    )
    causes = Counter(item.cause for item in score.differences)
    for cause, count in sorted(causes.items(), key=lambda item: (-item[1], item[0])):
        write(f"  {count:7}  {cause}\n")
        shown = options.show is not None and options.show in cause
        for item in _spread(score.differences, cause, max(50, options.limit) if shown else options.limit):
            write(f"           {item}\n")
            if shown:
                write(f"             | {_line(options.repo, item)}\n")


def _spread(differences: list[Difference], cause: str, limit: int) -> Iterator[Difference]:
    """Yield some of the differences of one cause, evenly spread over the files."""
    fitting = [item for item in differences if item.cause == cause]
    if limit:
        yield from fitting[:: max(1, -(-len(fitting) // limit))]


def _line(repo: Path, item: Difference) -> str:
    lines = (repo / item.path).read_bytes().split(b"\n")
    return lines[item.tag.first - 1].decode("utf-8", "replace").strip()[:_SHOWN_CHARS]


if __name__ == "__main__":
    sys.exit(main())
