"""Which contents are read: those that are text, not blank, not written by a tool. In: bytes. Out: text, or why not.

Parsing and the preview of a run ask the same question here, so what is foretold is what happens.
"""

from __future__ import annotations

from pipelines.decode import NotText
from pipelines.discover.parsing.languages import LANGUAGES
from pipelines.file_text import FileText, read_text
from pipelines.records import SkipReason

#: A file was written by a tool (a bundle, a minified library, a table of data) if it has lines longer than this number
#: of characters and hardly anything beside them: nobody searches in it, and one line is no excerpt.
MAX_LINE_CHARS = 30_000
#: What lines of a usual length have at least of a file that somebody wrote around a long one, as a share of its text
#: without indentation and empty lines.
_MIN_WRITTEN = 0.03


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
    if len(text) <= MAX_LINE_CHARS:
        return ""
    lengths = [len(line.strip()) for line in text.split("\n")]
    overlong = sum(length for length in lengths if length > MAX_LINE_CHARS)
    share = overlong / max(1, sum(lengths))
    if share <= 1 - _MIN_WRITTEN:
        return ""
    return f"a line of {max(lengths)} characters, {share:.0%} of the text in such lines"
