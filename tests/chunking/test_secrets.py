"""Nothing of a secret reaches a row, and little else is lost."""

from __future__ import annotations

import pytest

from pipelines.chunking.rows import FileChunks, QuarantineRow
from pipelines.records import Content
from tests.chunking.builders import SMALL, chunk_python, chunk_text, secret_at, symbol

KEY = "AKIAQQQQEXAMPLEKEY99"


def everything(found: FileChunks) -> str:
    return "\n".join(str(value) for row in found.rows for value in row)


def test_only_the_lines_with_the_secret_are_lost() -> None:
    text = f"import os\nimport re\n\nTOKEN = '{KEY}'\n\nOTHER = 'harmless'\n"
    found = chunk_python(text, secrets=[secret_at(text, KEY, "aws-key")])
    assert found.quarantine == [QuarantineRow("a.py", 4, 4, "aws-key")]
    assert (found.secret, found.blank) == (1, 0)
    assert KEY not in everything(found)
    assert {"import os\nimport re", "OTHER = 'harmless'"} == {row.text for row in found.rows}
    assert [row.start_line for row in found.rows] == [1, 6]


def test_function_keeps_its_id_and_the_lines_around_the_secret() -> None:
    text = f"def connect():\n    key = '{KEY}'\n    return open(key)\n"
    found = chunk_python(text, secrets=[secret_at(text, KEY)])
    assert [(row.name, row.part, row.text) for row in found.rows] == [
        ("connect", 0, "def connect():"),
        ("connect", 2, "    return open(key)"),
    ]
    assert found.rows[0].chunk_id == found.rows[0].symbol_id


def test_doc_and_signature_of_a_function_with_a_secret_are_not_stored() -> None:
    text = f'def connect(key="{KEY}"):\n    """Uses {KEY}."""\n    return key\n'
    found = chunk_python(text, secrets=[secret_at(text, KEY), secret_at(text, f"Uses {KEY}")])
    assert KEY not in everything(found)
    assert {(row.signature, row.doc) for row in found.rows} == {("", "")}


def test_comment_above_that_holds_a_secret_taints_the_doc_although_it_stands_apart() -> None:
    text = f"import first_module, second_module, third\n\n# Login with {KEY}.\n\ndef connect():\n    return 1\n"
    symbols = [symbol(text, "def connect()", "1", "connect", doc=f"Login with {KEY}.")]
    found = chunk_python(text, symbols=symbols, secrets=[secret_at(text, KEY)])
    assert KEY not in everything(found)


def test_secret_in_a_method_leaves_the_class_row_without_the_signature() -> None:
    connect = f"    def connect(self, key='{KEY}'):\n        return key\n"
    text = f"class Client:\n{connect}\n    def close(self):\n        pass\n"
    found = chunk_python(text, secrets=[secret_at(text, KEY)])
    (client,) = [row for row in found.rows if row.qualified_name == "Client"]
    assert client.text == "class Client:\n    connect ...\n\n    def close(self) ..."
    assert KEY not in everything(found)


def test_bare_brackets_beside_a_secret_are_no_row_of_their_own() -> None:
    text = f'{{\n  "key": "{KEY}"\n}}\n'
    found = chunk_text(text, "", secrets=[secret_at(text, KEY)])
    assert found.rows == []
    assert found.quarantine == [QuarantineRow("a.txt", 1, 3, "token")]


def test_secret_over_several_lines_is_lost_as_a_whole() -> None:
    block = "-----BEGIN PRIVATE KEY-----\nabcdef\nghijkl\n-----END PRIVATE KEY-----"
    text = f"# Deploy\n\nPut this into the vault, then restart it all:\n\n{block}\n\nand tell the others about it.\n"
    found = chunk_text(text, "markdown", Content.DOCS, secrets=[secret_at(text, block, "private-key")])
    assert found.quarantine == [QuarantineRow("a.txt", 5, 8, "private-key")]
    assert [row.end_line for row in found.rows] == [3, 10]


def test_heading_with_a_secret_does_not_stand_in_the_paths_below() -> None:
    text = f"# Key {KEY}\n\nSome text that is long enough.\n\n## Use\n\nMore text that is long enough.\n"
    found = chunk_text(text, "markdown", Content.DOCS, settings=SMALL, secrets=[secret_at(text, KEY)])
    assert KEY not in everything(found)
    assert "[hidden] > Use" in {row.qualified_name for row in found.rows}


@pytest.mark.parametrize("position", [0, 150, 199, 200, 201, 390])
def test_secret_in_a_line_above_the_cap_is_lost_on_both_sides_of_a_cut(position: int) -> None:
    text = "x" * position + KEY + "y" * 400 + "\n"
    found = chunk_text(text, "", settings=SMALL, secrets=[secret_at(text, KEY)])
    shown = everything(found)
    assert not any(KEY[place : place + 4] in shown for place in range(len(KEY) - 3))
