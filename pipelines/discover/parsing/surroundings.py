"""What stands around and before a definition and belongs to it: statements, decorators, attributes, comments.

In: these pieces as the walker meets them, then the span of a definition. Out: the span with all that belongs to it, and
the comments that document it. All of it is decided by places in the text, so it is the same for every grammar.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.discover.parsing.comments import is_licence
from pipelines.discover.parsing.languages import Language
from pipelines.discover.parsing.source import Source, longer_first
from pipelines.offsets import Span

_DOC_COMMENT = re.compile(rb"/\*[*!][^*]|///[^/]")
#: What may stand between a definition and a piece that belongs to it, in bytes.
_MAX_GAP_BYTES = 500
_AFTER_DEFINITION = b"; \t\r\n"
#: Start, end, and whether the statement is part of the signature.
_Wrapper = tuple[int, int, bool]


@dataclass(slots=True)
class Place:
    """Where a definition stands, with all that belongs to it; `declaration` is where its signature begins."""

    start: int
    end: int
    declaration: int
    doc: list[Span]


class Surroundings:
    """Comments; attributes, each with the string in it that documents; the wrappers that the walker has met so far."""

    def __init__(
        self, source: Source, language: Language, comments: list[Span], attributes: Mapping[Span, Span | None]
    ) -> None:
        self._source = source
        self._inner_comment = language.inner_comment
        self._wrappers: list[_Wrapper] = []
        self._pieces = comments if not attributes else sorted([*attributes, *comments], key=longer_first)
        self._attributes = attributes

    def wrap(self, start: int, end: int, in_signature: bool) -> None:
        """Note a statement that may hold nothing but a definition."""
        self._wrappers.append((start, end, in_signature))

    def place(self, start: int, end: int) -> Place:
        """Widen a definition's span by the statement around it and the attributes before it, and find its comments."""
        top, doc = self._above(start)
        place = Place(top, end, start, doc)
        while self._wrappers:
            wrapper_start, wrapper_end, in_signature = self._wrappers.pop()
            if wrapper_end < place.end:
                continue
            if self._is_far(place.end, wrapper_end) or (
                self._source.data[place.end : wrapper_end].strip(_AFTER_DEFINITION)
            ):
                break
            if in_signature:
                place.declaration = wrapper_start
            top, doc = self._above(wrapper_start)
            place.start, place.end, place.doc = top, wrapper_end, doc + place.doc
        self._wrappers.clear()
        return place

    def end_of(self, start: int, end: int) -> int:
        """Return where a definition ends, without white space and comments about what follows.

        Grammars of languages that indent let a body run on to the next statement: a comment that is indented no deeper
        than the definition is not its own.
        """
        while True:
            end = self._source.trimmed_end(start, end)
            index = bisect_left(self._pieces, (end, 0)) - 1
            if index < 0 or self._pieces[index] in self._attributes:
                return end
            comment, comment_end = self._pieces[index]
            ends_it = comment > start and self._source.trimmed_end(comment, comment_end) == end
            if not ends_it or not self._source.opens_line(comment):
                return end
            if self._source.column(comment) > self._source.indentation(start):
                return end
            end = comment

    def _above(self, position: int) -> tuple[int, list[Span]]:
        """Return where the attributes directly above a position begin, and the comments among and above them."""
        top, edge, doc = position, position, list[Span]()
        for index in range(bisect_left(self._pieces, (position, 0)) - 1, -1, -1):
            piece = start, end = self._pieces[index]
            if start >= edge:
                continue
            end = self._source.trimmed_end(start, end)
            if self._is_far(end, edge) or not self._source.is_blank(end, edge) or self._is_apart(start, end, edge):
                break
            if piece in self._attributes:
                top = start
                documents = self._attributes[piece]
                doc += [documents] if documents else []
            elif self._source.opens_line(start):
                doc.append((start, end))
            else:
                break
            edge = start
        return top, self._without_licence(doc[::-1])

    @staticmethod
    def _is_far(end: int, start: int) -> bool:
        """Tell whether two places have more between them than a line end and an indentation: then it is not read."""
        return start - end > _MAX_GAP_BYTES

    def _is_apart(self, start: int, end: int, edge: int) -> bool:
        """Tell whether blank lines keep a comment from what follows; a documentation comment may leave one."""
        breaks = self._source.line_breaks(end, edge)
        documents = _DOC_COMMENT.match(self._source.data, start) and start > self._source.first
        return breaks > (2 if documents else 1)

    def _without_licence(self, doc: list[Span]) -> list[Span]:
        inner = self._inner_comment
        texts = [(span, self._source.text(*span)) for span in doc]
        if texts and doc[0][0] == self._source.first:
            if texts[0][1].startswith("/*"):
                texts = texts[1:] if is_licence(texts[0][1]) else texts
            elif any(is_licence(text) for _, text in texts):
                return []
        return [span for span, text in texts if not (inner and text.startswith(inner)) and not text.startswith("#!")]
