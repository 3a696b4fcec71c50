"""How an option is declared: its help names its values and its default, whoever holds that default."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from pipelines.errors import InputError

Function = TypeVar("Function", bound=Callable[..., Any])


class _Filled(click.ParamType[Any]):
    """A text that holds something: an empty one is a variable that a shell did not know, and stands for nothing."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            hint = "leave it out for what holds without it, or give a value"
            raise InputError(f"{param.get_error_hint(ctx) if param and ctx else 'a value'} is empty", hint=hint)
        return value


class _FilledPath(_Filled):
    """The same for a path."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return Path(super().convert(value, param, ctx))


FILLED, PATH = _Filled(), _FilledPath()


def option(
    name: str, help_text: str, *other: str, default: object = None, **details: Any
) -> Callable[[Function], Function]:
    """Return a decorator that adds an option, which is None where it is not given.

    :param name: with its dashes. :param help_text: one sentence. :param other: the parameter's name, if it is another.
    :param default: what holds where the option is not given. :param details: what else click knows of an option.
    """
    if not details.get("is_flag"):
        details.setdefault("type", FILLED)
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
