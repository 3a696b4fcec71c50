from __future__ import annotations

from time import process_time

import pytest

from pipelines.discover.parsing.parse import ParsedFile, parse_file
from pipelines.discover.parsing.recovery.depth import is_deeper
from pipelines.discover.parsing.recovery.macros import hide_macros

#: Seconds that a text may take on a busy machine; in square time each one took more.
PATIENCE_S = 4.0
LINES = "\n" * 1_100
FUNCTION = "CREATE FUNCTION f() AS "


def parse(language: str, text: str) -> ParsedFile:
    began = process_time()
    parsed = parse_file("sample", "a", language, text.encode())
    assert process_time() - began < PATIENCE_S
    return parsed


@pytest.mark.parametrize("unit", ["[", '"[', "`[a", "\u00e9", "@a.a . ", "AS\n"])
def test_what_is_never_closed_costs_sql_no_square_time(unit: str) -> None:
    assert len(parse("sql", FUNCTION + unit * 60_000 + LINES).symbols) == 1


def test_a_delimiter_that_never_comes_is_looked_for_once() -> None:
    assert len(parse("sql", "DELIMITER $$\n" + "CREATE FUNCTION f() AS\nGO\n" * 20_000).symbols) == 20_000


@pytest.mark.parametrize("unit", ["<script ", "<script '", '<script ">', "<!--"])
def test_tags_that_never_end_cost_no_square_time(unit: str) -> None:
    assert parse("html", unit * 100_000).symbols == []


def test_a_tag_after_one_that_never_ends_is_found() -> None:
    text = "<script " + "a " * 2_000 + "<script lang='js'" + " " * 200 + ">function f() {}</script>"
    assert len(parse("html", text).symbols) == 1


def test_a_long_line_costs_macros_no_square_time() -> None:
    began = process_time()
    hide_macros(b") AAAA {" * 120_000 + b"\n" * 1_100)
    assert process_time() - began < PATIENCE_S


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("elixir", "[\n" * 100_000),
        ("ruby", "(\n" * 100_000),
        ("elixir", "f(" * 3_000 + ")" * 3_000),
        ("ruby", "f(" * 3_000 + ")" * 3_000),
        ("lua", "do\n" * 40_000),
        ("elixir", "fn->\n" * 40_000),
        *[(language, "{\n" * 50_000) for language in ("swift", "kotlin", "scala", "csharp", "zig", "lua", "shell")],
    ],
)
def test_what_is_nested_too_deeply_is_text(language: str, text: str) -> None:
    parsed = parse(language, text)
    assert (parsed.skip_reason, parsed.skip_detail, parsed.symbols) == (None, "nested too deeply", [])


def test_levels_of_brackets() -> None:
    assert is_deeper(b"a[{(" * 400, 1_000)
    assert is_deeper(b"f( " * 1_020 + b")" * 5_000, 1_000)
    assert not is_deeper(b"f(" * 1_000 + b")" * 1_000, 1_000)
    assert not is_deeper(b"{ f([x]) }\n" * 50_000, 1_000)
    assert not is_deeper(b")" * 5_000 + b"(" * 1_000, 1_000)


@pytest.mark.parametrize("language", ["kotlin", "scala", "csharp", "java", "swift", "typescript", "rust", "go", "php"])
def test_other_languages_are_read_at_any_depth(language: str) -> None:
    opening = "<?php\n" if language == "php" else ""
    assert not parse(language, f"{opening}x = " + "f(" * 3_000 + ")" * 3_000 + ";\n").skip_detail
