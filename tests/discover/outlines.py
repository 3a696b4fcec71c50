"""Parsed files as lines of text, so that what a language's fixture must give can be read and checked by eye."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipelines.discover.parsing.parse import ParsedFile

SYMBOL = (
    *("id", "kind", "name", "qualified", "ordinal", "first", "last", "start", "end", "top"),
    *("signature", "doc", "is_test"),
)


def symbols(parsed: ParsedFile) -> list[dict[str, Any]]:
    return [dict(zip(SYMBOL, row, strict=False)) for row in parsed.symbols]


def render(parsed: ParsedFile) -> str:
    return "\n".join([*_symbols(parsed), *_calls(parsed), *_imports(parsed), f"errors {parsed.error_nodes}"]) + "\n"


def _symbols(parsed: ParsedFile) -> Iterator[str]:
    for item in symbols(parsed):
        ordinal = f"#{item['ordinal']}" if item["ordinal"] else ""
        test = " TEST" if item["is_test"] else ""
        yield f"{item['first']}-{item['last']} {item['kind']} {item['qualified']}{ordinal}{test} : {item['signature']}"
        for line in item["doc"].splitlines():
            yield f"      {line}"


def _calls(parsed: ParsedFile) -> Iterator[str]:
    names = {item["id"]: item["qualified"] for item in symbols(parsed)}
    for caller, name, receiver, line, _ in parsed.calls:
        yield f"{line} {names.get(caller, '-')} calls {name}" + (f" of {receiver}" if receiver else "")


def _imports(parsed: ParsedFile) -> Iterator[str]:
    for module, name, alias, line in parsed.imports:
        yield f"{line} imports {module}" + (f" name {name}" if name else "") + (f" as {alias}" if alias else "")
