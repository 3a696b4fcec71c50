"""How an option is declared: its help names its values and its default, whoever holds that default."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


def option(
    name: str, help_text: str, *other: str, default: object = None, **details: Any
) -> Callable[[Function], Function]:
    """Return a decorator that adds an option, which is None where it is not given.

    :param name: with its dashes. :param help_text: one sentence. :param other: the parameter's name, if it is another.
    :param default: what holds where the option is not given. :param details: what else click knows of an option.
    """
    return click.option(name, *other, help=_with_default(help_text, default), default=None, **details)


def flag(name: str, help_text: str, *other: str) -> Callable[[Function], Function]:
    """Return a decorator that adds an option without a value: true where it is given, false where not."""
    return click.option(name, *other, help=help_text, is_flag=True)


def one_of(
    name: str, choices: Sequence[str], help_text: str, *other: str, default: object = None
) -> Callable[[Function], Function]:
    """Return one that adds an option that takes one of the choices; another is refused with the list of them."""

    def check(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
        return value if value is None else _require(value, choices)

    return option(name, help_text, *other, default=default, metavar="|".join(choices), callback=check)


def many_of(
    name: str, choices: Sequence[str], help_text: str, *other: str, metavar: str
) -> Callable[[Function], Function]:
    """Return the same for an option that may be repeated, of choices that are too many for the help text."""

    def check(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
        return tuple(_require(value, choices) for value in values)

    return option(name, help_text, *other, metavar=metavar, multiple=True, callback=check)


def _require(value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise click.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
    return value


def _with_default(help_text: str, default: object) -> str:
    return help_text if default is None else f"{help_text}  [default: {default}]"


as_json = flag("--json", "Print one JSON document to stdout.", "as_json")
rev = option("--rev", "A commit, branch or tag.", metavar="REV", default="the working tree")
