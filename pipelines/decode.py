"""From bytes to text, one way for every stage. In: a file's bytes. Out: text and what had to be assumed.

Text keeps the file's own line ends, so that offsets into its UTF-8 form are exact; a byte order mark is not text.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from pipelines.records import SkipReason

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text. `encoding` is "latin-1" where no Unicode form fitted and each byte was taken for a letter."""

    text: str
    encoding: str
    mark: int = 0  # bytes of the byte order mark


@dataclass(frozen=True, slots=True)
class NotText:
    """Why bytes are not text."""

    reason: SkipReason
    detail: str


def decode(data: bytes) -> Decoded | NotText:
    """Decode UTF-8 or, with a byte order mark, UTF-16; fall back to Latin-1; refuse bytes with a NUL."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return _checked(data[len(mark) :].decode(encoding), encoding, len(mark))
            except UnicodeDecodeError as error:
                return NotText(SkipReason.UNDECODABLE, f"not valid {encoding} at byte {len(mark) + error.start}")
    try:
        return _checked(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _checked(data.decode("latin-1"), "latin-1")


def _checked(text: str, encoding: str, first: int = 0) -> Decoded | NotText:
    """Return a text that begins at byte `first` of its file, unless it holds a NUL."""
    nul = text.find("\0")
    if nul >= 0:
        return NotText(SkipReason.BINARY, f"NUL at byte {first + len(text[:nul].encode(encoding))}")
    return Decoded(text, encoding, first)


def reader_text(text: str) -> str:
    """Return text as a reader sees it: CR before LF removed."""
    return text.replace("\r\n", "\n")
