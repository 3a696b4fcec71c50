"""What the source says of types, as written, with the definition that it is said in."""

from __future__ import annotations

import pytest

from pipelines.discover.parsing.typings import MAX_TYPE_CHARS
from tests.discover.sources import parse

PYTHON = """
class A(B, c.D[T]):
    x: E = None
    def m(self, p: "F", q: G = 1) -> H | None:
        self.y = I()
        y = await j.k(1)
        self.app = p
        with open(1) as f: pass
top = L()
"""
GO = """package p
type A struct { B; e, f *E }
type I interface { J; m(x int) (*K, error) }
func (a *A) g(h Foo) *Bar { x, err := NewFoo(); y := &Foo{}; var w Foo; u := a.e; v := t.(*Q); return nil }
"""
TYPESCRIPT = """
class A<T> extends B<T> implements C { d: D; e = new E(); constructor(private f: F, g?: G) { this.g = g }
  m(): Promise<X> { const a = new Q.R(1); const c = await g.h(); } }
interface K extends L { p: M; q(): N }
const arrow = (x: Foo): Bar => x;
"""
JAVA = """
class A<T> extends B<T> implements C { E e; F f(G g) { var h = new H<>(1); I i = j(); for (K k : l) {} } }
"""
RUBY = """
class A < B::C
  include D
  def m
    @e = F.new(1)
    g = H::I.new
    @j ||= K.new
  end
end
"""
ZIG = """
const A = struct {
    e: ?*E,
    pub fn m(self: *A, f: F) !*G { const h = I{}; var i = try J.init(); var k: L.M = undefined; }
};
"""


def typings(path: str, text: str) -> list[tuple[str, ...]]:
    parsed = parse(path, text)
    names = {row[0]: row[3] for row in parsed.symbols}
    return [(names.get(owner, ""), *row) for owner, *row, _ in parsed.typings]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.py",
            PYTHON,
            [
                ("A", "base", "", "B"),
                ("A", "base", "", "c.D[T]"),
                ("A", "declared", "x", "E"),
                ("A.m", "declared", "p", '"F"'),
                ("A.m", "declared", "q", "G"),
                ("A.m", "returns", "", "H | None"),
                ("A.m", "value", "self.y", "I()"),
                ("A.m", "value", "y", "j.k()"),
                ("A.m", "value", "self.app", "p"),
                ("A.m", "value", "f", "open()"),
                ("", "value", "top", "L()"),
            ],
        ),
        (
            "a.go",
            GO,
            [
                ("A", "base", "", "B"),
                ("A", "declared", "e", "*E"),
                ("A", "declared", "f", "*E"),
                ("I", "base", "", "J"),
                ("I.m", "declared", "x", "int"),
                ("I.m", "returns", "", "(*K, error)"),
                ("A.g", "declared", "a", "*A"),
                ("A.g", "declared", "h", "Foo"),
                ("A.g", "returns", "", "*Bar"),
                ("A.g", "value", "x", "NewFoo()"),
                ("A.g", "declared", "y", "Foo"),
                ("A.g", "declared", "w", "Foo"),
                ("A.g", "value", "u", "a.e"),
                ("A.g", "declared", "v", "*Q"),
            ],
        ),
        (
            "a.ts",
            TYPESCRIPT,
            [
                ("A", "base", "", "B"),
                ("A", "base", "", "C"),
                ("A", "declared", "d", "D"),
                ("A", "value", "e", "E()"),
                ("A.constructor", "declared", "f", "F"),
                ("A.constructor", "declared", ".f", "F"),
                ("A.constructor", "declared", "g", "G"),
                ("A.constructor", "value", "this.g", "g"),
                ("A.m", "returns", "", "Promise<X>"),
                ("A.m", "value", "a", "Q.R()"),
                ("A.m", "value", "c", "g.h()"),
                ("K", "base", "", "L"),
                ("K", "declared", "p", "M"),
                ("K.q", "returns", "", "N"),
                ("arrow", "declared", "x", "Foo"),
                ("arrow", "returns", "", "Bar"),
            ],
        ),
        (
            "A.java",
            JAVA,
            [
                ("A", "base", "", "B<T>"),
                ("A", "base", "", "C"),
                ("A", "declared", "e", "E"),
                ("A.f", "returns", "", "F"),
                ("A.f", "declared", "g", "G"),
                ("A.f", "declared", "h", "var"),
                ("A.f", "value", "h", "H<>()"),
                ("A.f", "declared", "i", "I"),
                ("A.f", "declared", "k", "K"),
            ],
        ),
        (
            "a.js",
            "class A extends B { x = new C(); m() { this.y = z; this.w = new W() } }",
            [
                ("A", "base", "", "B"),
                ("A", "value", "x", "C()"),
                ("A.m", "value", "this.y", "z"),
                ("A.m", "value", "this.w", "W()"),
            ],
        ),
        (
            "a.rb",
            RUBY,
            [
                ("A", "base", "", "B::C"),
                ("A", "base", "", "D"),
                ("A.m", "declared", ".@e", "F"),
                ("A.m", "declared", "g", "H::I"),
                ("A.m", "declared", ".@j", "K"),
            ],
        ),
        (
            "a.zig",
            ZIG,
            [
                ("A", "declared", ".e", "E"),
                ("A.m", "declared", "self", "A"),
                ("A.m", "declared", "f", "F"),
                ("A.m", "returns", "", "G"),
                ("A.m", "declared", "h", "I"),
                ("A.m", "value", "i", "J.init()"),
                ("A.m", "declared", "k", "L.M"),
            ],
        ),
    ],
)
def test_types_are_told_as_written(path: str, text: str, expected: list[tuple[str, ...]]) -> None:
    assert typings(path, text) == expected


def test_the_place_is_that_of_the_name() -> None:
    text = "é = 1\nx: X = None\n"
    ((*_, place),) = parse("a.py", text).typings
    assert text.encode()[place:].startswith(b"x: X")


def test_an_endless_type_and_a_secret_are_left_out() -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    assert typings("a.py", f"x: {'A' * (MAX_TYPE_CHARS + 1)} = 1\n") == []
    assert typings("a.py", f'x: "{secret}" = 1\n') == []
