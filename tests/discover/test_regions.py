from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.discover.parsing.parse import ParsedFile, parse_file
from pipelines.discover.parsing.regions import MAX_REGIONS, regions
from pipelines.discover.parsing.relocation import PLACES
from pipelines.formats import CALLS_TABLE, IMPORTS_TABLE, SECRETS_TABLE, SYMBOLS_TABLE, TYPINGS_TABLE
from tests.discover.outlines import render, symbols

FOLDER = Path(__file__).parent / "regions"
VUE = (FOLDER / "component.vue").read_text()
PAGE = (FOLDER / "page.html").read_text()
NOTEBOOK = (FOLDER / "parcels.ipynb").read_text()


def parse(language: str, text: str) -> ParsedFile:
    return parse_file("sample", f"src/a.{language}", language, text.encode())


def scripts(language: str, text: str) -> list[tuple[str, str]]:
    data = text.encode()
    return [(item.language, data[slice(*item.span)].decode()) for item in regions(language, data)]


def test_scripts_of_a_component_have_symbols_at_their_places_in_the_file() -> None:
    assert render(parse("vue", VUE)).splitlines() == [
        "10-12 interface Shelf : export interface Shelf",
        "20-22 function label : function label(parcel: Parcel): string",
        "      The words on a parcel: größer als eine Zeile.",
        "24-26 function sort : const sort = () =>",
        "21 label calls shorten",
        "25 sort calls label",
        "25 sort calls first",
        "16 imports vue name ref",
        "17 imports ./Lid.vue name default as Lid",
        "errors 0",
    ]


def test_offsets_are_those_of_the_file() -> None:
    data = VUE.encode()
    shown = [data[item["start"] : item["end"]].decode() for item in symbols(parse("vue", VUE))]
    assert shown[1] == 'function label(parcel: Parcel): string {\n  return shorten(parcel.words, "</p>") + `é`\n}'
    assert shown[2].startswith("const sort = ")


def test_a_page_has_the_scripts_that_run_and_a_broken_one_costs_no_other() -> None:
    parsed = parse("html", PAGE)
    assert [(item["qualified"], item["first"], item["doc"]) for item in symbols(parsed)] == [
        ("start", 9, "Starts it all."),
        ("late", 14, ""),
    ]
    names = {item["id"]: item["name"] for item in symbols(parsed)}
    assert [(names.get(caller), name) for caller, name, *_ in parsed.calls] == [("start", "seal"), ("late", "start")]
    assert [row[:2] for row in parsed.imports] == [["./seal.js", "seal"]]
    assert parsed.error_nodes > 0


@pytest.mark.parametrize("attributes", ['lang="ts"', "lang=ts", "LANG='TypeScript'", 'type="text/typescript"'])
def test_the_language_of_a_script_is_what_it_says(attributes: str) -> None:
    assert scripts("html", f"<script {attributes}>f</script>") == [("typescript", "f")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<script>", []),
        ("<script", []),
        ("<script>  </script>", []),
        ("<script src='x' />\n<script>f()</script>", ["f()"]),
        ("<script>f()</scripts></script >g()", ["f()</scripts>"]),
        ("<script it's>f()</script>", ["f()"]),
        ("<!-- <script>f()</script>", []),
        ("<style><script>f()</script>", []),
        ("<scripting>f()</scripting>", []),
    ],
)
def test_odd_markup(text: str, found: list[str]) -> None:
    assert [code for _, code in scripts("html", text)] == found


def test_an_astro_page_begins_with_its_code() -> None:
    code = "import Box from './Box.astro'\nfunction total(): number { return 1 }\n"
    text = f"---\n{code}---\n<p>{{total()}}</p>\n<script>start()</script>\n"
    assert [language for language, _ in scripts("astro", text)] == ["typescript", "typescript"]
    parsed = parse("astro", text)
    assert [(item["name"], item["first"]) for item in symbols(parsed)] == [("total", 3)]
    assert scripts("astro", "<p>---</p>\n") == []


def test_secrets_in_a_script_are_masked_and_in_place() -> None:
    text = '<p>é</p>\n<script>\nfunction open(key = "AKIAQ3EGRZVX7LTPWY5N") {}\n</script>\n'
    parsed = parse("html", text)
    ((start, end, first, last, _),) = parsed.secrets
    assert text.encode()[start:end] == b"AKIAQ3EGRZVX7LTPWY5N"
    assert (first, last) == (3, 3)
    assert [(item["name"], item["signature"]) for item in symbols(parsed)] == [("open", "")]


def test_a_generated_script_costs_itself_alone() -> None:
    text = f"<script>{'a=function(){return 1};' * 3_000}</script>\n<script>function kept() {{}}</script>\n"
    parsed = parse("html", text)
    assert [item["name"] for item in symbols(parsed)] == ["kept"]
    assert parsed.skip_reason is None
    assert parsed.skip_detail == "a line of 69000 characters, 100% of the text in such lines"


def test_a_page_of_nothing_but_scripts_is_read_to_a_limit() -> None:
    text = "<script>function f(){}</script>\n" * (MAX_REGIONS + 10)
    parsed = parse("html", text)
    assert len(parsed.symbols) == MAX_REGIONS
    assert symbols(parsed)[-1]["first"] == MAX_REGIONS
    assert parsed.skip_detail == f"more than {MAX_REGIONS} scripts or cells"
    assert regions("html", b"<script " * 50_000) == []
    assert regions("html", b"<script a='" * 50_000) == []


def test_other_files_have_no_regions() -> None:
    assert regions("python", b"<script>f()</script>") == []


def test_cells_of_a_notebook_are_one_module_with_the_lines_of_the_file() -> None:
    assert render(parse("jupyter", NOTEBOOK)).splitlines() == [
        "37-39 function weigh : def weigh(parcel)",
        "      Weighs one parcel.",
        "67-71 class Total : class Total",
        "      Sums weights é.",
        "70-71 method Total.add : def add(self, parcel)",
        "96-97 function broken : def broken(",
        "107-108 function last : def last()",
        "38 weigh calls check of parcel",
        "39 weigh calls scale",
        "71 Total.add calls weigh",
        "73 - calls Total",
        "74 - calls add of total",
        "32 imports parcels",
        "errors 1",
    ]


def test_offsets_of_a_notebook_are_those_of_the_file() -> None:
    parsed = parse("jupyter", NOTEBOOK)
    data = NOTEBOOK.encode()
    shown = {item["name"]: data[item["start"] : item["end"]] for item in symbols(parsed)}
    assert shown["last"] == b'def last():\\n",\n    "    return total'
    assert {item["name"]: data[item["top"] :][:11] for item in symbols(parsed)}["weigh"] == b"# Weighs on"
    assert [data[row[-1] :].split(b"(")[0].decode() for row in parsed.calls] == [row[1] for row in parsed.calls]
    assert parsed.lines == len(NOTEBOOK.splitlines())


def test_secrets_of_a_notebook_are_found_in_cells_and_outputs() -> None:
    token = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    text = NOTEBOOK.replace("def last():", f"def last(key={token!r}):")
    parsed = parse("jupyter", text)
    data = text.encode()
    assert [(data[row[0] : row[1]].decode(), row[2], row[3]) for row in sorted(parsed.secrets)] == [
        (token, 23, 23),
        (token, 107, 107),
    ]
    assert {item["name"]: item["signature"] for item in symbols(parsed)}["last"] == ""


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("%time def f(): pass", ["f"]),
        ("  %timeit -n 3 g()\ndef f(): pass", ["f"]),
        ("x = %env HOME\ndef f(): pass", ["f"]),
        ("?open\nopen??\n!ls \\\n  -l\r\ndef f(): pass", ["f"]),
        ("%%writefile a.py\ndef f(): pass", ["f"]),
        ("%%writefile a.sh\ndef f(): pass", []),
        ("%%html\n<script>function f() {}</script>", []),
        ("%%time\n%matplotlib\n", []),
        ("def f():\n    return (x\n        % y)\ndef g(): pass", ["f", "g"]),
    ],
)
def test_commands_to_the_notebook_cost_no_symbols(source: str, names: list[str]) -> None:
    text = json.dumps({"cells": [{"cell_type": "code", "source": source}]})
    assert [item["name"] for item in symbols(parse("jupyter", text))] == names


def test_a_notebook_of_another_kernel_has_no_symbols_or_those_of_its_language() -> None:
    code = {"cell_type": "code", "source": "def f = 1"}
    text = json.dumps({"metadata": {"kernelspec": {"language": "R"}}, "cells": [code]})
    parsed = parse("jupyter", text)
    assert (parsed.symbols, parsed.skip_reason, parsed.skip_detail) == ([], None, "no grammar for r")
    rust = json.dumps({"metadata": {"kernelspec": {"language": "rust"}}, "cells": [{**code, "source": "fn f() {}"}]})
    assert [item["name"] for item in symbols(parse("jupyter", rust))] == ["f"]


@pytest.mark.parametrize(
    "language", [r"\ud800", r"a\u001b[31mb", "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5", "x" * 9_000]
)
def test_the_words_of_a_notebook_stand_in_no_detail(language: str) -> None:
    kernel = f'{{"kernelspec": {{"language": "{language}"}}}}'
    text = f'{{"cells": [{{"cell_type": "code", "source": "x = 1"}}], "metadata": {kernel}}}'
    parsed = parse("jupyter", text)
    assert (parsed.skip_reason, parsed.skip_detail) == (None, "no grammar for the notebook's language")


def test_what_is_no_notebook_is_skipped() -> None:
    assert parse("jupyter", "{}").skip_reason == "malformed"
    assert parse("jupyter", '{"cells": []}').skip_reason == "empty"


def test_places_are_the_columns_of_the_formats() -> None:
    tables = {"symbols": SYMBOLS_TABLE, "calls": CALLS_TABLE, "imports": IMPORTS_TABLE}
    tables |= {"secrets": SECRETS_TABLE, "typings": TYPINGS_TABLE}
    for name, schema in tables.items():
        columns = [column for column in schema.names if column != "path"]
        spans, offsets, lines = PLACES[name]
        assert {columns[place] for span in spans for place in span} <= {"start_byte", "end_byte"}
        placed = {columns[place] for place in (*(place for span in spans for place in span), *offsets, *lines)}
        assert placed == {column for column in columns if column.endswith(("_byte", "line"))}
