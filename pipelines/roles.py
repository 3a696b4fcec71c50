"""What a file is for, as far as its path or its language tells. In: these. Out: a flag. Stages must agree on it."""

from __future__ import annotations

import re

from pipelines.records import ChunkKind

_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "testdata", "e2e"})
#: Folders of .NET, Gradle and Swift projects: Shop.Tests, commonTest, ShopTests.
_TEST_PROJECT = re.compile(r".*[a-z0-9.]Tests?$")
_TEST_FILE = re.compile(
    r"(?:test_.*|.*_test|conftest)\.py$|.*_test\.(?:go|c|cc|cpp|cxx|rs)$|.*[.\-_](?:test|spec)\.[cm]?[jt]sx?$"
    r"|tests?\.rs$|(?:Test[A-Z0-9].*|.*(?:Test|Tests|TestCase|IT))\.java$|.*(?:[a-z0-9]Test|Tests)\.(?:cc|cpp|cxx|h|hpp)$"
    r"|test_.*\.(?:c|cc|cpp|cxx)$|.*\.bats$|(?:.*_(?:test|spec)|test_.*)\.(?:rb|lua|exs?|sh)$|.*(?:Spec|Test|Tests)\.hs$"
    r"|.*[a-z0-9](?:Tests?|TestCase|Specs?|Suite)\.(?:cs|kt|scala|swift|php)$"
)


def is_test_path(path: str) -> bool:
    """Tell whether a path is that of a test, by the usual names of folders and files."""
    *folders, name = path.split("/")
    in_project = any(_TEST_PROJECT.match(folder) for folder in folders)
    return in_project or not _TEST_FOLDERS.isdisjoint(folders) or _TEST_FILE.match(name) is not None


#: Data and settings, in which the exact word is looked for: names and values, of which hardly any two make a sentence.
_DATA_LANGUAGES = frozenset({"cfg", "dotenv", "go-module", "json", "procfile", "requirements", "toml", "xml", "yaml"})


def has_meaning(kind: str, language: str) -> bool:
    """Tell whether a chunk can be near a question in meaning; one that cannot is found by its words alone."""
    return kind != ChunkKind.WINDOW or language not in _DATA_LANGUAGES
