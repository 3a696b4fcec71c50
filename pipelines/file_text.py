"""The text of a file as it is parsed, cut and shown, and where it stands in the file. In: bytes. Out: a FileText.

Stages reckon with offsets of the text's UTF-8 form; what they store are offsets of the file's own bytes. For nearly all
files the two are one. They differ in other encodings, behind a byte order mark, and in notebooks, whose text is that of
their cells.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.decode import NotText, decode
from pipelines.notebooks import Notebook, read_notebook
from pipelines.offsets import OffsetMap, Span, encoding_map

NOTEBOOK = "jupyter"


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text. `encoding` is that of the file."""

    text: str
    encoding: str = "utf-8"
    notebook: Notebook | None = None
    whole: str = ""  # of a notebook: the JSON
    _encoded: OffsetMap | None = None

    @property
    def is_its_file(self) -> bool:
        """Tell whether offsets and lines of the text are those of the file."""
        return self.notebook is None and self._encoded is None

    def to_file(self, start: int, end: int) -> Span:
        """Return the bytes of the file for a span of the text."""
        if self.notebook is not None:
            start, end = self.notebook.offsets.to_file(start, end)
        return self.whole_to_file(start, end)

    def whole_to_file(self, start: int, end: int) -> Span:
        """Return the bytes of the file for a span of `whole`."""
        return self._encoded.to_file(start, end) if self._encoded is not None else (start, end)

    def to_text(self, start: int, end: int) -> Span:
        """Return the span of the text for bytes of the file, empty for what the text leaves out."""
        if self._encoded is not None:
            start, end = self._encoded.to_text(start, end)
        return self.notebook.offsets.to_text(start, end) if self.notebook is not None else (start, end)

    def line_in_file(self, line: int) -> int:
        """Return the line of the file that holds a line of the text, both counted from 1."""
        lines = self.notebook.lines if self.notebook is not None else ()
        return lines[min(line, len(lines)) - 1] if lines else line


def read_text(language: str, data: bytes) -> FileText | NotText:
    """Return the text of a file, or why it has none.

    :param language: NOTEBOOK for a notebook.
    """
    decoded = decode(data)
    if isinstance(decoded, NotText):
        return decoded
    encoded = encoding_map(decoded.text, decoded.encoding, decoded.mark)
    if language != NOTEBOOK:
        return FileText(decoded.text, decoded.encoding, _encoded=encoded)
    notebook = read_notebook(decoded.text)
    if isinstance(notebook, NotText):
        return notebook
    return FileText(notebook.text, decoded.encoding, notebook, decoded.text, encoded)
