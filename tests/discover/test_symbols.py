from __future__ import annotations

from itertools import pairwise

import pytest

from pipelines.discover.parsing.comments import MAX_DOC_CHARS, MAX_SIGNATURE_CHARS
from pipelines.discover.parsing.naming import MAX_PARTS, MAX_QUALIFIED_CHARS
from pipelines.discover.parsing.parse import ParsedFile
from tests.discover.outlines import symbols
from tests.discover.sources import parse


def names(parsed: ParsedFile) -> list[str]:
    return [item["qualified"] for item in symbols(parsed)]


def doc(path: str, text: str) -> str:
    (only,) = symbols(parse(path, text))
    return str(only["doc"])


# --- names and spans ---


def test_function_nested_in_a_method_is_not_the_method_of_that_name() -> None:
    text = "class Widget{ render(a){ function handler(v){return v} return handler(a) } handler(a){return a+1} }"
    parsed = parse("w.js", text)
    assert names(parsed) == ["Widget", "Widget.render", "Widget.render.handler", "Widget.handler"]
    assert len({item["id"] for item in symbols(parsed)}) == 4


def test_equal_functions_in_one_file_have_their_own_ids() -> None:
    parsed = parse("x.py", "def same():\n    return 1\n\ndef same():\n    return 1\n")
    assert [item["ordinal"] for item in symbols(parsed)] == [0, 1]
    assert len({item["id"] for item in symbols(parsed)}) == 2


def test_id_survives_edits_of_the_body_and_of_lines_above() -> None:
    before = parse("x.py", "def stays():\n    return 1\n")
    after = parse("x.py", "import os\n\n\ndef stays():\n    return os.name\n")
    assert symbols(before)[0]["id"] == symbols(after)[0]["id"]


def test_span_and_offsets_are_those_of_the_text_in_utf8() -> None:
    text = '# ─ é 𝄞\n@décorateur\ndef größe():\n    return "日本"\n\nx = 1\n'
    (only,) = symbols(parse("u.py", text))
    assert text.encode()[only["start"] : only["end"]].decode() == '@décorateur\ndef größe():\n    return "日本"'
    assert (only["first"], only["last"], only["name"]) == (2, 4, "größe")


def test_byte_order_mark_is_no_text() -> None:
    (only,) = symbols(parse("m.py", b"\xef\xbb\xbfdef f():\n    pass\n"))
    assert (only["start"], only["first"]) == (3, 1)


def test_comments_about_the_next_definition_are_not_of_the_one_before() -> None:
    text = """object Cart {
  /** Adds up. */
  def total(x: Int): Int =
    x + 1
    // rounded

  // Kept for old clients.
  /** Counts. */
  def count(x: Int): Int = x // of all
}
"""
    _, total, count = symbols(parse("Cart.scala", text))
    assert text.encode()[total["start"] : total["end"]].decode().endswith("    // rounded")
    assert (total["last"], count["first"], count["doc"]) == (5, 9, "Kept for old clients.\nCounts.")


def test_lines_count_line_feeds_alone() -> None:
    found = symbols(parse("cr.py", "def a():\r    return 1\r\rdef b():\r    return 2\r"))
    assert {item["first"] for item in found} == {1}


def test_spans_are_nested_or_apart() -> None:
    text = "export class A { static b = () => { const c = () => 1; }; }\nexport const d = { e() {} };\n"
    spans = [(item["start"], item["end"]) for item in symbols(parse("s.ts", text))]
    for one in spans:
        for two in spans:
            assert (
                one == two
                or one[1] <= two[0]
                or two[1] <= one[0]
                or one[0] <= two[0] < two[1] <= one[1]
                or (two[0] <= one[0] < one[1] <= two[1])
            )


@pytest.mark.parametrize(
    ("path", "marked"),
    [
        ("test_x.py", True),
        ("pkg/x_test.go", True),
        ("src/app.spec.ts", True),
        ("src/test/java/X.java", True),
        ("a/tests/x.rs", True),
        ("src/OrderTest.java", True),
        ("contest.py", False),
        ("src/latest/x.go", False),
        ("testing/x.go", False),
    ],
)
def test_tests_are_known_by_their_path(path: str, marked: bool) -> None:
    text = {
        "py": "def f(): pass",
        "go": "package p\nfunc f() {}",
        "ts": "function f() {}",
        "java": "class f {}",
        "rs": "fn f() {}",
    }[path.rsplit(".", 1)[-1]]
    (only,) = symbols(parse(path, text))
    assert only["is_test"] is marked


# --- documentation and signature ---


def test_licence_at_the_top_is_no_documentation() -> None:
    assert doc("a.c", "/* Copyright 2024 Example */\nint f(void) { return 1; }\n") == ""
    assert doc("a.go", "// SPDX-License-Identifier: MIT\nfunc f() {}\n") == ""
    assert doc("a.c", "/* SPDX-License-Identifier: MIT */\n/* Adds. */\nint f(void) { return 1; }\n") == "Adds."


def test_comment_behind_code_is_no_documentation_of_the_next_line() -> None:
    (only,) = symbols(parse("a.c", "int a; /* the first */\nint f(void) { return 1; }\n"))
    assert only["doc"] == ""


def test_comment_apart_is_no_documentation_but_a_documentation_comment_may_leave_a_line() -> None:
    assert doc("a.js", "x();\n// Far.\n\nfunction f() {}\n") == ""
    assert doc("a.js", "x();\n/** Near. */\n\nfunction f() {}\n") == "Near."
    assert doc("a.js", "x();\n/** Far. */\n\n\nfunction f() {}\n") == ""


def test_rules_and_markers_are_not_in_the_documentation() -> None:
    text = "x = 1\n# ------\n# Adds  two.\n# ======\ndef f():\n    r'''\n    Raw.\n    '''\n"
    assert doc("a.py", text) == "Adds  two.\nRaw."


@pytest.mark.parametrize("shift", range(-3, 4))
def test_cuts_never_split_a_character(shift: int) -> None:
    text = f'def f(a="{"x" * (MAX_SIGNATURE_CHARS - 10 + shift)}{"─" * 50}"):\n'
    text += f'    """{"y" * (MAX_DOC_CHARS + shift)}{"𝄞" * 50}"""\n'
    (only,) = symbols(parse("b.py", text))
    assert len(only["signature"]) == MAX_SIGNATURE_CHARS
    assert len(only["doc"]) == MAX_DOC_CHARS
    assert "�" not in only["signature"] + only["doc"]


def test_a_string_that_is_no_docstring_is_no_documentation() -> None:
    assert doc("a.py", "def f():\n    x = 1\n    'not doc'\n") == ""


# --- hostile text ---


def test_macros_do_not_swallow_the_function_after_them() -> None:
    assert names(parse("m.c", "FOO(foo)\nFOO(bar)\nint real(void){ return 1; }\n")) == ["real"]
    bison = "#define FAIL(x) \\\n  /*YYERROR*/; \\\n  while (0)\nstatic int after(void){return 1;}\n"
    assert "after" in names(parse("y.c", bison))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("class EXPORT_API Shape : public Base { int f() { return 1; } };", {"Shape": "class", "Shape.f": "method"}),
        ("struct ALIGNED(8) Shape { int f() { return 1; } };", {"Shape": "struct", "Shape.f": "method"}),
        ("void A::f() const REQUIRES(lock_, other_) RELEASES { g(); }", {"A.f": "method"}),
        ("class A { void f() LOCKED(mu_) { g(); } };", {"A": "class", "A.f": "method"}),
        ("int f(void) { return 1; }\n else if (x) { y(); }\n", {"f": "function"}),
    ],
)
def test_macros_and_keywords_are_not_taken_for_definitions(text: str, kinds: dict[str, str]) -> None:
    assert {item["qualified"]: item["kind"] for item in symbols(parse("m.cpp", text))} == kinds


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.c", "int f(void) " + "A" * 25_000 + "\n{ return 1; }\n"),
        ("b.c", "int f(void)" + " \n" * 50_000 + "{ return 1; }\n"),
        ("c.c", "/*" + " \n" * 100_000 + "x */\nint f(void) { return 1; }\n"),
        ("d.c", "#define M(x) " + "a." * 10_000 + "\nint f(void) { return 1; }\n"),
        ("e.c", ") MACRO " * 3_000 + "\nint f(void) { return 1; }\n"),
        ("f.cpp", "int f() { return " + "a<" * 5_000 + "1; }\n"),
        ("g.js", "// x\n" * 50_000 + "function f() {}\n"),
        ("h.js", "a" + "[b]\n" * 20_000 + " = 1;\nfunction f() {}\n"),
        ("i.py", "x = 1\n" + "def f():\n    pass\n" + "# " + "(" * 25_000),
    ],
)
def test_long_runs_cost_no_more_than_their_length(path: str, text: str) -> None:
    assert parse(path, text).skip_reason is None


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("deep.py", "def ok():\n    return " + "(" * 3000 + "1" + ")" * 3000 + "\n", "ok"),
        ("chain.js", "function ok() { return a" + ".b()" * 5000 + "; }\n", "ok"),
        ("nest.js", "function ok() {" + "{\n" * 20000 + "}\n" * 20000 + "}\n", "ok"),
        ("nest.c", "int ok(void) { return " + "-\n" * 30000 + "1; }\n", "ok"),
        ("open.go", "package p\nfunc ok() {}\nvar x = " + "[" * 20000, "ok"),
    ],
)
def test_depth_is_no_limit(path: str, text: str, found: str) -> None:
    assert found in names(parse(path, text))


def test_many_nested_functions_are_all_found() -> None:
    depth = 300
    text = "".join(" " * level + f"def f{level}():\n" for level in range(depth)) + " " * depth + "pass\n"
    found = symbols(parse("n.py", text))
    assert len(found) == depth
    assert found[2]["qualified"] == "f0.f1.f2"


@pytest.mark.parametrize("name", ["a", "x" * 100, "x" * 1_000])
def test_names_of_nested_functions_grow_with_their_number_not_its_square(name: str) -> None:
    depth = 600
    found = symbols(parse("n.js", f"function {name}(){{\n" * depth + "}" * depth))
    assert [item["name"] for item in found] == [name] * depth
    assert len({item["id"] for item in found}) == depth
    assert max(len(item["qualified"]) for item in found) <= MAX_QUALIFIED_CHARS
    assert max(item["qualified"].count(".") for item in found) < MAX_PARTS


def test_what_stands_in_a_definition_with_a_cut_name_is_called_by_it() -> None:
    depth = 100
    text = "".join(f"function f{level}(){{\n" for level in range(depth)) + "}" * depth
    found = [item["qualified"] for item in symbols(parse("n.js", text))]
    cut = [item for item, outer in pairwise(reversed(found)) if not item.startswith(f"{outer}.")]
    assert all(item.count(".") == MAX_PARTS // 2 - 1 for item in cut)
    assert 0 < len(cut) <= depth // (MAX_PARTS // 2)
    assert found[MAX_PARTS] == ".".join(f"f{level}" for level in range(MAX_PARTS // 2 + 1, MAX_PARTS + 1))


def test_functions_around_an_error_are_found() -> None:
    text = "def before():\n    return 1\n\ndef broken(:\n    ??\n\ndef after():\n    return 2\n"
    parsed = parse("e.py", text)
    assert {"before", "after"} <= set(names(parsed))
    assert parsed.error_nodes > 0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.tsx", "export const A = () => <div>{call(x)}</div>;"),
        ("b.ts", "const a = <string>b; function q(){ return call(a) }"),
        ("c.js", "const C = () => <A>{call()}</A>;"),
    ],
)
def test_elements_and_casts_parse_in_their_own_grammar(path: str, text: str) -> None:
    parsed = parse(path, text)
    assert parsed.error_nodes == 0
    assert any(row[1] == "call" and row[0] is not None for row in parsed.calls)


def test_nested_and_bound_functions_are_callers() -> None:
    python = parse("n.py", "def reg():\n  @app.call_tool()\n  async def handle(n):\n    return dispatch(n)\n")
    handle = next(item for item in symbols(python) if item["name"] == "handle")
    assert [row[:2] for row in python.calls if row[1] == "dispatch"] == [[handle["id"], "dispatch"]]
    text = "export function Box() { const handleClear = () => { push('/x') }; return <b onClick={handleClear}/>; }"
    component = parse("c.tsx", text)
    clear = next(item for item in symbols(component) if item["name"] == "handleClear")
    assert [row[0] for row in component.calls if row[1] == "push"] == [clear["id"]]


# --- secrets ---

KEY = "AKIA" + "QYLPMN5HFIQR7BXA"


def test_nothing_of_a_secret_leaves_the_parser() -> None:
    text = (
        f'import lib\n\n# Key {KEY}\ndef connect(key="{KEY}"):\n    """Uses {KEY}."""\n'
        f'    lib.open("{KEY}").start()\n\ndef clean():\n    """Clean."""\n'
    )
    parsed = parse("s.py", text)
    first, second = symbols(parsed)
    assert (first["name"], first["signature"], first["doc"]) == ("connect", "", "")
    assert (second["signature"], second["doc"]) == ("def clean()", "Clean.")
    assert KEY not in repr(parsed)
    assert ["start", None] in [row[1:3] for row in parsed.calls]
    assert {row[2] for row in parsed.secrets} == {3, 4, 5, 6}
    unmasked = parse("s.py", text.replace(KEY, "_" * len(KEY)))
    assert [row[-1] for row in parsed.symbols] == [row[-1] for row in unmasked.symbols]


def test_masking_a_secret_moves_nothing() -> None:
    with_key = parse("s.py", f'key = "{KEY}"\n\ndef f():\n    return 1\n')
    without = parse("s.py", f'key = "{"x" * len(KEY)}"\n\ndef f():\n    return 1\n')
    assert with_key.symbols == without.symbols
    assert with_key.error_nodes == 0


def test_signature_and_equations_of_haskell_are_one_definition_until_another_stands_between() -> None:
    text = "f :: Int -> Int\n\n-- zero\nf 0 = g\nf n = n\n\ng = 1\n\nf' x = x\nf 2 = 3\n"
    parsed = parse("A.hs", text)
    assert [(item["qualified"], item["ordinal"], item["first"], item["last"]) for item in symbols(parsed)] == [
        ("f", 0, 1, 5),
        ("g", 0, 7, 7),
        ("f'", 0, 9, 9),
        ("f", 1, 10, 10),
    ]
    assert [item["signature"] for item in symbols(parsed)] == ["f :: Int -> Int", "g", "f' x", "f 2"]


def test_clauses_of_elixir_are_one_definition_for_each_number_of_parameters() -> None:
    clauses = "  def f(0), do: 1\n  # next\n  def f(n) when n > 0 do\n    g(n)\n  end\n  def f(n, m), do: n\n"
    text = f"defmodule A do\n{clauses}end\n"
    parsed = parse("a.ex", text)
    assert [(item["qualified"], item["ordinal"], item["first"], item["last"]) for item in symbols(parsed)] == [
        ("A", 0, 1, 8),
        ("A.f", 0, 2, 6),
        ("A.f", 1, 7, 7),
    ]
    assert parsed.calls[0][:2] == [symbols(parsed)[1]["id"], "g"]


def test_attributes_of_elixir_document_what_follows_and_what_they_stand_in() -> None:
    text = (
        'defmodule A do\n  @moduledoc ~S"""\n  All of it.\n  """\n\n  @doc "One."\n  @spec f(integer()) :: t()\n'
        "  @doc since: 1\n  def f(n), do: n\n\n  @moduledoc false\n  @doc false\n  def g, do: h()\nend\n"
    )
    parsed = parse("a.ex", text)
    assert [(item["name"], item["doc"], item["first"]) for item in symbols(parsed)] == [
        ("A", "All of it.", 1),
        ("f", "One.", 6),
        ("g", "", 12),
    ]
    assert [row[1] for row in parsed.calls] == ["h"]


def test_tests_of_bats_are_functions_though_no_shell_knows_them() -> None:
    text = 'setup() { :; }\n\n@test "it\'s {odd}" {\n  run a\n}\n  @test \'two\'  {\n  b "@test \\"x\\" {"\n}\n'
    parsed = parse("a.bats", text)
    assert [
        (item["name"], item["signature"], item["first"], item["last"], item["is_test"]) for item in symbols(parsed)
    ] == [
        ("setup", "setup()", 1, 1, True),
        ("it's {odd}", '@test "it\'s {odd}"', 3, 5, True),
        ("two", "@test 'two'", 6, 8, True),
    ]
    assert [row[1] for row in parsed.calls] == [":", "run", "b"][1:]
    assert parsed.error_nodes == 0


def test_accessors_of_ruby_are_methods_unless_the_file_defines_them() -> None:
    text = "class A\n  # Where.\n  attr_reader :x, :y\n  def x = 1\nend\n"
    parsed = parse("a.rb", text)
    assert [(item["qualified"], item["signature"], item["doc"]) for item in symbols(parsed)] == [
        ("A", "class A", ""),
        ("A.y", "attr_reader :x, :y", "Where."),
        ("A.x", "def x", ""),
    ]
    assert parsed.calls == []


def test_a_module_of_ruby_that_only_groups_others_is_a_namespace() -> None:
    parsed = parse("a.rb", "module A\n  VERSION = 1\n  module B\n    def self.f; end\n  end\nend\n")
    assert [(item["kind"], item["qualified"]) for item in symbols(parsed)] == [
        ("constant", "A.VERSION"),
        ("trait", "A.B"),
        ("method", "A.B.f"),
    ]
