from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from pipelines.errors import InputError
from pipelines.retrieval.filters import fitting


def fit(paths: Sequence[str], *globs: str) -> list[str]:
    """Return the paths that one of the globs fits."""
    found = fitting(pa.array(paths, pa.string()), globs).tolist()
    return [path for path, fits in zip(paths, found, strict=True) if fits]


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
    assert fit(fits, glob) == fits
    assert fit(does_not_fit, glob) == []


def test_many_stars_take_no_longer_than_a_path_is_long() -> None:
    assert fit(["a/" * 500 + "aaaaaaaabbbbb.y"], "**/" * 100 + "*a*b*c.x") == []


@pytest.mark.parametrize("glob", ["[z-a]", "x" * 100 + "[\U0001f642-a]"])
def test_what_is_no_glob_is_told(glob: str) -> None:
    with pytest.raises(InputError, match="is no glob"):
        fit(["a"], glob)


def test_a_glob_that_is_no_text_fits_nothing() -> None:
    assert fit(["a"], "a\ud800") == []


def test_any_of_several_globs_is_enough() -> None:
    assert fit(["a.py", "b.go", "c.rs"], "*.py", "*.go") == ["a.py", "b.go"]
