from __future__ import annotations

import pytest

from pipelines.retrieval.filters import path_pattern


@pytest.mark.parametrize(
    ("glob", "fits", "does_not_fit"),
    [
        ("*.py", ["a.py", "x/y/a.py"], ["a.pyc", "a.py2/x.c"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "lib/src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py"]),
        ("src", ["src/a.py", "lib/src/x/a.py"], ["srcs/a.py"]),
        ("src/", ["src/a.py", "lib/src/a.py"], ["srcs/a.py"]),
        ("packages/web", ["packages/web/a.ts"], ["packages/webx/a.ts", "x/packages/web/a.ts"]),
        ("a?.c", ["ab.c"], ["a.c", "a/.c"]),
        ("[ab].c", ["a.c", "b.c"], ["c.c"]),
        ("[!ab].c", ["c.c"], ["a.c"]),
        ("a+(b).py", ["a+(b).py"], ["aab.py"]),
        ("**", ["a", "x/y"], []),
        ("[", ["["], ["x"]),
    ],
)
def test_globs(glob: str, fits: list[str], does_not_fit: list[str]) -> None:
    pattern = path_pattern((glob,))
    assert [path for path in fits if not pattern.match(path)] == []
    assert [path for path in does_not_fit if pattern.match(path)] == []


def test_any_of_several_globs_is_enough() -> None:
    pattern = path_pattern(("*.py", "*.go"))
    assert pattern.match("a.py")
    assert pattern.match("b.go")
    assert not pattern.match("c.rs")
