"""docs/http.md must be what the interface is, and its client must work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pipelines.serving.asking import FIELDS
from pipelines.serving.http.openapi import description
from tests.serving.http.servers import server_for
from tests.serving.library_of import library_of

PAGE = (Path(__file__).parents[3] / "docs" / "http.md").read_text("utf-8")


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_every_field_stands_in_the_table() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", section("`POST /api/semantic/query`"), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == FIELDS.keys()


def test_every_status_stands_in_the_table() -> None:
    rows = re.findall(r"^\| ([\d, ]+) \|", section("Errors"), re.MULTILINE)
    told = {status for row in rows for status in re.findall(r"\d+", row)}
    paths = description(needs_token=True)["paths"].values()
    described = {status for path in paths for operation in path.values() for status in operation["responses"]}
    assert told == described - {"200"} | {"405"}


def test_the_client_finds_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    with server_for(library_of(tmp_path)) as url:
        exec(code.replace("http://127.0.0.1:8080", url), names)
        assert capsys.readouterr().out.count("\n") == 3
        client = names["Strata"](url)
        assert client.search("with_retry")[0]["path"] == "orders/retry.py"
        with pytest.raises(ValueError, match="limit = 0 is out of range"):
            client.search("x", limit=0)
