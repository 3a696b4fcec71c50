from __future__ import annotations

import dataclasses

import pytest

from pipelines.discover.parsing import parse as parsing
from pipelines.discover.parsing.languages import LANGUAGES
from pipelines.discover.parsing.readable import MAX_LINE_CHARS
from tests.discover.outlines import symbols
from tests.discover.sources import parse


@pytest.mark.parametrize("padding", [0, 8_193])
def test_nul_makes_a_file_binary_wherever_it_stands(padding: int) -> None:
    parsed = parse("n.py", "#" * padding + "\ndef before(): pass\nx='\0'\ndef after_nul(): return 1\n")
    assert parsed.skip_reason == "binary"
    assert parsed.skip_detail == f"NUL at byte {padding + 23}"
    assert parsed.symbols == []


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_mark_is_read(encoding: str) -> None:
    parsed = parse("u.py", ("\ufeff" + "x = 'é'\ndef utf16_fn():\n    return 1\n").encode(encoding))
    assert parsed.encoding == encoding
    assert [(item["name"], item["first"]) for item in symbols(parsed)] == [("utf16_fn", 2)]


def test_a_byte_that_is_no_utf_8_costs_nothing() -> None:
    parsed = parse("l1.py", b"# caf\xe9\ndef latin_fn():\n    return '\xff'\n")
    assert (parsed.encoding, [item["name"] for item in symbols(parsed)]) == ("latin-1", ["latin_fn"])


@pytest.mark.parametrize("text", ["", "\n \t\n", "\ufeff\n"])
def test_blank_files_are_told(text: str) -> None:
    assert parse("blank.py", text).skip_reason == "empty"


def test_one_long_line_of_code_is_generated() -> None:
    parsed = parse("app.min.js", "/* licence */\n" + "a=function(){return 1};" * 20_000)
    assert parsed.skip_reason == "generated"
    assert parsed.skip_detail == "a line of 460000 characters, 100% of the text in such lines"


@pytest.mark.parametrize("blank", ["\n", "    \n", "\t\r\n"])
def test_empty_lines_hide_no_generated_line(blank: str) -> None:
    assert parse("app.min.js", "a=function(){return 1};" * 5_000 + blank * 5_000).skip_reason == "generated"


def test_lines_that_are_not_overlong_are_no_sign_of_a_tool() -> None:
    text = "def f(): pass\n" + f'data = "{"x" * (MAX_LINE_CHARS - 100)}"\n' * 5
    assert len(parse("data.py", text).symbols) >= 1


def test_one_long_line_in_a_written_file_is_not() -> None:
    text = f'data = "{"x" * MAX_LINE_CHARS}"\n' + "".join(f"def f{number}(): pass\n" for number in range(100))
    assert len(parse("data.py", text).symbols) == 100


def test_text_without_a_grammar_has_lines_and_secrets_and_no_symbols() -> None:
    parsed = parse("notes.md", "# Title\n\ndef not_code(): pass")
    assert (parsed.lines, parsed.symbols, parsed.skip_reason) == (3, [], None)


def test_equal_files_have_ids_of_their_own() -> None:
    one, two = parse("a/x.py", "def same(): pass\n"), parse("b/x.py", "def same(): pass\n")
    assert symbols(one)[0]["id"] != symbols(two)[0]["id"]


def test_a_table_that_does_not_fit_its_grammar_costs_that_language_its_symbols(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = dataclasses.replace(LANGUAGES["go"], calls=("(no_such_node) @name",))
    monkeypatch.setitem(LANGUAGES, "go", broken)
    parsing._compiled.cache_clear()
    try:
        go = parse("a.go", "package p\nfunc f() {}\n")
        python = parse("a.py", "def f(): pass\n")
    finally:
        parsing._compiled.cache_clear()
    assert (go.symbols, go.skip_reason, go.lines) == ([], None, 2)
    assert go.skip_detail is not None
    assert "go grammar" in go.skip_detail
    assert "no_such_node" in go.skip_detail
    assert len(python.symbols) == 1
