from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.discover.parsing.grammars import CompiledLanguage
from pipelines.discover.parsing.languages import LANGUAGES
from pipelines.discover.parsing.versions import grammar_versions
from tests.discover.outlines import render
from tests.discover.sources import LANGUAGE_OF, parse

FIXTURES = Path(__file__).parent / "languages"
PATHS = {language: f"src/sample.{extension}" for extension, language in LANGUAGE_OF.items() if extension != "h"}


def fixture(language: str) -> str:
    return (FIXTURES / f"{language}.source").read_text()


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_fixture_gives_the_checked_outline(language: str) -> None:
    assert render(parse(PATHS[language], fixture(language))) == (FIXTURES / f"{language}.outline").read_text()


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_windows_line_ends_change_no_name_and_no_line(language: str) -> None:
    windows = parse(PATHS[language], fixture(language).replace("\n", "\r\n"))
    assert render(windows) == render(parse(PATHS[language], fixture(language)))


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_fixture_has_no_construct_twice(language: str) -> None:
    parsed = parse(PATHS[language], fixture(language))
    assert len({row[0] for row in parsed.symbols}) == len(parsed.symbols)
    assert len({row[-1] for row in parsed.calls}) == len(parsed.calls)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_table_fits_its_grammar(language: str) -> None:
    assert CompiledLanguage(LANGUAGES[language]).rules


def test_a_header_of_cpp_that_is_named_like_one_of_c_is_read_as_cpp() -> None:
    parsed = parse("zone.h", "namespace geo {\nclass Zone {\n  int area() { return side(); }\n};\n}\n")
    assert [row[3] for row in parsed.symbols] == ["geo.Zone", "geo.Zone.area"]
    assert parsed.error_nodes == 0


def test_a_header_of_c_is_read_as_c() -> None:
    parsed = parse("zone.h", "/* class of zones: using the template */\nstruct class { int template; };\n")
    assert [row[3] for row in parsed.symbols] == ["class"]


def test_versions_name_every_grammar_once() -> None:
    named = [item.split("=")[0] for item in grammar_versions().split()]
    assert named == sorted(set(named))
    assert set(named) == {"tree-sitter", *(language.grammar.distribution for language in LANGUAGES.values())}
