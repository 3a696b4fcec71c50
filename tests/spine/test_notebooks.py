from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pipelines import notebooks
from pipelines.decode import NotText
from pipelines.file_text import NOTEBOOK, FileText, read_text
from pipelines.notebooks import Cell, Notebook, read_notebook
from pipelines.records import SkipReason


def cell(kind: str, source: Any, **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": source, **more}


def make_notebook(*cells: Any, **more: Any) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, **more}


NOTES = make_notebook(
    cell("markdown", ['# A "title" é\n', "Text 🙂."], id="notes"),
    cell("code", ["import os\n", "\n", "def f():\n", "    return '\\n'"], outputs=[{"data": {"image/png": "iVBOR"}}]),
    cell("code", []),
    cell("code", "x = 1\ny = 2\n"),
)


def opened(document: Any, **options: Any) -> Notebook:
    found = read_notebook(json.dumps(document, **options))
    assert isinstance(found, Notebook)
    return found


def refused(text: str) -> NotText:
    found = read_notebook(text)
    assert isinstance(found, NotText)
    return found


def test_sources_stand_one_after_the_other_and_outputs_nowhere() -> None:
    found = opened(NOTES, indent=1)
    assert found.text == "# A \"title\" é\nText 🙂.\nimport os\n\ndef f():\n    return '\\n'\nx = 1\ny = 2\n"
    assert found.cells == (
        Cell("markdown", "notes", 0, 26),
        Cell("code", "", 26, 62),
        Cell("code", "", 62, 74),
    )
    assert found.language == "python"


def test_lines_are_those_of_the_file() -> None:
    text = json.dumps(NOTES, indent=1)
    file = text.split("\n")
    found = opened(NOTES, indent=1)
    shown = [file[line - 1].strip() for line in found.lines]
    assert shown == [
        '"# A \\"title\\" \\u00e9\\n",',
        '"Text \\ud83d\\ude42."',
        '"import os\\n",',
        '"\\n",',
        '"def f():\\n",',
        "\"    return '\\\\n'\"",
        '"source": "x = 1\\ny = 2\\n"',
        '"source": "x = 1\\ny = 2\\n"',
    ]


@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_spans_are_found_in_the_file_and_back(ascii: bool, encoding: str) -> None:
    written = json.dumps(NOTES, ensure_ascii=ascii)
    data = ("\ufeff" if encoding != "utf-8" else "").encode(encoding) + written.encode(encoding)
    found = read_text(NOTEBOOK, data)
    assert isinstance(found, FileText)
    for words in ('"title"', "é", "🙂.", "def f():", "'\\n'", "y = 2"):
        start = len(found.text[: found.text.index(words)].encode())
        span = found.to_file(start, start + len(words.encode()))
        assert json.loads(f'"{data[slice(*span)].decode(encoding)}"') == words
        assert found.to_text(*span) == (start, start + len(words.encode()))


def test_what_the_text_leaves_out_has_no_place_in_it() -> None:
    data = json.dumps(NOTES).encode()
    found = read_text(NOTEBOOK, data)
    assert isinstance(found, FileText)
    for words in (b"iVBOR", b'{"cells"', b"kernelspec", b"nbformat"):
        place = data.index(words)
        start, end = found.to_text(place, place + len(words))
        assert start == end


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({}, "python"),
        ({"kernelspec": {"language": "R"}}, "r"),
        ({"kernelspec": {"name": "x"}, "language_info": {"name": "julia"}}, "julia"),
        ({"language_info": {"name": "C++17"}}, "cpp"),
        ({"kernelspec": {"language": "bash"}}, "shell"),
        ({"kernelspec": 7, "language_info": []}, "python"),
        ([], "python"),
    ],
)
def test_the_kernel_tells_the_language(metadata: Any, language: str) -> None:
    assert opened({"metadata": metadata, "cells": [cell("code", "x")]}).language == language


def test_notebooks_of_format_3_are_read() -> None:
    sheet = {"cells": [{"cell_type": "code", "input": ["f()"], "outputs": []}, cell("heading", "Title", level=2)]}
    found = opened({"metadata": {"name": ""}, "nbformat": 3, "worksheets": [sheet, 7]})
    assert (found.text, [item.kind for item in found.cells]) == ("f()\nTitle\n", ["code", "heading"])


def test_what_no_text_may_hold_is_replaced() -> None:
    found = read_notebook('{"cells": [{"cell_type": "code", "source": "a\\u0000b\\ud83dc\\udead"}]}')
    assert isinstance(found, Notebook)
    assert found.text == "a\ufffdb\ufffdc\ufffd\n"
    assert len(found.text.encode()) == found.cells[0].end


@pytest.mark.parametrize("source", [None, 7, {"a": 1}, [None, ["x"], {}], "", []])
def test_a_cell_without_a_source_is_none(source: Any) -> None:
    found = opened(make_notebook(cell("code", source), "no cell", 7, cell("code", "x = 1")))
    assert found.text == "x = 1\n"


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("{", "no JSON: a key was expected in line 1"),
        ('{"cells": [\n{"source": ["a}', "no JSON: Unterminated string starting at in line 2"),
        ('{"cells": [{"source": "a"} 7]}', "no JSON: ',' was expected in line 1"),
        ('{"cells" 7}', "no JSON: ':' was expected in line 1"),
        ('{"cells": [{"source": "a\nb"}]}', "no JSON: Invalid control character at in line 1"),
        ("[]", "no notebook: not an object"),
        ("{}", "no notebook: no cells"),
        ('{"cells": 7}', "no notebook: no cells"),
        ('{"cells": [], "x": ' + "[" * 200_000 + "}", "nested too deep"),
        ('{"cells": [' + '{"a": ' * 200_000 + "}", "nested too deep"),
    ],
)
def test_what_is_no_notebook_is_told(text: str, detail: str) -> None:
    assert refused(text) == NotText(SkipReason.MALFORMED, detail)


def test_the_limit_is_that_of_the_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks, "MAX_SOURCE_BYTES", 100)
    outputs = [{"data": {"image/png": "A" * 10_000}}]
    assert opened(make_notebook(cell("code", "x" * 99, outputs=outputs))).text == "x" * 99 + "\n"
    assert refused(json.dumps(make_notebook(cell("code", "x" * 101)))).reason is SkipReason.TOO_LARGE


@pytest.mark.parametrize(
    "source",
    [
        r"a\n\n\tb\"\\\/",
        r"\u0041\u0042\u00e9\u07ff\u0800\uffff",
        r"\u0000\u0000é\ud800\ud800\udc00\ud83d\ude42\uDEAD\uD83D\uDE42\ud83d",
        r"é\u000a\n日本\u65e5本🙂\\u0041\u005c\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_each_character_of_a_source_has_its_place_however_it_is_written(source: str, encoding: str) -> None:
    written = f'{{"cells": [{{"source": ["x", "{source}", "", "{source}"]}}]}}'
    data = ("\ufeff" if encoding != "utf-8" else "").encode(encoding) + written.encode(encoding)
    found = read_text(NOTEBOOK, data)
    assert isinstance(found, FileText)
    plain = re.sub("[\0\ud800-\udfff]", "\ufffd", json.loads(f'"{source}"'))
    assert found.text.rstrip("\n") == f"x{plain}{plain}".rstrip("\n")
    place = 0
    for char in found.text.rstrip("\n"):
        span = found.to_file(place, place + len(char.encode()))
        there = json.loads(f'"{data[slice(*span)].decode(encoding)}"')
        assert re.sub("[\0\ud800-\udfff]", "\ufffd", there) == char
        place += len(char.encode())
    assert found.notebook is not None
    assert len(found.notebook.lines) == found.text.count("\n")


def test_names_kinds_and_the_language_are_text() -> None:
    found = read_notebook(
        r'{"cells": [{"cell_type": "\ud800", "id": "a\udead\u0000", "source": "x"}],'
        r' "metadata": {"kernelspec": {"language": "\ud800"}}}'
    )
    assert isinstance(found, Notebook)
    assert (found.cells, found.language) == ((Cell("\ufffd", "a\ufffd\ufffd", 0, 2),), "\ufffd")


@pytest.mark.parametrize("number", ["1" * 5_000, "-" + "1" * 5_000 + ".5", "1e" + "9" * 5_000, "NaN"])
def test_numbers_are_passed_over(number: str) -> None:
    text = f'{{"cells": [{{"source": "x = 1", "id": {number}, "outputs": [{number}]}}, {{"source": {number}}}]}}'
    found = read_notebook(text)
    assert isinstance(found, Notebook)
    assert (found.text, len(found.cells), found.cells[0].name) == ("x = 1\n", 1, "")


def test_runs_of_escapes_are_one_stretch() -> None:
    for escape in (r"\u0041", r"\n", r"\ud83d\ude42"):
        found = read_notebook(f'{{"cells": [{{"source": "{escape * (notebooks.MAX_STRETCHES + 1)}"}}]}}')
        assert isinstance(found, Notebook)


@pytest.mark.parametrize(
    "cells",
    [
        '{"source": "%s"}' % (r"a\n" * 60),
        '{"source": [%s""]}' % ('"",' * 60),
        '{"source": [7%s]}' % (',""' * 60),
        "{}" + ", {}" * 60,
        "{" + ", ".join(f'"{number}": 0' for number in range(60)) + "}",
    ],
)
def test_what_has_too_many_parts_is_too_large(cells: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks, "MAX_PARTS", 50)
    monkeypatch.setattr(notebooks, "MAX_STRETCHES", 100)
    assert refused(f'{{"cells": [{cells}]}}').reason is SkipReason.TOO_LARGE


def test_the_lists_that_are_passed_over_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks, "MAX_CONTAINERS", 100)
    text = json.dumps(make_notebook(cell("code", "x", outputs=[[[]] * 100])))
    assert refused(text).reason is SkipReason.TOO_LARGE
