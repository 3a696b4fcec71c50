"""The table of document frequencies that the `vocab` encoder weighs tokens by. In: downloaded packages. Out: the table.

    pip download --no-deps --only-binary :all: -d PACKAGES NAME==VERSION ...
    npm pack --pack-destination PACKAGES NAME@VERSION ...
    apt-get source --download-only NAME ...; apt-get download librust-NAME-dev ...        (inside PACKAGES)
    python -m pipelines.training.document_frequency PACKAGES data/encoder

Names and versions stand in data/encoder/vocab-idf.json. A document is a run of lines of one file, about as long as a
function, so that every language is cut alike. Each language has one share per token, and the table holds their
quadratic mean: a token that is common in one language alone (`fn`, `elif`) is common, since a repository is mostly of
one language. Projects that evaluation uses are refused (data/encoder/held-out.txt): what is measured must not have been
counted.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from pipelines.embedding import features, write_table
from pipelines.tokens import words
from pipelines.training.packages import Package, find_packages, refuse_held_out

#: Lines of one document: the median function of the packages, with its comment, is a little shorter.
_DOCUMENT_LINES = 30
#: Documents that one package may give, evenly spread: a large generated client must not outweigh all others.
_PACKAGE_DOCUMENTS = 3_000
#: A longer line is minified or data.
_MAX_LINE_CHARS = 500
#: A token that fewer packages use is a project's own name, and as rare as one that the table lacks.
_MIN_PACKAGES = 4
_TABLE_TOKENS = 30_000
_UNIT = 1_000_000
_FAMILIES = {
    "python": ".py",
    "javascript": ".js .mjs .cjs .ts .tsx .jsx",
    "c": ".c .h",
    "c++": ".cc .cpp .cxx .hpp .hh",
    "java": ".java .kt .groovy .scala",
    "go": ".go",
    "rust": ".rs",
    "ruby": ".rb",
    "php": ".php",
    "other": ".ex .exs .lua .sh .swift .cs .hs .zig",
    "prose": ".md .rst .txt .adoc",
}
_FAMILY_OF = {suffix: family for family, suffixes in _FAMILIES.items() for suffix in suffixes.split()}


class Frequencies:
    """Documents and packages that hold each token, by language family."""

    def __init__(self) -> None:
        self.documents: Counter[str] = Counter()
        self._holding: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._packages: Counter[str] = Counter()

    def add(self, package: Package) -> int:
        """Count one package; return how many documents it gave."""
        counted = 0
        seen: set[str] = set()
        for family, document in _spread(list(_documents(package))):
            tokens = {feature for word in words(document) for feature in features(word)}
            self._holding[family].update(tokens)
            self.documents[family] += 1
            seen |= tokens
            counted += 1
        self._packages.update(seen)
        return counted

    def shares(self) -> dict[str, float]:
        """Return the table's tokens with their share of documents: the quadratic mean over the families."""
        squares: defaultdict[str, float] = defaultdict(float)
        for family in sorted(self._holding):
            for token, count in self._holding[family].items():
                if self._packages[token] >= _MIN_PACKAGES and "\t" not in token:
                    squares[token] += (count / self.documents[family]) ** 2
        mean = {token: math.sqrt(square / len(self._holding)) for token, square in squares.items()}
        ordered = sorted(mean, key=lambda token: (-mean[token], token))[:_TABLE_TOKENS]
        return {token: mean[token] for token in ordered}


def _documents(package: Package) -> Iterator[tuple[str, str]]:
    for path, text in package.files(frozenset(_FAMILY_OF)):
        lines = text.splitlines()
        if lines and max(map(len, lines)) <= _MAX_LINE_CHARS:
            for start in range(0, len(lines), _DOCUMENT_LINES):
                yield _FAMILY_OF[PurePosixPath(path).suffix], "\n".join(lines[start : start + _DOCUMENT_LINES])


def _spread(documents: Sequence[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Thin out to the limit, evenly."""
    count = min(len(documents), _PACKAGE_DOCUMENTS)
    return (documents[index * len(documents) // count] for index in range(count))


def main(arguments: Sequence[str]) -> int:
    """Count the packages of a folder and write the table and the list of what it was made from."""
    parser = argparse.ArgumentParser(prog="document_frequency", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args(arguments)
    packages = find_packages(given.packages)
    refuse_held_out(packages, given.out / "held-out.txt")
    frequencies = Frequencies()
    rows = []
    for package in packages:
        counted = frequencies.add(package)
        sys.stderr.write(f"{package.registry} {package.name} {package.version}: {counted} documents\n")
        row = [package.registry, package.name, package.version, package.licence, counted]
        rows.append(dict(zip(("registry", "name", "version", "licence", "documents"), row, strict=True)))
    shares = frequencies.shares()
    (given.out / "vocab-idf.tsv.gz").write_bytes(write_table(shares, _UNIT))
    manifest = {"tokens": len(shares), "documents": dict(sorted(frequencies.documents.items())), "packages": rows}
    (given.out / "vocab-idf.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
