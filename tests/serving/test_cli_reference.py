from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pipelines.formats import EVAL_TABLE
from pipelines.serving.cli import main
from pipelines.serving.cli.reference import commands_markdown
from tests.serving.fake_host import EVAL_ROW, FakeHost

DOCUMENT = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
SAMPLES = dict(re.findall(r"```json (\w+)\n(.*?)```", DOCUMENT, flags=re.DOTALL))
COMMANDS = {
    "index": ["index"],
    "listing": ["index", "--dry-run"],
    "query": ["query", "retry", "--expand", "neighbors"],
    "status": ["status"],
    "quarantine": ["status", "--quarantine"],
    "check": ["check"],
    "eval": ["eval"],
    "gc": ["gc"],
}


def shape(value: Any) -> Any:
    """Return the field names of a document, in order; a list has the shape of its first element."""
    if isinstance(value, dict):
        return [(key, shape(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return None


def test_the_document_has_the_present_help_texts() -> None:
    assert commands_markdown() in DOCUMENT, "run `python -m pipelines.serving.cli.reference` and paste what it prints"


@pytest.mark.parametrize("sample", COMMANDS)
def test_a_sample_shows_every_field_in_order(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMANDS[sample], "--json"], FakeHost()) == 0
    assert shape(json.loads(capsys.readouterr().out)) == shape(json.loads(SAMPLES[sample]))


def test_every_sample_is_compared() -> None:
    assert SAMPLES.keys() == COMMANDS.keys() | {"error"}
    assert json.loads(SAMPLES["error"]).keys() == {"error", "detail", "hint"}


def test_evaluation_rows_are_those_of_the_artifact() -> None:
    assert list(EVAL_ROW) == ["repo", "diffusion", *EVAL_TABLE.names]


def test_help_is_ascii_so_that_every_terminal_shows_it() -> None:
    assert commands_markdown().isascii()
