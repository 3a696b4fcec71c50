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
from pipelines.offsets import OffsetMap, Piece, Span
from pipelines.records import SkipReason

#: Sources of one notebook, in bytes of UTF-8: as much as a source file may have by default.
MAX_SOURCE_BYTES = 4_194_304
#: Parts that are looked at one by one: cells, what they hold, strings of their sources. A notebook that someone wrote
#: has some thousands; so many take two seconds.
MAX_PARTS = 250_000
#: Stretches of sources that are written in one way: a line has two, its characters and its end.
MAX_STRETCHES = 2 * MAX_PARTS
_TOO_MANY = f"more than {MAX_PARTS} cells, lines and other parts"
#: Lists and objects, of which each takes up to 250 bytes of memory while it is passed over.
MAX_CONTAINERS = 1_000_000
_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"')
_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
#: Characters that are written with as many bytes each, as many as they have: in the order of _WIDTHS.
_RUN = re.compile(
    r"([^\\]++)"
    r"|((?:\\[^u])++)"
    r"|((?:\\u(?!0000)00[0-7][0-9a-fA-F])++)"
    r"|((?:\\u(?!00[0-7])0[0-7][0-9a-fA-F]{2})++)"
    rf"|((?:{_PAIR})++)"
    rf"|((?:(?!{_PAIR})\\u(?:0000|(?!0[0-7])[0-9a-fA-F]{{4}}))++)"
)
#: Of the characters of each group of _RUN: bytes in the text, bytes in the JSON.
_WIDTHS = ((1, 1), (1, 2), (1, 6), (2, 6), (4, 12), (3, 6))
#: Characters that JSON can escape and no text may hold: NUL, halves of pairs.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
#: Numbers are passed over like outputs; one of more than 4,300 digits would be an error of `int`.
_DECODER = json.JSONDecoder(parse_int=len, parse_float=len)
#: Kernels whose language has another name here.
_KERNELS = {"ipython": "python", "python2": "python", "python3": "python", "sagemath": "python", "bash": "shell"}
_DEFAULT_LANGUAGE = "python"


def _cleaned(text: str) -> str:
    """Return a string of JSON with what no text may hold replaced."""
    return _NO_TEXT.sub(_REPLACEMENT, text)


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
    try:
        return _Builder(text).build(_Reader(text))
    except json.JSONDecodeError as error:
        return NotText(SkipReason.MALFORMED, f"no JSON: {error.msg} in line {error.lineno}")
    except ValueError:
        return NotText(SkipReason.MALFORMED, "no JSON")
    except RecursionError:
        return NotText(SkipReason.MALFORMED, "nested too deep")
    except _TooMuch as error:
        return NotText(SkipReason.TOO_LARGE, str(error))


class _TooMuch(Exception):
    """A limit is passed."""


class _Reader:
    """Walks over JSON value by value, and knows where each stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._parts = 0

    def count(self, parts: int) -> None:
        """Take note of parts, of which there may be MAX_PARTS."""
        self._parts += parts
        if self._parts > MAX_PARTS:
            raise _TooMuch(_TOO_MANY)

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
            self.count(1)
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
    """Of one cell: its strings, and the place of each in the JSON, quotes included."""

    kind: str = ""
    name: str = ""
    strings: list[tuple[str, Span]] = field(default_factory=list)


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
        if self._json.count("[") + self._json.count("{") > MAX_CONTAINERS:
            raise _TooMuch(f"more than {MAX_CONTAINERS} lists and objects")
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
        start, opens_line = self._size, True
        for string, (begin, end) in source.strings:
            if string:
                line = self._advance(begin + 1)
                self._add_runs(begin + 1, end - 1)
                self._parts.append(_cleaned(string))
                # a string of JSON stands in one line
                self._lines += [line] * (opens_line + string.count("\n", 0, -1))
                opens_line = string.endswith("\n")
        if self._size == start:
            return
        if not opens_line:
            self._parts.append("\n")
            self._pieces.append(Piece(self._size, self._read[1], 1, 0))
            self._size += 1
        self._cells.append(Cell(_cleaned(source.kind), _cleaned(source.name), start, self._size))

    def _add_runs(self, begin: int, end: int) -> None:
        """Remember how the characters of a string are written."""
        _, place, line = self._read
        size, pieces = self._size, self._pieces
        for run in _RUN.finditer(self._json, begin, end):
            group, (first, last) = run.lastindex or 1, run.span()
            text_width, file_width = _WIDTHS[group - 1]
            written = last - first if group > 1 or self._ascii else len(run[0].encode())
            pieces.append(Piece(size, place, text_width, file_width))
            size += written // file_width * text_width
            place += written
            if size > MAX_SOURCE_BYTES:
                raise _TooMuch(f"sources above {MAX_SOURCE_BYTES} bytes")
            if len(pieces) > MAX_STRETCHES:
                raise _TooMuch(_TOO_MANY)
        self._read, self._size = (end, place, line), size

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


def _strings(reader: _Reader) -> Iterator[tuple[str, Span]]:
    """Yield one string, or those of a list, each with its place; any other value has none."""
    reader.peek()
    begin = reader.at
    value = reader.value()
    if isinstance(value, str):
        yield value, (begin, reader.at)
    elif isinstance(value, list):
        reader.count(len(value))
        if all(isinstance(item, str) for item in value):
            places = _STRING.finditer(reader.text, begin, reader.at)
            yield from zip(value, (place.span() for place in places), strict=True)
        else:
            yield from _strings_among(reader, begin)


def _strings_among(reader: _Reader, begin: int) -> Iterator[tuple[str, Span]]:
    """Yield the strings of a list that has other values too."""
    reader.at = begin
    for _ in reader.items():
        reader.peek()
        begin = reader.at
        value = reader.value()
        if isinstance(value, str):
            yield value, (begin, reader.at)


def _kernel_language(metadata: Any) -> str:
    """Return the language of the code cells, as its name is here; it may be any text that a notebook holds."""
    found: Any = ""
    for section, key in (("kernelspec", "language"), ("language_info", "name")):
        told = metadata.get(section) if isinstance(metadata, dict) else None
        found = found or (told.get(key) if isinstance(told, dict) else "")
    language = _cleaned(found).lower() if isinstance(found, str) else ""
    return "cpp" if language.startswith("c++") else _KERNELS.get(language, language)
