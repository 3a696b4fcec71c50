"""Which contents are read: those that are text, not blank, not written by a tool. In: bytes. Out: text, or why not.

Parsing and the preview of a run ask the same question here, so what is foretold is what happens.
"""

from __future__ import annotations

from pipelines.decode import NotText
from pipelines.discover.languages import LANGUAGES
from pipelines.file_text import FileText, read_text
from pipelines.records import SkipReason

#: A file with a line longer than the first and an average line longer than the second number of characters was written
#: by a tool (a bundle, a minified library, a table of data): nobody searches in it, and one line is no excerpt.
MAX_LINE_CHARS = 30_000
MAX_MEAN_LINE_CHARS = 1_000


def readable(language: str, data: bytes) -> FileText | NotText:
    """Return the text of a file, or why it is not indexed.

    :param language: "" for text without a grammar. :param data: its bytes.
    """
    found = read_text(language, data)
    if isinstance(found, NotText):
        return found
    if not found.text or found.text.isspace():
        return NotText(SkipReason.EMPTY, "no text")
    if language in LANGUAGES and (detail := written_by_tool(found.text)):
        return NotText(SkipReason.GENERATED, detail)
    return found


def written_by_tool(text: str) -> str:
    """Say by which of its lines a text shows that a tool wrote it, "" if none does."""
    mean = len(text) // (text.count("\n") + 1)
    if mean <= MAX_MEAN_LINE_CHARS:
        return ""
    longest = max(map(len, text.split("\n")))
    return f"a line of {longest} characters, {mean} on average" if longest > MAX_LINE_CHARS else ""
