from __future__ import annotations

import pytest

from tests.discover.sources import parse

Row = tuple[str, str | None, str | None]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "import a.b, c as d\n", [("a.b", None, None), ("c", None, "d")]),
        ("a.py", "from . import x as x\n", [(".", "x", None)]),
        ("a.py", "from a import (\n  b,\n  c as d,\n)\n", [("a", "b", None), ("a", "c", "d")]),
        ("a.js", "import a, * as b from 'm'", [("m", "default", "a"), ("m", None, "b")]),
        ("a.js", "import {} from 'm'", [("m", None, None)]),
        ("a.js", "export * as ns from 'm'", [("m", None, "ns")]),
        (
            "a.js",
            "const x = require('m'), {y, z: w} = require('n')",
            [("m", None, "x"), ("n", "y", None), ("n", "z", "w")],
        ),
        ("a.js", "app.use(require('m'))", [("m", None, None)]),
        ("a.js", "require(name)", []),
        (
            "a.ts",
            "import type { T } from './t'; export { type U } from './u'",
            [("./t", "T", None), ("./u", "U", None)],
        ),
        ("a.go", 'package p\nimport x "a/b"\nimport `raw`\n', [("a/b", None, "x"), ("raw", None, None)]),
        ("A.java", "import a.b.*; import static a.B.c;", [("a.b", "*", None), ("a.B", "c", None)]),
        (
            "a.rs",
            "use a::b::{self as c, d::{e, f as g}};",
            [("a::b", None, "c"), ("a::b::d", "e", None), ("a::b::d", "f", "g")],
        ),
        ("a.rs", "pub(in crate::x) use {a, b::*};", [("a", None, None), ("b", "*", None)]),
        ("a.c", '#include <sys/stat.h>\n#include "a.h"\n', [("sys/stat.h", None, None), ("a.h", None, None)]),
    ],
)
def test_imports_are_told_as_written(path: str, text: str, expected: list[Row]) -> None:
    assert [tuple(row[:3]) for row in parse(path, text).imports] == expected


def test_line_is_that_of_the_name() -> None:
    assert [row[3] for row in parse("a.py", "from a import (\n  b,\n  c,\n)\nimport d\n").imports] == [2, 3, 5]
