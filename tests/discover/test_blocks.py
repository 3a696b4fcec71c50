from __future__ import annotations

from pipelines.discover.parsing.recovery.blocks import Block, lost_blocks
from tests.discover.outlines import symbols
from tests.discover.sources import parse

_BROKEN = "static int broken(void)\n{\n\tif (x {\n\tasm(1 2 {;\n\treturn 1;\n}\n\n"


def texts(data: str, blocks: list[Block]) -> list[str]:
    return [data[block.start : block.end] for block in blocks]


def test_definitions_after_an_error_are_found() -> None:
    parsed = parse("a.c", _BROKEN + "static int\nwanted(int a)\n{\n\treturn go(a);\n}\n\nstruct pair {\n\tint a;\n};\n")
    found = symbols(parsed)
    assert [(item["kind"], item["qualified"]) for item in found][-2:] == [("function", "wanted"), ("struct", "pair")]
    assert (found[-2]["first"], found[-2]["last"]) == (8, 12)
    assert parsed.error_nodes > 0


def test_a_brace_that_is_missing_does_not_make_one_function_of_many() -> None:
    parsed = parse(
        "a.c", "int broken(void)\n{\n\tfor (;;) {\n\t\tgo();\n}\n\nint\nlast(int a)\n{\n\treturn call(a);\n}\n"
    )
    found = symbols(parsed)
    assert [(item["qualified"], item["first"], item["last"]) for item in found] == [("broken", 1, 5), ("last", 7, 11)]
    callers = {item["id"]: item["name"] for item in found}
    assert [(callers[call[0]], call[1]) for call in parsed.calls] == [("broken", "go"), ("last", "call")]
    assert parsed.recovered > 0


def test_a_file_without_errors_recovers_nothing() -> None:
    assert parse("a.c", "int f(void)\n{\n\treturn 1;\n}\n").recovered == 0


def test_a_block_is_lost_where_no_definition_has_its_place() -> None:
    data = "int f(void)\n{\n}\n\nint g(int a,\n      int b)\n{\n}\n"
    assert texts(data, lost_blocks(data.encode(), [(0, 15)])) == ["int g(int a,\n      int b)\n{\n}"]


def test_a_head_ends_at_blank_lines_directives_comments_and_statements() -> None:
    for before in ("\n", "#define A\n", "/* text */\n", "int x;\n}\n"):
        data = before + "int f(a)\nint a;\n{\n}\n"
        assert texts(data, lost_blocks(data.encode(), [])) == ["int f(a)\nint a;\n{\n}"]


def test_braces_in_the_first_column_without_a_beginning_are_no_blocks() -> None:
    assert lost_blocks(b"}\n" * 5_000, []) == []
    assert lost_blocks(b"{\n}\n" * 50, []) == []
