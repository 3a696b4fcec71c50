"""How an option is declared: its help names its values and its default, whoever holds that default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer


def option(help_text: str, *names: str, metavar: str | None = None, default: object = None) -> Any:
    """Return an option for typer.

    :param help_text: one sentence. :param names: its names where the parameter's own does not do.
    :param metavar: what stands for its value. :param default: what holds where the option is not given.
    """
    return typer.Option(*names, metavar=metavar, help=_with_default(help_text, default), show_default=False)


def one_of(choices: Sequence[str], help_text: str, *, default: object = None) -> Any:
    """Return an option that takes one of the choices; another value is refused with the list of them."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in choices:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return value

    text = _with_default(help_text, default)
    return typer.Option(metavar="|".join(choices), help=text, show_default=False, callback=check)


def many_of(choices: Sequence[str], help_text: str, *, metavar: str) -> Any:
    """Return an option that may be repeated, of choices that are too many for the help text."""

    def check(values: list[str] | None) -> list[str] | None:
        for value in values or ():
            if value not in choices:
                raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return values

    return typer.Option(metavar=metavar, help=help_text, show_default=False, callback=check)


def _with_default(help_text: str, default: object) -> str:
    return help_text if default is None else f"{help_text}  [default: {default}]"


AsJson = Annotated[bool, option("Print one JSON document to stdout.", "--json")]
Rev = Annotated[str, option("A commit, branch or tag.", metavar="REV", default="the working tree")]
