from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from pipelines.serving.mcp import make_server
from resources.environment import variables_for_child
from tests.serving.library_of import DOCS, SmallLibrary, library_of, served

CODE = Path(__file__).parents[2]


def asked(library: SmallLibrary, ask: Callable[[Client], Awaitable[Any]]) -> Any:
    """Return what a client finds out from a server over a library."""

    async def run() -> Any:
        async with Client(make_server(service)) as client:
            return await ask(client)

    with served(library) as service:
        return anyio.run(run)


def call(library: SmallLibrary, tool: str, **given: Any) -> Any:
    return asked(library, lambda client: client.call_tool(tool, given))


def test_the_tools_are_those_of_the_design_and_only_read(tmp_path: Path) -> None:
    tools = asked(library_of(tmp_path), lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == ["search", "read_chunk", "related", "status"]
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert tools[0].input_schema["required"] == ["query"]


def test_a_search_tells_places_that_can_be_opened(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    found = call(library, "search", query="with_retry", limit=1)
    hit = found.structured_content["hits"][0]
    assert hit["path"] == "orders/retry.py"
    assert found.content[0].text.startswith("orders/retry.py:1-2 with_retry [repo=sample chunk=")
    read = call(library, "read_chunk", chunk_id=hit["chunk_id"])
    assert read.structured_content["text"] == DOCS[0].text
    related = call(library, "related", chunk_id=hit["chunk_id"], repo="sample")
    assert "callee 1 away: orders/backoff.py:1-3 backoff" in related.content[0].text
    reach = call(library, "related", chunk_id=hit["chunk_id"], mode="blast", depth=2)
    assert reach.structured_content["blast"][0]["direct_callers"] == 0


def test_a_filter_that_fits_nothing_is_told_with_what_is_near(tmp_path: Path) -> None:
    found = call(library_of(tmp_path), "search", query="with_retry", path="oders/*.py")
    assert not found.is_error
    note = "no file of the index matches path 'oders/*.py'; near it: orders"
    assert found.content[0].text == f"{note}\nnothing found"
    assert found.structured_content["notes"] == [note]


def test_the_status_is_that_of_the_http_interface(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    library.states["sample"] = "stale"
    told = call(library, "status")
    assert told.structured_content["state"] == "stale"
    assert "strata index" in told.content[0].text
    assert told.content[0].text.endswith("sample: stale, 4 files, 4 chunks")


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("search", {}, "query is missing"),
        ("search", {"query": "x", "limit": 0}, "out of range"),
        ("search", {"query": "x", "limti": 1}, "unknown field 'limti'"),
        ("search", {"query": "x", "repo": "nowhere"}, "is not served"),
        ("read_chunk", {}, "chunk_id is missing"),
        ("read_chunk", {"chunk_id": "zz"}, "has no chunk"),
        ("read_chunk", {"chunk_id": 3}, "are strings"),
        ("read_chunk", {"chunk_id": "00" * 16, "path": "/etc/passwd"}, "unknown field 'path'"),
        ("related", {"chunk_id": "00" * 16, "mode": "sideways"}, "mode 'sideways'"),
        ("related", {"chunk_id": "00" * 16, "depth": 9}, "depth 9"),
        ("write_file", {}, "there is no tool 'write_file'"),
    ],
)
def test_a_mistake_is_told_to_the_agent(tmp_path: Path, tool: str, given: dict[str, Any], told: str) -> None:
    answer = call(library_of(tmp_path), tool, **given)
    assert answer.is_error
    assert told in answer.content[0].text


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("y" * 100_000, {}),
        ("read_chunk", {"chunk_id": "00", "repo": "y" * 100_000}),
        ("read_chunk", {"chunk_id": "y" * 100_000}),
        ("related", {"chunk_id": "00", "mode": "y" * 100_000}),
        ("related", {"chunk_id": "00", "depth": 10**4_000}),
        ("search", {"query": "x", "y" * 100_000: 1}),
    ],
)
def test_a_long_mistake_is_not_told_back_in_full(tmp_path: Path, tool: str, given: dict[str, Any]) -> None:
    answer = call(library_of(tmp_path), tool, **given)
    assert answer.is_error
    assert len(answer.content[0].text) < 400


def test_where_several_are_served_the_repository_must_be_named(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    library.publish(DOCS[:1], repo="other")
    answer = call(library, "read_chunk", chunk_id="00" * 16)
    assert answer.is_error
    assert "other, sample" in answer.content[0].text


SERVER = """
import sys
from pathlib import Path
from pipelines.serving.cli import main
from tests.serving.fake_host import FakeHost
from tests.serving.library_of import library_of
sys.exit(main(["mcp"], FakeHost(books=library_of(Path(sys.argv[1])))))
"""


def test_a_client_over_standard_input_gets_its_answers(tmp_path: Path) -> None:
    async def run() -> tuple[Any, Any]:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-c", SERVER, str(tmp_path)],
            env=variables_for_child({"PYTHONPATH": str(CODE)}),
            cwd=str(CODE),
        )
        async with Client(parameters) as client:
            return await client.list_tools(), await client.call_tool("search", {"query": "with_retry"})

    tools, found = anyio.run(run)
    assert len(tools.tools) == 4
    assert found.structured_content["hits"][0]["path"] == "orders/retry.py"
