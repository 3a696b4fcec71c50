"""What a file is for, as far as its path tells. In: a path. Out: a flag. Discover and chunking must agree on it."""

from __future__ import annotations

import re

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
