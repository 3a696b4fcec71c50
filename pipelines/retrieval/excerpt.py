"""What a hit shows. In: a chunk's text, the query's keywords. Out: a few of its lines, bounded in every direction."""

from __future__ import annotations

from collections.abc import Collection

from pipelines.tokens import words

MAX_LINES = 6
MAX_LINE_CHARS = 160
#: Lines looked at: a hit deep inside a long chunk is still found, a minified one costs nothing.
_MAX_SCANNED_LINES = 400


def excerpt(text: str, keywords: Collection[str]) -> str:
    """Return up to MAX_LINES lines from the first line that holds a keyword; from the first line if none does."""
    lines = [line for line in text.split("\n", _MAX_SCANNED_LINES)[:_MAX_SCANNED_LINES] if line.strip()]
    wanted = set(keywords)
    start = next((i for i, line in enumerate(lines) if not wanted.isdisjoint(words(line[:MAX_LINE_CHARS]))), 0)
    return "\n".join(_cut(line) for line in lines[start : start + MAX_LINES])


def _cut(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…"
