"""The edge of the command line: whatever ends a command becomes an exit code here, and a message that helps.

0    found, done                    2    an error: the arguments, the input, the store, or a fault of Strata
1    nothing found, a check failed  130  interrupted (SIGINT); 143 for SIGTERM
"""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

from pipelines.errors import StrataError
from pipelines.serving.cli.commands import Command, parse
from pipelines.serving.cli.output import Output
from pipelines.serving.cli.streams import Stream, visible

if TYPE_CHECKING:
    from pipelines.serving.cli.host import Host

ERROR = 2
INTERRUPTED = 130
TERMINATED = 143
_FAULT_HINT = "this is a fault in Strata, please report it; the traceback is on stderr"
#: What click says of a text that should have been quoted, or put after '--'.
_UNQUOTED = ("unexpected extra argument", "No such option")
_QUERY_HINT = "quote a text of several words, and put one that starts with '-' after '--': strata query -- --my-flag"


class _Terminated(KeyboardInterrupt):
    """SIGTERM, on the way that Ctrl-C takes: whatever cleans up after one cleans up after the other."""


def main(argv: Sequence[str], host: Host) -> int:
    """Run one command line and return its exit code.

    :param argv: the arguments, without the program's name. :param host: the surroundings; see host.py.
    """
    output = Output(Stream(sys.stdout), Stream(sys.stderr), as_json=_asks_for_json(argv))
    arrived: list[KeyboardInterrupt] = []
    try:
        with _interruptible(arrived):
            command = _parsed(argv, output)
            # Nothing but the answer may reach stdout, whatever a library likes to print.
            with contextlib.redirect_stdout(sys.stderr):
                return command(host, output)
    except BaseException as end:
        if isinstance(end, SystemExit):
            raise
        return _explain(arrived[0] if arrived else end, output)  # a library may have made another error of a signal


def _parsed(argv: Sequence[str], output: Output) -> Command:
    """Parse the arguments; what that prints, help or the version, is written as an answer is."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            return parse(argv)
        except click.exceptions.Exit:
            output.text(printed.getvalue())
            raise


def _explain(end: BaseException, output: Output) -> int:
    """Say why a command ended without an answer and return the exit code."""
    if isinstance(end, click.exceptions.Exit):  # --help and --version have printed what they had to
        return end.exit_code
    if isinstance(end, BrokenPipeError):  # their reader left early
        return 0
    if isinstance(end, KeyboardInterrupt):
        terminated = isinstance(end, _Terminated)
        output.fail("Terminated" if terminated else "Interrupted", "stopped before the end", "run it again to go on")
        return TERMINATED if terminated else INTERRUPTED
    if isinstance(end, click.ClickException):
        output.fail("UsageError", end.format_message(), _usage_hint(end))
    elif isinstance(end, StrataError):
        output.fail(type(end).__name__, end.message, end.hint)
    else:
        output.err.write(visible("".join(traceback.format_exception(end))))
        output.fail(type(end).__name__, str(end) or type(end).__name__, _FAULT_HINT)
    return ERROR


def _usage_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)  # only some of click's errors know their command
    path = context.command_path if context is not None else "strata"
    hint = f"`{path} --help` tells what it takes"
    unquoted = any(sign in error.format_message() for sign in _UNQUOTED)
    return f"{_QUERY_HINT}; {hint}" if path == "strata query" and unquoted else hint


def _asks_for_json(argv: Sequence[str]) -> bool:
    """Tell whether --json is among the options: known before parsing, so that an error of parsing is JSON as well."""
    options = argv[: list(argv).index("--")] if "--" in argv else argv
    return any(option == "--json" or option.startswith("--json=") for option in options)


@contextlib.contextmanager
def _interruptible(arrived: list[KeyboardInterrupt]) -> Iterator[None]:
    """Let SIGTERM unwind the stack as Ctrl-C does, and note what arrived; only the main thread may ask for that."""

    def stop(number: int, _frame: FrameType | None) -> NoReturn:
        arrived.append(_Terminated() if number == signal.SIGTERM else KeyboardInterrupt())
        raise arrived[-1]

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
