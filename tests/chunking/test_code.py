from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.chunking.code import Stretch, code_units
from pipelines.chunking.definitions import SymbolRow, make_tree, walk
from pipelines.chunking.rows import ChunkRow, chunk_file
from pipelines.chunking.source import SecretSpans, Source
from pipelines.errors import SourceMoved
from pipelines.file_text import FileText
from pipelines.identity import make_id
from pipelines.records import ChunkKind
from pipelines.settings import ChunkingSettings
from tests.chunking.builders import REPO, ROOT, SMALL, chunk_python, listed, symbol

SOURCES = sorted([*(ROOT / "pipelines").glob("*.py"), *(ROOT / "data/sample/orders").glob("*.py")])


def by_name(rows: list[ChunkRow]) -> dict[str, ChunkRow]:
    return {row.qualified_name: row for row in rows if row.part == 0}


def lines_of(*texts: str) -> Counter[str]:
    """Count the visible lines, those apart that stand for a nested definition."""
    lines = (line.rstrip() for text in texts for line in text.split("\n"))
    return Counter(line for line in lines if line.strip() and not line.endswith(" ..."))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
@pytest.mark.parametrize("settings", [ChunkingSettings(), SMALL], ids=["default", "small"])
def test_every_line_of_a_file_is_shown_exactly_once(path: object, settings: ChunkingSettings) -> None:
    text = (ROOT / str(path)).read_text()
    rows = chunk_python(text, "a.py", settings).rows
    assert lines_of(*(row.text for row in rows)) == lines_of(text)
    assert all(len(row.text) <= settings.max_chars for row in rows)
    assert len({row.chunk_id for row in rows}) == len(rows)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_lines_and_bytes_are_those_of_the_text(path: object) -> None:
    text = (ROOT / str(path)).read_text()
    lines = text.split("\n")
    for row in chunk_python(text, "a.py", SMALL).rows:
        span = text.encode()[row.start_byte : row.end_byte].decode()
        if " ...\n" not in f"{row.text}\n":
            assert row.text == span
        assert lines[row.start_line - 1].strip()
        assert span.split("\n")[0] in lines[row.start_line - 1]
        assert span.rstrip().split("\n")[-1] in lines[row.end_line - 1]


def test_function_comes_with_its_decorators_and_the_comment_above() -> None:
    text = "import os\n" * 9 + "\n# Starts it.\n@cached\ndef run():\n    return 1\n\n\nx = 1\n" + "y = 2\n" * 9
    row = by_name(chunk_python(text).rows)["run"]
    assert row.text == "# Starts it.\n@cached\ndef run():\n    return 1"
    assert (row.start_line, row.end_line) == (11, 14)


def test_comment_apart_from_the_function_is_not_its_own() -> None:
    text = "# A note about the whole file, long enough to stand.\n\ndef run():\n    return 1\n"
    module, run = sorted(chunk_python(text).rows, key=lambda row: row.start_line)
    assert (module.kind, module.start_line) == ("module", 1)
    assert run.text == "def run():\n    return 1"


def test_block_comment_attribute_and_export_belong_to_the_definition() -> None:
    text = (
        "import { a } from 'a'; import { b } from 'b'; import { c } from 'c';\n/**\n * Pushes.\n */\n"
        "export default function go(x) {\n  return x;\n};\nconst later = 'a constant that stands for itself here';\n"
    )
    rows = chunk_python(text, "a.ts", symbols=[symbol(text, "function go(x)", "\n}", "go", path="a.ts")]).rows
    file = listed("a.ts", "typescript")
    symbols = [symbol(text, "function go(x)", "\n}", "go")]
    rows = chunk_file(REPO, file, FileText(text), symbols, SecretSpans(), SMALL).rows
    assert by_name(rows)["go"].text.startswith("/**\n * Pushes.\n */\nexport default function go(x) {")
    assert by_name(rows)["go"].text.endswith("};")
    assert [row.kind for row in sorted(rows, key=lambda row: row.start_line)] == ["module", "function", "module"]


def test_class_shows_its_fields_and_the_signatures_of_its_methods() -> None:
    text = (
        'class Cart:\n    """Holds lines."""\n\n    limit = 3\n\n    def add(self, item):\n        self.append(item)\n'
    )
    rows = by_name(chunk_python(text).rows)
    assert rows["Cart"].text == ('class Cart:\n    """Holds lines."""\n\n    limit = 3\n\n    def add(self, item) ...')
    assert (rows["Cart"].start_line, rows["Cart"].end_line) == (1, 7)
    assert rows["Cart.add"].text == "    def add(self, item):\n        self.append(item)"


def test_nested_function_has_its_own_row_and_its_text_is_shown_once() -> None:
    text = "def reg():\n  @app.call_tool()\n  async def handle(n):\n    return dispatch(n)\n  return handle\n"
    rows = by_name(chunk_python(text).rows)
    assert rows["reg.handle"].text == "  @app.call_tool()\n  async def handle(n):\n    return dispatch(n)"
    assert rows["reg"].text == "def reg():\n  async def handle(n) ...\n  return handle"
    assert sum(row.text.count("dispatch") for row in rows.values()) == 1


def test_function_inside_a_method_does_not_meet_the_method_of_its_name() -> None:
    text = "class Widget{ render(a){ function handler(v){return v} return handler(a) } handler(a){return a+1} }\n"
    symbols = [
        symbol(text, "class Widget", "+1} }", "Widget", ChunkKind.CLASS),
        symbol(text, "render(a)", "handler(a) }", "Widget.render", ChunkKind.METHOD),
        symbol(text, "function handler(v)", "v}", "Widget.render.handler"),
        symbol(text, "handler(a){", "+1}", "Widget.handler", ChunkKind.METHOD),
    ]
    rows = by_name(chunk_python(text, symbols=symbols).rows)
    assert rows["Widget.handler"].text == "handler(a){return a+1}"
    assert rows["Widget.render.handler"].text == "function handler(v){return v}"
    assert rows["Widget.render"].text == "render(a){ function handler(v) ...\n return handler(a) }"
    assert rows["Widget"].text == "class Widget{ render(a) ...\n handler(a){ ...\n }"
    assert {row.start_line for row in rows.values()} == {1}


def test_code_that_the_grammar_swallowed_is_still_in_some_row() -> None:
    text = "FOO(foo)\nFOO(bar)\nint real(void){\n  return 1;\n}\n#define FAIL(x) do { /*YYERROR*/; } while (0)\n"
    file = listed("a.c", "c")
    rows = chunk_file(REPO, file, FileText(text), [symbol(text, "int real", "\n}", "real")], SecretSpans(), SMALL).rows
    assert lines_of(*(row.text for row in rows)) == lines_of(text)


def test_crumbs_go_to_the_definition_they_belong_with() -> None:
    text = "impl A for B {\n    fn go(&self) -> u8 {\n        1\n    }\n}\n"
    file = listed("a.rs", "rust")
    settings = ChunkingSettings(max_chars=200, min_chars=40)
    symbols = [symbol(text, "fn go(&self) -> u8", "    }", "B.go", ChunkKind.METHOD)]
    (row,) = chunk_file(REPO, file, FileText(text), symbols, SecretSpans(), settings).rows
    assert (row.text, row.start_line, row.end_line) == (text.rstrip(), 1, 5)


def test_a_closing_word_stays_with_what_it_closes() -> None:
    text = "module Cart\n  def total\n    prices.sum\n  end\nend\n\ndef other\n  1\nend\n"
    symbols = [
        symbol(text, "def total", "  end", "Cart.total", ChunkKind.METHOD, path="a.rb"),
        symbol(text, "def other", "end", "other", path="a.rb"),
    ]
    settings = ChunkingSettings(max_chars=200, min_chars=40)
    rows = chunk_file(REPO, listed("a.rb", "ruby"), FileText(text), symbols, SecretSpans(), settings).rows
    assert {(row.name, row.start_line, row.end_line) for row in rows} == {("total", 1, 5), ("other", 7, 9)}


def test_file_without_definitions_is_one_module_row_even_if_small() -> None:
    (row,) = chunk_python("X = 1\n").rows
    assert (row.kind, row.text, row.symbol_id) == ("module", "X = 1", None)


def test_minified_line_is_not_taken_for_its_first_function() -> None:
    text = "function a(){return 1}" + "b=call(c);" * 40 + "\n"
    rows = chunk_python(text, symbols=[symbol(text, "function a()", "1}", "a")], settings=SMALL).rows
    assert by_name(rows)["a"].text == "function a(){return 1}"
    assert {row.kind for row in rows} == {"function", "module"}


def test_long_function_comes_in_parts_and_no_word_of_it_is_lost() -> None:
    filler = "".join(f"    value_{number} = call(value, {number})\n" for number in range(400))
    text = f"def big(value):\n    HEADWORD\n{filler}    MIDWORD\n{filler}    TAILWORD\n"
    rows = chunk_python(text).rows
    assert [row.part for row in rows] == list(range(len(rows)))
    assert rows[0].chunk_id == rows[0].symbol_id
    assert len({row.chunk_id for row in rows}) == len(rows)
    assert {row.symbol_id for row in rows} == {rows[0].symbol_id}
    assert "\n".join(row.text for row in rows) == text.rstrip()
    assert [row.start_line for row in rows[1:]] == [row.end_line + 1 for row in rows[:-1]]


@pytest.mark.parametrize("comment", ["# 中文字" * 200, "# " + "👩‍🚀" * 400, "# " + "─" * 800])
def test_line_above_the_cap_is_cut_between_signs(comment: str) -> None:
    text = f"def f():\n    {comment}\n    return 1\n"
    rows = chunk_python(text, settings=SMALL).rows
    assert all(len(row.text) <= 200 for row in rows)
    assert "".join("".join(row.text.split()) for row in rows) == "".join(text.split())


def test_crlf_is_not_shown_but_counted_in_offsets() -> None:
    text = "import os\r\nimport sys\r\nimport re\r\nimport json\r\n\r\ndef f():\r\n    return 1\r\n"
    plain = {row.chunk_id: row for row in chunk_python(text.replace("\r\n", "\n")).rows}
    rows = chunk_python(text).rows
    assert {row.chunk_id for row in rows} == plain.keys()
    for row in rows:
        same = plain[row.chunk_id]
        assert (row.text, row.start_line, row.end_line) == (same.text, same.start_line, same.end_line)
        assert row.code_hash == same.code_hash
        assert text.encode()[row.start_byte : row.end_byte].decode().replace("\r\n", "\n") == row.text


def test_ids_survive_edits_of_bodies_and_of_lines_above() -> None:
    before = chunk_python((ROOT / "pipelines/locks.py").read_text()).rows
    edited = "# Something new above.\n\n" + (ROOT / "pipelines/locks.py").read_text().replace("path", "other_path")
    after = chunk_python(edited).rows
    assert {row.chunk_id for row in before} == {row.chunk_id for row in after}
    assert {row.start_line for row in before} != {row.start_line for row in after}


def test_a_new_function_leaves_the_ids_of_code_elsewhere_alone() -> None:
    block = "\n".join(f"SETTING_{number} = {number}" for number in range(5))
    text = f"{block}\n\ndef a():\n    return 1\n\n{block}\n\ndef b():\n    return 2\n\n{block}\n"
    grown = text.replace("def b()", "def new():\n    return 3\n\n\ndef b()")
    before, after = chunk_python(text).rows, chunk_python(grown).rows
    assert {row.chunk_id for row in before} < {row.chunk_id for row in after}


def test_two_equal_functions_of_one_file_have_two_ids() -> None:
    text = "def same():\n    return 1\n\n\ndef same():\n    return 1\n"
    first, second = chunk_python(text).rows
    assert first.code_hash == second.code_hash
    assert first.chunk_id != second.chunk_id


def test_symbol_outside_the_text_means_that_the_file_moved() -> None:
    text = "def f():\n    return 1\n"
    with pytest.raises(SourceMoved, match=r"a\.py has 6 bytes"):
        chunk_python("x = 1\n", symbols=[symbol(text, "def f()", "1", "f")])


def test_rows_of_a_file_of_tests_alone_are_test_rows() -> None:
    head = "import one_module, another_module, a_third_module\n\n"
    tests, mixed = f"{head}def test_a():\n    pass\n", f"{head}def a():\n    pass\n"
    assert {row.is_test for row in chunk_python(tests).rows} == {True}
    assert {row.is_test for row in chunk_python(mixed).rows} == {False}


def placed(place: int, start: int, end: int, top: int | None = None) -> SymbolRow:
    """Make a symbol that is told from the others by its ordinal alone."""
    kind = ChunkKind.CLASS if place % 2 else ChunkKind.FUNCTION
    identity = make_id(REPO, "a.py", kind, "f", place)
    return SymbolRow(identity, kind, "f", "f", place, start, end, start if top is None else top, "f()", "", False)


@st.composite
def wild_files(draw: st.DrawFn) -> tuple[str, list[SymbolRow]]:
    """Any text with symbols anywhere in it, overlapping as no grammar should make them."""
    text = draw(st.text("ab {};@#/*\n\r\u00e9\U0001f468", max_size=400))
    bounds = st.sampled_from([len(text[:place].encode()) for place in range(len(text) + 1)])
    spans = draw(st.lists(st.tuples(bounds, bounds, bounds).map(sorted), max_size=8))
    return text, [placed(place, start, end, top) for place, (top, start, end) in enumerate(spans)]


@given(wild_files())
def test_whatever_the_symbols_each_visible_byte_is_in_one_unit(wild: tuple[str, list[SymbolRow]]) -> None:
    text, symbols = wild
    source = Source(text)
    roots = make_tree(source, symbols, "a.py", 10)
    assert len(list(walk(roots))) == len(symbols)
    owned = Counter(
        place
        for unit in code_units(source, Stretch(0, len(source)), roots, SecretSpans(), Counter())
        for segment in unit.segments
        if not segment.stub
        for place in range(segment.start, segment.end)
    )
    assert set(owned.values()) <= {1}
    lost = bytes(byte for place, byte in enumerate(source.data) if place not in owned)
    assert not lost.strip()


@given(wild_files())
def test_whatever_the_symbols_ids_are_unique_and_caps_hold(wild: tuple[str, list[SymbolRow]]) -> None:
    text, symbols = wild
    rows = chunk_python(text, symbols=symbols, settings=SMALL).rows
    assert len({row.chunk_id for row in rows}) == len(rows)
    assert all(len(row.text) <= 200 and row.text.strip() for row in rows)
    assert all(1 <= row.start_line <= row.end_line for row in rows)


def test_a_short_constant_stays_in_its_module_and_a_long_one_stands_alone() -> None:
    text = "LIMIT = 3\n\nTABLE = {\n    'a': 1,\n    'b': 2,\n}\n\n\ndef f():\n    return TABLE\n"
    constants = [
        symbol(text, "LIMIT", "3", "LIMIT", ChunkKind.CONSTANT),
        symbol(text, "TABLE", "}", "TABLE", ChunkKind.CONSTANT),
    ]
    rows = chunk_python(text, symbols=[*constants, symbol(text, "def f()", "TABLE", "f")], settings=SMALL).rows
    assert {(row.kind, row.name) for row in rows} == {
        (ChunkKind.CONSTANT, "TABLE"),
        (ChunkKind.FUNCTION, "f"),
    }
    (table,) = [row for row in rows if row.name == "TABLE"]
    assert table.text.startswith("LIMIT = 3")  # too little to stand alone: a crumb of what follows


def test_nesting_of_any_depth_is_walked() -> None:
    depth = 3_000
    text = "f(" * depth + ")" * depth
    symbols = [placed(place, 2 * place, 3 * depth - place) for place in range(depth)]
    assert len(chunk_python(text, symbols=symbols).rows) == depth
