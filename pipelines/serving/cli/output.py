"""Where a command's answer goes: one JSON document or lines for people to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipelines.errors import StrataError
from pipelines.serving.cli.lines import Line, coloured, line, plain
from pipelines.serving.cli.streams import Stream, encodable

#: Marks of a check: passed, warned, failed. The second set is for encodings without the first.
MARKS = ("✓", "!", "✗")
ASCII_MARKS = ("ok  ", "warn", "FAIL")


@dataclass(slots=True)
class Output:
    """The two standard streams and whether the answer is to be JSON. A command answers once, or fails once."""

    out: Stream
    err: Stream
    as_json: bool
    _answered: bool = field(default=False, init=False)

    @property
    def marks(self) -> tuple[str, str, str]:
        """Marks for passed, warned and failed that stdout's encoding has."""
        return MARKS if self.out.can_show("".join(MARKS)) else ASCII_MARKS

    def answer(self, document: Mapping[str, Any], lines: Iterable[Line]) -> None:
        """Give the answer of a command, in the one of its two forms that was asked for."""
        if self.as_json:
            self._write(document)
            self._require_written()
        else:
            self.lines(lines)

    def lines(self, lines: Iterable[Line]) -> None:
        """Write lines for people to stdout."""
        self._answered = True
        self.out.write(_text(lines, self.out))
        self._require_written()

    def text(self, text: str) -> None:
        """Write text that is an answer as it stands."""
        self._answered = True
        self.out.write(text)
        self._require_written()

    def note(self, *parts: str | tuple[str, str]) -> None:
        """Write one line to stderr."""
        self.err.write(_text([line(*parts)], self.err))

    def warn(self, message: str) -> None:
        """Write a warning to stderr."""
        self.note(("warning: ", "bold yellow"), message)

    def agrees(self, to: str) -> bool:
        """Ask a person on the terminal whether to go on, nobody where there is none; "yes" in full is needed."""
        if not self.err.is_terminal or sys.stdin is None or not sys.stdin.isatty():
            return False
        self.note(to)
        self.err.write("go on? yes/no: ")
        return sys.stdin.readline().strip().lower() == "yes"

    def fail(self, kind: str, detail: str, hint: str = "") -> None:
        """Say why there is no answer: to stderr, or as the one JSON document where stdout takes it."""
        if self.as_json and not self._answered:
            self._write({"error": kind, "detail": detail, "hint": hint})
            if self.out.failure is None:
                return
        self.note(("error: ", "bold red"), detail)
        if hint:
            self.note(("hint: ", "bold"), hint)

    def _write(self, document: Mapping[str, Any]) -> None:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
        self._answered = True
        self.out.write_bytes(encodable(text).encode() + b"\n")  # JSON is UTF-8, whatever the locale

    def _require_written(self) -> None:
        if self.out.failure is not None:
            raise StrataError(f"cannot write to standard output: {self.out.failure.strerror}")


def _text(lines: Iterable[Line], stream: Stream) -> str:
    return coloured(lines) if stream.is_terminal else plain(lines)
