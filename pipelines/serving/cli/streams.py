"""Standard output and error as the command line uses them: no text can break them, and no reader who leaves early.

In: text of any origin, such as excerpts and paths of a repository nobody vouches for. Out: bytes.
"""

from __future__ import annotations

import os
import re
from typing import TextIO

#: Characters that would act on the terminal instead of standing on it: control characters, marks that reorder what is
#: read (the "Trojan source" ones), and surrogates, which stand for bytes of a path that are not UTF-8.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
#: What would end a line besides, or push on what follows: a name that held it could forge a line of its own.
_BREAKING = re.compile(f"{_UNSAFE.pattern[:-1]}\t\n\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def visible(text: str) -> str:
    """Return text of several lines with every character that is not for showing written out, as repr() does."""
    return _UNSAFE.sub(_escape, text)


def one_line(text: str) -> str:
    """Return text that cannot leave its line, such as a path or a name: tabs and ends of lines are written out too."""
    return _BREAKING.sub(_escape, text)


def encodable(json_text: str) -> str:
    """Return JSON text with surrogates written out inside its strings, as `visible` writes them."""
    return _SURROGATE.sub(lambda match: "\\" + _escape(match), json_text)


class Stream:
    """One of the two standard streams. Once it cannot be written it drops what it is given.

    `failure` is the error that ended it: a full disk, say. A reader who has left is none.
    """

    def __init__(self, file: TextIO | None) -> None:
        self._file = file  # None: the process was started with the stream closed
        self._open = file is not None
        self.failure: OSError | None = None

    @property
    def is_terminal(self) -> bool:
        """Tell whether a person is looking."""
        return self._file is not None and self._file.isatty()

    def can_show(self, text: str) -> bool:
        """Tell whether the stream's encoding has all characters of a text."""
        try:
            text.encode(self._encoding)
        except UnicodeEncodeError:
            return False
        return True

    def write(self, text: str) -> None:
        """Write text for people, in the encoding of the stream; what that lacks is written out."""
        self.write_bytes(text.encode(self._encoding, "backslashreplace"))

    def write_bytes(self, data: bytes) -> None:
        """Write bytes and flush, so that nothing is left for the interpreter to complain about at its end."""
        if self._file is None or not self._open:
            return
        try:
            self._file.flush()  # what a library wrote before us stays before us
            self._file.buffer.write(data)
            self._file.buffer.flush()
        except OSError as error:
            self._open = False
            self.failure = None if isinstance(error, BrokenPipeError) else error
            _drain(self._file)

    @property
    def _encoding(self) -> str:
        return (self._file and self._file.encoding) or "utf-8"


def _drain(file: TextIO) -> None:
    """Lead the descriptor nowhere: its buffer still holds bytes, which the interpreter flushes at its exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, file.fileno())
    finally:
        os.close(nowhere)
