"""What a hit shows: the line to open, and a few lines from there. In: a chunk's text, the query. Out: bounded lines.

A definition that the query names shows the line that opens it, below its comments; a declaration inside a chunk shows
its own line, and what holds a message that was pasted the line of that; everything else the first of the lines that
hold most words of the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pipelines.records import ChunkKind
from pipelines.retrieval.analysis import Analysis
from pipelines.retrieval.declarations import declared_around, find_declaration, holds_word
from pipelines.retrieval.phrases import line_of_message
from pipelines.tokens import normalise, words

MAX_LINES = 6
MAX_LINE_CHARS = 160
#: Lines looked at: a hit deep inside a long chunk is still found, a minified one costs nothing.
_MAX_SCANNED_LINES = 400
#: Of a signature that a line must begin with; the rest may stand on further lines.
_SIGNATURE_CHARS = 40
#: Lines below its beginning where the name of a definition may stand.
_SIGNATURE_LINES = 12


class Shown(NamedTuple):
    """Which line of the text, from 0, is the one to open, the lines that are shown, and a name that is declared there.

    The name is "" where the chunk has one of its own, or none is declared.
    """

    line: int
    excerpt: str
    name: str = ""


def show(
    text: str, analysis: Analysis, *, name: str, signature: str, kind: str, language: str, at: int | None = None
) -> Shown:
    """Return what a chunk shows for a query.

    :param name: that of the chunk's definition, "" without one. :param signature: likewise.
    :param at: the line of the text that the query gives, from 0, if it gives one.
    """
    lines = text.split("\n", _MAX_SCANNED_LINES)[:_MAX_SCANNED_LINES]
    asked = _asked(analysis), {spelling: spelling for spelling in analysis.spellings}
    line = at if at is not None and at < len(lines) else line_of_message(lines, analysis.message)
    if line is None and name and not any(asked):
        line = _opening(lines, name, signature)
    for names in asked:
        if line is None and _fold(name) in names:
            line = _opening(lines, name, signature)
        if line is None:
            found = (_declared(text, part, kind, language) for part in names.values())
            line = next((place for place in found if place is not None), None)
        if line is None and analysis.spellings and analysis.name:  # its own spelling comes before the others
            line = _with_word(lines, analysis.name[-1])
    if line is None:
        line = _with_keyword(lines, analysis.keywords)
    if line is None:
        line = (_opening(lines, name, signature) if name else None) or 0
    shown = [item for item in lines[line:] if item.strip()][:MAX_LINES]
    declared = declared_around(lines, line, kind, language) if kind == ChunkKind.MODULE else ""
    return Shown(line, "\n".join(_cut(item) for item in shown), declared)


def _asked(analysis: Analysis) -> dict[str, str]:
    """Return the names that the query is, or mentions, by their folded form."""
    names = [parts[-1] for parts in (analysis.name, analysis.declared, *analysis.mentioned) if parts]
    return {_fold(name): name for name in names}


def _fold(name: str) -> str:
    return name.casefold()


def _declared(text: str, name: str, kind: str, language: str) -> int | None:
    found = find_declaration(text, name, kind, language) or find_declaration(text, name, kind, language, fold=True)
    return found.line if found else None


def _opening(lines: Sequence[str], name: str, signature: str) -> int | None:
    """Return the line of a definition that has its name: behind its comments, annotations and template parameters."""
    begins = " ".join(signature.split())[:_SIGNATURE_CHARS]
    for place, line in enumerate(lines):
        folded = " ".join(line.split())
        if folded and (begins.startswith(folded) or begins in folded):
            for further, text in enumerate(lines[place : place + _SIGNATURE_LINES]):
                # a type in C may have its name behind its body
                if holds_word(text, name) and not text.lstrip().startswith("}"):
                    return place + further
            return place
    return None


def _with_word(lines: Sequence[str], word: str) -> int | None:
    """Return the first line that has a word as it is spelt."""
    return next((place for place, line in enumerate(lines) if holds_word(line, word)), None)


def _with_keyword(lines: Sequence[str], keywords: Sequence[str]) -> int | None:
    """Return the first of the lines that hold most of the keywords; None if none holds any."""
    wanted = set(keywords)
    best, most = None, 0
    for place, line in enumerate(lines):
        begins = line[:MAX_LINE_CHARS]
        folded = normalise(begins).casefold()
        # a word of the line stands in its text: counting that is a tenth of the work, and never too little
        if sum(word in folded for word in wanted) > most:
            held = len(wanted.intersection(words(begins)))
            if held > most:
                best, most = place, held
    return best


def _cut(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…"
