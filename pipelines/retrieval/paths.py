"""What a path says of its file: words, the place in the tree, what it is for. In: a path. Out: a Place."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from pipelines.retrieval.analysis import Analysis
from pipelines.tokens import words

#: Examples, benchmarks, foreign and generated code are the wrong place, unless the query names it.
_SAMPLES = frozenset(
    {"example", "examples", "_examples", "demo", "demos", "sample", "samples", "bench", "benchmark", "benchmarks"}
    | {"testdata", "fixtures"}
)
_PERIPHERAL = _SAMPLES | (
    {"vendor", "vendored", "legacy", "deprecated"}
    | {"third_party", "thirdparty", "generated", "deps", "external", "extern", "node_modules"}
)
_DATA_SUFFIXES = frozenset({".txt", ".json", ".yml", ".yaml", ".toml", ".cfg", ".lock", ".xml", ".svg", ".csv"})
#: Files that stand for their folder, whose name is theirs.
_FOLDER_FILES = frozenset({"mod", "index", "__init__", "init"})
_NOT_A_LETTER = re.compile(r"[\W_]+")


class Place(NamedTuple):
    """Words of the file's name, of its folder, and of folders aside; the bare name; the data type; folders above it."""

    file: frozenset[str]
    folder: frozenset[str]
    aside: frozenset[str]
    name: str
    data: str
    depth: int

    def is_aside(self, analysis: Analysis) -> bool:
        """Tell whether the file is an example, foreign or generated, and the query does not ask for such."""
        return bool(self.aside) and analysis.forms.isdisjoint(self.aside)

    def is_sample(self, analysis: Analysis) -> bool:
        """Tell whether the file shows how something is used, and the query does not ask for such."""
        return self.is_aside(analysis) and not _SAMPLES.isdisjoint(self.aside)

    def is_data(self, analysis: Analysis) -> bool:
        """Tell whether the file is data, and the query does not name its type."""
        return bool(self.data) and self.data not in analysis.forms


@lru_cache(maxsize=1 << 16)
def place_of(path: str) -> Place:
    """Return what a path says."""
    parts = PurePosixPath(path)
    folder = parts.parent.name
    file = parts.name.partition(".")[0]
    name = folder if file in _FOLDER_FILES else file
    aside = [part for part in parts.parts[:-1] if part.lower() in _PERIPHERAL]
    data = parts.suffix[1:].lower() if parts.suffix.lower() in _DATA_SUFFIXES else ""
    return Place(word_set(name), word_set(folder), word_set(" ".join(aside)), bare(name), data, len(parts.parts) - 1)


def bare(name: str) -> str:
    """Return a name without case and without what separates its words."""
    return _NOT_A_LETTER.sub("", name.casefold())


@lru_cache(maxsize=1 << 16)
def word_set(name: str) -> frozenset[str]:
    """Return the words of a name."""
    return frozenset(words(name))
