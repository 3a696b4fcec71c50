"""What the documents promise must be what the code has: errors, settings, formats, links."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
import typing
from pathlib import Path

import pyarrow as pa
import pytest

from pipelines import errors, formats, settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def test_the_error_tree_is_drawn_as_it_is() -> None:
    drawn = errors.__doc__
    assert drawn is not None
    tree = textwrap.dedent(drawn[drawn.index("    StrataError") : drawn.index("A message")]).rstrip()
    assert tree in (DOCS / "errors.md").read_text()
    classes = {name for name, item in inspect.getmembers(errors, inspect.isclass) if issubclass(item, Exception)}
    assert set(re.findall(r"[A-Z]\w+", re.sub(r"  +\w.*", "", tree))) == classes


def sections() -> list[tuple[str, type]]:
    hints = typing.get_type_hints(settings.Settings)
    named = [(f"[{name}]", kind) for name, kind in hints.items() if name != "repositories"]
    return [*named, ("[[repositories]]", settings.RepositorySettings)]


@pytest.mark.parametrize(("title", "kind"), sections(), ids=lambda item: str(item))
def test_every_setting_is_documented(title: str, kind: type) -> None:
    page = (DOCS / "configuration.md").read_text()
    section = page.split(f"## {title}\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == [item.name for item in dataclasses.fields(kind)]


@pytest.mark.parametrize("name", sorted(formats.FORMATS))
def test_every_format_has_its_page(name: str) -> None:
    page = (DOCS / "formats" / f"{name}.md").read_text()
    current = formats.FORMATS[name]
    assert f"Version {current.version}, revision {current.revision}; oldest readable {current.oldest_readable}." in page
    for line in current.history:
        assert line in page


TABLES = {
    "symbols": ("FILES_TABLE", "SYMBOLS_TABLE", "CALLS_TABLE", "IMPORTS_TABLE", "TYPINGS_TABLE", "SECRETS_TABLE"),
    "chunks": ("CHUNKS_TABLE", "QUARANTINE_TABLE"),
    "graph_snapshot": ("NODES_TABLE", "METRICS_TABLE"),
    "search_rows": ("ROWS_TABLE", "TEXTS_TABLE"),
    "eval_runs": ("EVAL_TABLE",),
}


@pytest.mark.parametrize(("name", "tables"), TABLES.items())
def test_every_column_stands_on_the_page(name: str, tables: tuple[str, ...]) -> None:
    page = (DOCS / "formats" / f"{name}.md").read_text()
    for table in tables:
        schema: pa.Schema = getattr(formats, table)
        missing = [column for column in schema.names if f"`{column}`" not in page]
        assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_modules_exist(page: Path) -> None:
    text = page.read_text()
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target
    for module in re.findall(r"`((?:pipelines|resources|assets_defs|tests)/[\w/]+(?:\.py)?)`", text):
        assert (ROOT / module).exists(), module
