"""Section D of the reported faults: parsing and cutting. Each test builds the input and states what is right."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from pipelines.settings import override
from tests.assets_defs.builders import DAGSTER_S_OWN, index_path
from tests.cases.builders import Built, Counting, index, make_case
from tests.discover.git_repository import write
from tests.discover.test_workers import COMMAND
from tests.serving.builds import SETTINGS, build, publish

pytestmark = pytest.mark.filterwarnings(*DAGSTER_S_OWN)
Capture = pytest.CaptureFixture[str]


def errors_in(case: Built, path: str) -> int:
    count: int = case.files[path]["error_nodes"]
    return count


def require_every_visible_line(case: Built, path: str) -> None:
    """Every line of a file that holds more than brackets stands in some chunk of it, and no byte in two."""
    texts = [row["text"] for row in case.chunks if row["path"] == path]
    shown = {line.strip() for text in texts for line in text.splitlines()}
    lines = {line.strip() for line in (case.root / path).read_text().splitlines() if any(map(str.isalnum, line))}
    assert lines <= shown


def test_functions_inside_and_arrows_bound_to_names_call(tmp_path: Path, capsys: Capture) -> None:
    """37"""
    files = {
        "n.py": (
            "def dispatch(n):\n    return n\n\n\n"
            "def reg():\n  @app.call_tool()\n  async def handle(n):\n    return dispatch(n)\n"
        ),
        "c.tsx": (
            "import { push } from './push';\n\nexport function Cart() {\n"
            "  const handleClear = () => { push('/x') };\n  return <button onClick={handleClear}>clear</button>;\n}\n"
        ),
        "push.ts": "export function push(path: string) {\n  return path;\n}\n",
    }
    case = index(make_case(tmp_path, files))
    assert {("reg.handle", "dispatch"), ("Cart.handleClear", "push")} <= case.edges().keys()
    for name, path in (("handle", "n.py"), ("handleClear", "c.tsx")):
        assert (case.hits(capsys, name)[0]["path"], case.hits(capsys, name)[0]["symbol"].rpartition(".")[2]) == (
            path,
            name,
        )
    for word in ("return dispatch(n)", "push('/x')"):
        assert sum(word in row["text"] for row in case.chunks) == 1


def test_a_function_inside_a_method_is_not_the_method_of_its_name(tmp_path: Path) -> None:
    """38"""
    text = "class Widget{ render(a){ function handler(v){return v} return handler(a) } handler(a){return a+1} }\n"
    case = index(make_case(tmp_path, {"w.js": text}))
    assert sorted(case.names("w.js")) == ["Widget", "Widget.handler", "Widget.render", "Widget.render.handler"]
    assert len({row["symbol_id"] for row in case.symbols}) == 4
    assert case.edges() == {("Widget.render", "Widget.render.handler"): 1}


MACROS = "FOO(foo)\nFOO(bar)\nint real(void)\n{\n    return 1;\n}\n"
BISON = """\
#define FAIL(x) /*YYERROR*/ \\
do { \\
    abort_with(x); /* never; returns */ \\
} while (0)

static int after(void){return 1;}
"""


def test_macros_swallow_no_function(tmp_path: Path, capsys: Capture) -> None:
    """40"""
    case = index(make_case(tmp_path, {"m.c": MACROS, "b.c": BISON}))
    assert "real" in case.names("m.c")
    assert "after" in case.names("b.c")
    for name, path in (("real", "m.c"), ("after", "b.c")):
        hit = case.hits(capsys, name)[0]
        assert (hit["path"], hit["symbol"]) == (path, name)
        require_every_visible_line(case, path)
    assert [row["start_line"] for row in case.symbols if row["name"] == "real"] == [3]


VUE = (
    "<template>\n  <p>a parcel template</p>\n</template>\n\n<script>\nexport const A = 1\n</script>\n\n"
    '<script setup lang="ts">\nimport { g } from "./g"\n\nfunction f(x: number) {\n  return g(x)\n}\n</script>\n'
)
SVELTE = '<script context="module">\nexport const A = 1\n</script>\n<p>a parcel template</p>\n' + VUE[
    VUE.index("<script setup") :
].replace(" setup", "")


@pytest.mark.parametrize(("name", "text"), [("C.vue", VUE), ("S.svelte", SVELTE)])
@pytest.mark.parametrize("odd", [False, True], ids=["plain", "CRLF and mark"])
def test_scripts_inside_pages_are_parsed_at_their_lines(
    tmp_path: Path, capsys: Capture, name: str, text: str, odd: bool
) -> None:
    """42"""
    content = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode() if odd else text.encode()
    case = index(make_case(tmp_path, {name: content, "g.ts": "export function g(x: number) {\n  return x\n}\n"}))
    line = 1 + text[: text.index("function f")].count("\n")
    hit = case.hits(capsys, "f", "--mode", "symbol")[0]
    assert (hit["path"], hit["symbol"], hit["start_line"]) == (name, "f", line)
    assert {"A", "f"} <= set(case.names(name))
    assert ("f", "g") in case.edges()
    assert case.hits(capsys, "parcel template")[0]["path"] == name
    (symbol,) = (row for row in case.symbols if row["name"] == "f")
    assert (symbol["start_line"], symbol["end_line"]) == (line, line + 2)
    data = (case.root / name).read_bytes()[symbol["start_byte"] : symbol["end_byte"]]
    assert data.decode().replace("\r\n", "\n") == "function f(x: number) {\n  return g(x)\n}"


def test_each_dialect_of_javascript_has_its_grammar(tmp_path: Path, capsys: Capture) -> None:
    """43"""
    files = {
        "a.tsx": "export function call(x: number) { return x }\nexport const A = () => <div>{call(1)}</div>;\n",
        "b.ts": "const b: unknown = 1;\nconst a = <string>b;\nfunction q() { return a }\n",
        "c.js": "const C = () => <p className='x'>{1}</p>;\n",
        "d.mts": "export function fromModule(x: number): number { return x }\n",
        "e.cts": "export function fromCommon(x: number): number { return x }\n",
    }
    case = index(make_case(tmp_path, files))
    assert {path: errors_in(case, path) for path in files} == dict.fromkeys(files, 0)
    assert ("A", "call") in case.edges()
    for name, path in (("q", "b.ts"), ("fromModule", "d.mts"), ("fromCommon", "e.cts")):
        assert case.hits(capsys, name, "--mode", "symbol")[0]["path"] == path


#: A parser in which one language's table names a node type that its grammar does not have.
BROKEN_TABLE = textwrap.dedent(
    """
    import dataclasses, sys
    from pipelines.discover.parsing import languages
    from pipelines.discover.processes import worker
    broken = languages.LANGUAGES["go"]
    languages.LANGUAGES["go"] = dataclasses.replace(broken, calls=(*broken.calls, "(no_such_node) @x"))
    sys.exit(worker.main())
    """
)


def test_a_broken_language_table_costs_that_language_its_symbols_alone(tmp_path: Path, capsys: Capture) -> None:
    """44"""
    files = {f"m{number}.py": f"def step_{number}(): pass\n" for number in range(20)}
    root = make_case(tmp_path, {**files, "g.go": "package g\n\nfunc Lost() int { return 1 }\n"})
    case = index(root, parser=(sys.executable, "-P", "-c", BROKEN_TABLE))
    assert not any(case.reasons().values())
    assert {row["path"] for row in case.symbols} == set(files)
    assert "no_such_node" in case.files["g.go"]["skip_detail"]
    assert case.hits(capsys, "Lost")[0]["path"] == "g.go"
    outcome = index_path(root, repo="parcels")
    assert outcome.warnings == (f"1 file of go without symbols: {case.files['g.go']['skip_detail']}",)


def test_deep_nesting_costs_its_file_at_most(tmp_path: Path, capsys: Capture) -> None:
    """45"""
    files = {
        "deep.py": "x = " + "(" * 3_000 + "1" + ")" * 3_000 + "\n",
        "chain.js": "a" + ".b()" * 5_000 + "\n",
        "deep.json": "[" * 5_000 + "\n",
        "blocks.c": "int f(void)\n" + "{" * 3_000 + "}" * 3_000 + "\n",
        "ok.py": "def fine(): pass\n",
    }
    before = sys.getrecursionlimit()
    case = index(make_case(tmp_path, files))
    assert sys.getrecursionlimit() == before
    assert set(case.reasons().values()) == {None}
    assert {row["path"] for row in case.chunks} >= set(files)
    assert case.hits(capsys, "fine")[0]["path"] == "ok.py"


def test_a_file_that_takes_too_long_is_given_up_once(tmp_path: Path) -> None:
    """46: a real one, 1.2 MB of a table in Java, stands in tests/discover/test_workers.py."""
    settings = override(SETTINGS, "index", file_timeout_s=1.0, workers=1)
    root = make_case(
        tmp_path, {"slow.py": "def slow(): pass\n", **{f"g{n}.py": f"def g{n}(): pass\n" for n in range(5)}}
    )
    case = index(root, settings, parser=COMMAND)
    assert {path for path, reason in case.reasons().items() if reason} == {"slow.py"}
    assert (case.reasons()["slow.py"], case.files["slow.py"]["skip_detail"]) == ("timed_out", "no result within 1 s")
    counting = Counting()
    write(root, {"new.py": "def new(): pass\n"})
    publish(case.store, build(root, case.store, settings, "parcels", progress=counting, parser=COMMAND))
    assert counting.work["parsing"] == 1


def test_a_file_that_kills_its_parser_is_quarantined(tmp_path: Path) -> None:
    """47"""
    files = {f"good{number}.py": f"def good_{number}(): pass\n" for number in range(30)}
    root = make_case(tmp_path, {**files, "boom.go": "package boom\n\nfunc Boom() {}\n"})
    settings = override(SETTINGS, "index", buckets=1, workers=1)
    case = index(root, settings, parser=COMMAND)
    assert {path: reason for path, reason in case.reasons().items() if reason} == {"boom.go": "crashed"}
    assert case.files["boom.go"]["skip_detail"] == "the parser process was ended by signal 11"
    assert {row["path"] for row in case.symbols} == set(files)
    counting = Counting()
    build(root, case.store, settings, "parcels", progress=counting, parser=COMMAND)
    assert counting.work.total() == 0
    write(root, {"good0.py": "def changed(): pass\n"})
    build(root, case.store, settings, "parcels", progress=counting, parser=COMMAND)
    assert counting.work["parsing"] == 1


def test_what_has_no_grammar_is_cut_by_lines_and_scripts_are_known_by_their_first_line(
    tmp_path: Path, capsys: Capture
) -> None:
    """48"""
    files = {f"s{number}.swift": f"func swift_{number}() -> Int {{ return {number} }}\n" for number in range(5)}
    files |= {
        "k.nim": "proc nimble(): int = 1\n",
        "Makefile": "parcel:\n\techo parcel\n",
        "LICENSE": "Permission is granted.\n",
        "script": "#!/usr/bin/env python3\ndef scripted():\n    return 1\n",
        **{f"p{number}.py": f"def py_{number}(): pass\n" for number in range(3)},
    }
    case = index(make_case(tmp_path, files))
    assert set(case.reasons().values()) == {None}
    assert (case.files["script"]["language"], case.names("script")) == ("python", ["scripted"])
    for text, path in (("nimble", "k.nim"), ("parcel", "Makefile"), ("permission", "LICENSE"), ("swift_3", "s3.swift")):
        assert case.hits(capsys, text)[0]["path"] == path


def notebook(*cells: Mapping[str, object]) -> str:
    return json.dumps(
        {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    )


def test_a_notebook_is_its_cells(tmp_path: Path, capsys: Capture) -> None:
    """50"""
    picture = "iVBORw0KGgo" + "QUJD" * 175_000
    outputs = [{"output_type": "display_data", "data": {"image/png": picture}, "metadata": {}}]
    cells = (
        {"cell_type": "markdown", "metadata": {}, "source": ["# How parcels are weighed\n"]},
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": 1,
            "outputs": outputs,
            "source": ["def nb_fn(): pass\n"],
        },
    )
    case = index(make_case(tmp_path, {"n.ipynb": notebook(*cells), "bad.ipynb": '{"cells": [', "ok.py": "x = 1\n"}))
    reasons = case.reasons()
    assert (reasons["n.ipynb"], reasons["bad.ipynb"]) == (None, "malformed")
    hit = case.hits(capsys, "nb_fn")[0]
    assert (hit["path"], hit["symbol"]) == ("n.ipynb", "nb_fn")
    assert case.hits(capsys, "how parcels are weighed")[0]["path"] == "n.ipynb"
    assert not [row for row in case.chunks if "QUJDQUJD" in row["text"]]


def test_a_notebook_breaks_no_run_and_its_words_stand_in_no_remark(tmp_path: Path) -> None:
    """What a hostile notebook names as its language, or as the id of a cell, is cleaned and not repeated."""
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    form = '{"cells": [{"cell_type": "code", "id": "%s", "source": "def f(): pass", "outputs": [%s]}], "metadata": %s}'
    kernel = '{"kernelspec": {"language": "%s"}}'
    files = {
        "kernel.ipynb": form % ("a", "", kernel % r"\ud800"),
        "secret.ipynb": form % ("a", "", kernel % token),
        "name.ipynb": form % (r"\ud800", "7" * 5_000, "{}"),
    }
    case = index(make_case(tmp_path, files))
    assert set(case.reasons().values()) == {None}
    assert {row["path"] for row in case.chunks} >= set(files)
    assert case.names("name.ipynb") == ["f"]
    told = "no grammar for the notebook's language"
    assert [case.files[path]["skip_detail"] for path in files] == [told, told, None]
