"""The index for agents: tools of the Model Context Protocol, over standard input and output.

In: a service. Out: a server with the tools search, read_chunk, related and status, which answers until its input ends.
Every tool only reads. A question is checked by the same table as over HTTP; each answer comes as text for the agent and
as the document that programs get.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from typing import Any, cast

import anyio
import anyio.to_thread
from mcp import types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from pipelines.errors import InputError, StrataError
from pipelines.retrieval import Query
from pipelines.serving.agent_input import AgentInput
from pipelines.serving.asking import question, quoted, schema
from pipelines.serving.cli.streams import one_line, visible
from pipelines.serving.service import Service

_INSTRUCTIONS = (
    "Search the code and documentation of the indexed git repositories. Ask `search` in plain words, or with a name as "
    "it is written; open a hit with `read_chunk`, and see its callers and callees with `related`."
)
_CHUNK: dict[str, Any] = {
    "chunk_id": {"type": "string", "description": "The chunk_id of a hit: 32 hexadecimal digits.", "maxLength": 64},
    "repo": {"type": "string", "description": "Its repository; not needed where one is served.", "maxLength": 200},
}
_DEPTH = Query.ALLOWED["expand_depth"]
_AROUND: dict[str, Any] = {
    "mode": {
        "type": "string",
        "enum": list(Query.ALLOWED["expand"]),
        "default": "neighbors",
        "description": "neighbors: what it calls and what calls it. blast: how much depends on it.",
    },
    "depth": {"type": "integer", "minimum": _DEPTH[0], "maximum": _DEPTH[-1], "default": 1},
}
#: Text for the agent, and the document.
Told = tuple[str, Mapping[str, Any]]


def make_server(service: Service) -> Server[Any]:
    """Return the server; the caller starts the service and closes it."""
    tools = _Tools(service)
    return Server(
        "strata",
        version=version("codestrata"),
        instructions=_INSTRUCTIONS,
        on_list_tools=tools.list,
        on_call_tool=tools.call,
    )


def serve_stdio(service: Service) -> None:
    """Answer over standard input and output until the input ends, or the process is told to end."""

    async def serve() -> None:
        server = make_server(service)
        # the command line leads what libraries print to stderr; the protocol has stdout
        with contextlib.redirect_stdout(sys.__stdout__), _private_input() as descriptor:
            lines = AgentInput(descriptor)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_end_on_signal, tasks.cancel_scope)
                async with stdio_server(stdin=cast(Any, lines)) as (requests, answers):

                    async def refuse(error: types.JSONRPCError) -> None:
                        await answers.send(SessionMessage(error))

                    lines.refuse = refuse
                    await server.run(requests, answers, server.create_initialization_options())
                tasks.cancel_scope.cancel()

    service.start()
    try:
        anyio.run(serve)
    finally:
        service.close()


async def _end_on_signal(scope: anyio.CancelScope) -> None:
    """Stop what runs in a scope at the first signal: raised in the midst of it, one would be told as a fault."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
        async for _ in received:
            scope.cancel()


@contextlib.contextmanager
def _private_input() -> Iterator[int]:
    """Give a descriptor for standard input, and lead that of the process nowhere: no child may read what is not its."""
    private = os.dup(0)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    try:
        yield private
    finally:
        os.dup2(private, 0)  # a thread may wait on the private one, so it stays open


class _Tools:
    """The tools by name, with what each takes."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._calls: Mapping[str, tuple[str, dict[str, Any], Callable[[Mapping[str, Any]], Told]]] = {
            "search": ("Find the code and documentation that answers a question.", schema(), self._search),
            "read_chunk": ("Read the text of a hit.", _object(_CHUNK), self._read),
            "related": ("Tell what stands around a hit in the call graph.", _object(_CHUNK | _AROUND), self._related),
            "status": ("Tell what is indexed, and whether it is as its source is now.", _object({}), self._status),
        }

    async def list(
        self, _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        reads = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
        return types.ListToolsResult(
            tools=[
                types.Tool(name=name, description=about, input_schema=takes, annotations=reads)
                for name, (about, takes, _) in self._calls.items()
            ]
        )

    async def call(
        self, _context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            return await anyio.to_thread.run_sync(partial(self._answer, params.name, params.arguments or {}))
        except StrataError as error:
            return types.CallToolResult(content=[_text(one_line(str(error)))], is_error=True)

    def _answer(self, name: str, given: Mapping[str, Any]) -> types.CallToolResult:
        if name not in self._calls:
            raise InputError(f"there is no tool {quoted(name)}", hint=f"tools: {', '.join(self._calls)}")
        _, takes, call = self._calls[name]
        unknown = sorted(given.keys() - takes["properties"].keys())
        if unknown:
            raise InputError(f"unknown field {quoted(unknown[0])}", hint=f"allowed: {', '.join(takes['properties'])}")
        missing = [field for field in takes["required"] if field not in given]
        if missing:
            raise InputError(f"the field {missing[0]} is missing", hint=takes["properties"][missing[0]]["description"])
        told, document = call(given)
        return types.CallToolResult(content=[_text(told)], structured_content=dict(document))

    def _search(self, given: Mapping[str, Any]) -> Told:
        document = self._service.ask(question(given)).document()
        hits = [f"{_place(hit)}\n{hit['excerpt']}\n" for hit in document["hits"]]
        return "\n".join([*map(one_line, document["notes"]), *(hits or ["nothing found"])]), document

    def _read(self, given: Mapping[str, Any]) -> Told:
        chunk = self._service.chunk(*self._chunk(given))
        document = {**asdict(chunk.place), "text": chunk.text, "lines_in_order": chunk.lines_in_order}
        return f"{_place(document)}\n{chunk.text}", document

    def _related(self, given: Mapping[str, Any]) -> Told:
        mode, depth = given.get("mode", "neighbors"), given.get("depth", 1)
        if mode not in Query.ALLOWED["expand"]:
            raise InputError(
                f"mode {quoted(mode)} is not known", hint=f"allowed: {', '.join(map(str, Query.ALLOWED['expand']))}"
            )
        if isinstance(depth, bool) or not isinstance(depth, int):
            raise InputError("depth must be a whole number", hint=f"allowed: {_DEPTH[0]} to {_DEPTH[-1]}")
        if depth not in _DEPTH:
            raise InputError(f"depth {quoted(depth)} is out of range", hint=f"allowed: {_DEPTH[0]} to {_DEPTH[-1]}")
        document = asdict(self._service.related(*self._chunk(given), mode, depth))
        near = [f"{item['direction']} {item['hop']} away: {_place(item)}" for item in document["neighbors"]]
        reach = [
            one_line(
                f"{item['symbol']}: {item['direct_callers']} direct callers, {item['impacted']} within {item['depth']}"
            )
            for item in document["blast"]
        ]
        return "\n".join([*near, *reach]) or "nothing in the call graph", document

    def _status(self, _given: Mapping[str, Any]) -> Told:
        document = self._service.status()
        lines = [
            ", ".join([f"{item['repo']}: {item['state']}", *(f"{n} {name}" for name, n in item["counts"].items())])
            for item in document["repositories"]
        ]
        return "\n".join(filter(None, [document["state"], one_line(document["message"]), *lines])), document

    def _chunk(self, given: Mapping[str, Any]) -> tuple[str, str]:
        """Return the repository and the id of the chunk that is meant."""
        repos = self._service.labels()["repo"]
        repo = given.get("repo", repos[0] if len(repos) == 1 else "")
        chunk_id = given["chunk_id"]
        for name, value in (("chunk_id", chunk_id), ("repo", repo)):
            if not isinstance(value, str):
                raise InputError(f"{name} must be a string", hint="take it from a hit of `search`")
        if not repo:
            raise InputError("the field repo is missing", hint=f"served: {', '.join(repos) or 'none'}")
        return repo, chunk_id


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    required = ["chunk_id"] if "chunk_id" in properties else []
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _place(item: Mapping[str, Any]) -> str:
    """Return where something is, as `path:lines` with its id, so that it can be opened; of a hit its own line first."""
    name = f" {item['symbol']}" if item["symbol"] else ""
    lines = f"{item['start_line']}-{item['end_line']}"
    lines = f"{item['line']} in {lines}" if "line" in item else lines
    return one_line(f"{item['path']}:{lines}{name} [repo={item['repo']} chunk={item['chunk_id']}]")


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=visible(text))
