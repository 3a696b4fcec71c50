from __future__ import annotations

import pytest

from pipelines.discover.parsing.calls import MAX_RECEIVER_CHARS
from tests.discover.sources import parse


def calls(path: str, text: str) -> list[tuple[str, str | None]]:
    return [(row[1], row[2]) for row in parse(path, text).calls]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "a.b(c)(d)\n", [("b", "a")]),
        ("a.py", "f(g(h()))\n", [("f", None), ("g", None), ("h", None)]),
        ("a.py", "@plain\n@called()\ndef f(): pass\n", [("called", None)]),
        ("a.py", "x = [f(i) for i in range(3) if not g(i)]\n", [("f", None), ("range", None), ("g", None)]),
        ("a.js", "new A.B().c()?.d();", [("B", "A"), ("c", "new A.B()"), ("d", "new A.B().c()")]),
        ("a.js", "a\n  .b()\n  .c();", [("b", "a"), ("c", "a .b()")]),
        ("a.js", "(0, f)(); x[0](); (() => g())();", [("g", None)]),
        ("A.java", "class A { int x = this.<T>f() + super.g(); }", [("f", "this"), ("g", "super")]),
        (
            "a.rs",
            "fn f() { a::b::<T>(); vec![c(1)]; d!{e(2)} }",
            [("b", "a"), ("vec", None), ("c", None), ("d", None), ("e", None)],
        ),
        ("a.rs", "fn f() { matches!(x, Some(y) if y == (1)); }", [("matches", None), ("Some", None)]),
        ("a.go", "package p\nfunc f() { go a.b(); defer c() }", [("b", "a"), ("c", None)]),
        ("a.c", "int f(void) { return p->ops[1].g(h(1)); }", [("g", "p->ops[1]"), ("h", None)]),
        ("a.cpp", "int f() { return a::B<int>::g(this->h()); }", [("g", "a.B"), ("h", "this")]),
    ],
)
def test_each_call_site_counts_once(path: str, text: str, expected: list[tuple[str, str | None]]) -> None:
    assert calls(path, text) == expected


def test_body_of_a_macro_calls() -> None:
    text = "#define LOCK(x) do { \\\n  if (mutex_lock(&(x)->lock)) (x)->ops->fail(x); \\\n } while (0)\n"
    parsed = parse("a.h", text)
    assert [(row[0] is not None, row[1], row[3]) for row in parsed.calls] == [
        (True, "mutex_lock", 2),
        (True, "fail", 2),
    ]


def test_place_is_that_of_the_called_name() -> None:
    text = "é = 1\nx\\\n  .first() \\\n  .second()\n"
    for row in parse("a.py", text).calls:
        assert text.encode()[row[4] :].startswith(row[1].encode())
    assert [row[3] for row in parse("a.py", text).calls] == [3, 4]


def test_long_receiver_is_cut_to_one_line() -> None:
    chain = "a" + ".b()" * 5_000
    found = calls("chain.js", f"const x = {chain};\n// {'short ' * 9}\n" * 2)
    assert len(found) == 10_000
    assert max(len(receiver or "") for _, receiver in found) == MAX_RECEIVER_CHARS
    assert found[4_999][1] is not None
    assert found[4_999][1].endswith("…")


def test_caller_is_the_innermost_function() -> None:
    text = (
        "top()\nclass A:\n    x = level()\n    def m(self):\n        inside()\n"
        "        class B:\n            y = local()\n"
    )
    parsed = parse("a.py", text)
    named = {row[0]: row[3] for row in parsed.symbols}
    assert [named.get(row[0]) for row in parsed.calls] == [None, None, "A.m", "A.m"]
