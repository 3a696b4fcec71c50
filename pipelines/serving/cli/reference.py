"""The commands in docs/cli.md, made from the help texts: `python -m pipelines.serving.cli.reference` prints them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from pipelines.serving.cli.commands import strata

#: Columns of a help text in the document, whatever the terminal that prints it.
_WIDTH = 100


def commands_markdown() -> str:
    """Return one section per command, in the order of `strata --help`."""
    return "\n".join(
        f"### `{name}`\n\n```text\n{_help(name, command)}\n```\n" for name, command in _walk("strata", strata)
    )


def _walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name and parser of a command, then those of the commands inside it."""
    yield name, command
    for part, inner in getattr(command, "commands", {}).items():
        yield from _walk(f"{name} {part}", inner)


def _help(name: str, command: Any) -> str:
    context = click.Context(
        command, info_name=name, max_content_width=_WIDTH, terminal_width=_WIDTH, **strata.context_settings
    )
    text: str = command.get_help(context)
    return "\n".join(row.rstrip() for row in text.strip().split("\n"))


if __name__ == "__main__":
    sys.stdout.write(commands_markdown())
