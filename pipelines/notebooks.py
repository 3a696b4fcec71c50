"""Jupyter notebooks. In: their JSON. Out: the sources of their cells as one text, with the place of each in the file.

Outputs and attachments are passed over, whatever their size: of them nothing is kept. The sources stand one after the
other, each ended by a line end, so that the text of a notebook reads like a script with its notes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pipelines.decode import NotText
from pipelines.offsets import OffsetMap, Piece
from pipelines.records import SkipReason

#: Sources of one notebook, in bytes of UTF-8: as much as a source file may have by default.
MAX_SOURCE_BYTES = 4_194_304
_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)")
#: Characters that JSON can escape and no text may hold: NUL, halves of pairs.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
_DECODER = json.JSONDecoder()
#: Kernels whose language has another name here.
_KERNELS = {"ipython": "python", "python2": "python", "python3": "python", "sagemath": "python", "bash": "shell"}
_DEFAULT_LANGUAGE = "python"


class Cell(NamedTuple):
    """A cell with a source: a span of whole lines of the text, in bytes of UTF-8."""

    kind: str  # "code", "markdown", "raw"
    name: str  # its id in the file, "" in older ones
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Notebook:
    """The text of a notebook: its cells, the language of its code, and where in the JSON all of it stands."""

    text: str
    cells: tuple[Cell, ...]
    language: str
    offsets: OffsetMap  # to the UTF-8 form of the JSON
    lines: tuple[int, ...]  # the line of the JSON that holds each line of the text


def read_notebook(text: str) -> Notebook | NotText:
    """Read a notebook of format 3 or 4."""
    reader = _Reader(text)
    try:
        return _Builder(text).build(reader)
    except json.JSONDecodeError as error:
        return NotText(SkipReason.MALFORMED, f"no JSON: {error.msg} in line {error.lineno}")
    except RecursionError:
        return NotText(SkipReason.MALFORMED, "nested too deep")
    except _TooMuch:
        return NotText(SkipReason.TOO_LARGE, f"sources above {MAX_SOURCE_BYTES} bytes")


class _TooMuch(Exception):
    """The sources are above the limit."""


class _Reader:
    """Walks over JSON value by value, and knows where each stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> str:
        """Return the next character that is no white space, "" at the end."""
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        return self.text[self.at : self.at + 1]

    def value(self) -> Any:
        """Return the next value; one that is nested too deep raises RecursionError."""
        self.peek()
        value, self.at = _DECODER.raw_decode(self.text, self.at)
        return value

    def members(self) -> Iterator[str]:
        """Yield the keys of an object; the caller takes each value before the next key."""
        yield from (key for _ in self._items("{", "}") if isinstance(key := self._key(), str))

    def items(self) -> Iterator[None]:
        """Stand before each item of an array; the caller takes it."""
        return self._items("[", "]")

    def _items(self, opening: str, closing: str) -> Iterator[None]:
        self._expect(opening)
        if self.peek() == closing:
            self.at += 1
            return
        while True:
            yield
            if self.peek() == closing:
                self.at += 1
                return
            self._expect(",")

    def _key(self) -> Any:
        if self.peek() != '"':
            raise json.JSONDecodeError("a key was expected", self.text, self.at)
        key = self.value()
        self._expect(":")
        return key

    def _expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise json.JSONDecodeError(f"{sign!r} was expected", self.text, self.at)
        self.at += 1


@dataclass(slots=True)
class _Source:
    """Of one cell: the places of its strings in the JSON, quotes included."""

    kind: str = ""
    name: str = ""
    strings: list[tuple[int, int]] = field(default_factory=list)


class _Builder:
    """Puts the text together, and remembers whence each piece of it comes."""

    def __init__(self, text: str) -> None:
        self._json = text
        self._ascii = text.isascii()
        self._read = (0, 0, 1)  # characters, bytes and lines of the JSON up to the last string
        self._parts: list[str] = []
        self._size = 0  # bytes of the text
        self._pieces: list[Piece] = []
        self._lines: list[int] = []
        self._cells: list[Cell] = []
        self._language = ""

    def build(self, reader: _Reader) -> Notebook | NotText:
        """Read the outermost object."""
        if reader.peek() != "{":
            return NotText(SkipReason.MALFORMED, "no notebook: not an object")
        known = False
        for key in reader.members():
            if key == "cells" and reader.peek() == "[":
                known = True
                self._read_cells(reader)
            elif key == "worksheets" and reader.peek() == "[":  # format 3
                known = True
                for _ in reader.items():
                    self._read_worksheet(reader)
            elif key == "metadata":
                self._language = _kernel_language(reader.value())
            else:
                reader.value()
        if not known:
            return NotText(SkipReason.MALFORMED, "no notebook: no cells")
        language = self._language or _DEFAULT_LANGUAGE
        offsets = OffsetMap([*self._pieces, Piece(self._size, self._read[1], 0, 0)])
        return Notebook("".join(self._parts), tuple(self._cells), language, offsets, tuple(self._lines))

    def _read_worksheet(self, reader: _Reader) -> None:
        if reader.peek() != "{":
            reader.value()
            return
        for key in reader.members():
            if key == "cells" and reader.peek() == "[":
                self._read_cells(reader)
            else:
                reader.value()

    def _read_cells(self, reader: _Reader) -> None:
        for _ in reader.items():
            if reader.peek() == "{":
                self._add(_read_cell(reader))
            else:
                reader.value()

    def _add(self, source: _Source) -> None:
        start, first_string = self._size, True
        for begin, end in source.strings:
            first_string = self._add_string(begin, end, first_string)
        if self._size == start:
            return
        if not first_string:
            self._piece("\n", 0)
        self._cells.append(Cell(source.kind, source.name, start, self._size))

    def _add_string(self, begin: int, end: int, opens_line: bool) -> bool:
        """Add a string of the JSON; tell whether the text after it begins a line."""
        line = self._advance(begin + 1)
        place = begin + 1
        for escape in _ESCAPE.finditer(self._json, begin + 1, end - 1):
            opens_line = self._run(place, escape.start(), line, opens_line)
            char = _NO_TEXT.sub(_REPLACEMENT, json.loads(f'"{escape[0]}"'))
            self._open(line, opens_line)
            self._piece(char, len(escape[0]))
            opens_line = char == "\n"
            place = escape.end()
        return self._run(place, end - 1, line, opens_line)

    def _run(self, begin: int, end: int, line: int, opens_line: bool) -> bool:
        """Add what stands as itself in the JSON."""
        if begin == end:
            return opens_line
        self._open(line, opens_line)
        run = self._json[begin:end]
        size = len(run) if self._ascii else len(run.encode())
        self._pieces.append(Piece(self._size, self._read[1]))
        self._grow(run, size, end - begin, size)
        return False

    def _piece(self, char: str, written: int) -> None:
        """Add one character that the JSON writes with other ones, or not at all."""
        size = len(char.encode())
        self._pieces.append(Piece(self._size, self._read[1], size, written))
        self._grow(char, size, written, written)

    def _grow(self, text: str, size: int, read_characters: int, read_bytes: int) -> None:
        self._parts.append(text)
        self._size += size
        if self._size > MAX_SOURCE_BYTES:
            raise _TooMuch
        characters, place, line = self._read
        self._read = characters + read_characters, place + read_bytes, line

    def _open(self, line: int, opens_line: bool) -> None:
        if opens_line:
            self._lines.append(line)

    def _advance(self, place: int) -> int:
        """Pass over the JSON up to a place, and return the line that holds it."""
        characters, size, line = self._read
        passed = self._json[characters:place]
        line += passed.count("\n")
        self._read = place, size + (len(passed) if self._ascii else len(passed.encode())), line
        return line


def _read_cell(reader: _Reader) -> _Source:
    cell = _Source()
    for key in reader.members():
        if key in ("source", "input"):
            cell.strings = list(_strings(reader))
            continue
        value = reader.value()
        if key == "cell_type" and isinstance(value, str):
            cell.kind = value
        elif key == "id" and isinstance(value, str):
            cell.name = value
    return cell


def _strings(reader: _Reader) -> Iterator[tuple[int, int]]:
    """Yield the places of one string, or of a list of them; any other value has none."""
    if reader.peek() == "[":
        for _ in reader.items():
            yield from _string(reader)
    else:
        yield from _string(reader)


def _string(reader: _Reader) -> Iterator[tuple[int, int]]:
    reader.peek()
    begin = reader.at
    if isinstance(reader.value(), str):
        yield begin, reader.at


def _kernel_language(metadata: Any) -> str:
    """Return the language of the code cells, as its name is here."""
    found: Any = ""
    for section, key in (("kernelspec", "language"), ("language_info", "name")):
        told = metadata.get(section) if isinstance(metadata, dict) else None
        found = found or (told.get(key) if isinstance(told, dict) else "")
    language = found.lower() if isinstance(found, str) else ""
    return "cpp" if language.startswith("c++") else _KERNELS.get(language, language)
