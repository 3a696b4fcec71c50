"""What stands around and before a definition and belongs to it: statements, decorators, attributes, comments.

In: these pieces as the walker meets them, then the span of a definition. Out: the span with all that belongs to it, and
the comments that document it. All of it is decided by places in the text, so it is the same for every grammar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.discover.comments import is_licence
from pipelines.discover.languages import Language
from pipelines.discover.source import Source, Span

_DOC_COMMENT = re.compile(rb"/\*[*!][^*]|///[^/]")
#: What may stand between a definition and a piece that belongs to it, in bytes.
_MAX_GAP_BYTES = 500
_AFTER_DEFINITION = b"; \t\r\n"


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    is_comment: bool = False
    in_signature: bool = False


@dataclass(slots=True)
class Place:
    """Where a definition stands, with all that belongs to it; `declaration` is where its signature begins."""

    start: int
    end: int
    declaration: int
    doc: list[Span]


class Surroundings:
    """The pieces that the walker has met so far, in document order."""

    def __init__(self, source: Source, language: Language) -> None:
        self._source = source
        self._inner_comment = language.inner_comment
        self._wrappers: list[_Piece] = []
        self._before: list[_Piece] = []

    def wrap(self, start: int, end: int, in_signature: bool) -> None:
        """Note a statement that may hold nothing but a definition."""
        self._wrappers.append(_Piece(start, end, in_signature=in_signature))

    def precede(self, start: int, end: int, is_comment: bool) -> None:
        """Note a comment or an attribute."""
        self._before.append(_Piece(start, self._source.trimmed_end(start, end), is_comment=is_comment))

    def place(self, start: int, end: int) -> Place:
        """Widen a definition's span by the statement around it and the attributes before it, and find its comments."""
        top, doc = self._above(start)
        place = Place(top, end, start, doc)
        while self._wrappers:
            wrapper = self._wrappers.pop()
            if wrapper.end < place.end:
                continue
            if self._is_far(place.end, wrapper.end) or (
                self._source.data[place.end : wrapper.end].strip(_AFTER_DEFINITION)
            ):
                break
            if wrapper.in_signature:
                place.declaration = wrapper.start
            top, doc = self._above(wrapper.start)
            place.start, place.end, place.doc = top, wrapper.end, doc + place.doc
        self._wrappers.clear()
        return place

    def _above(self, position: int) -> tuple[int, list[Span]]:
        """Return where the attributes directly above a position begin, and the comments among and above them."""
        top, edge, doc = position, position, list[Span]()
        for item in reversed(self._before):
            if item.start >= edge:
                continue
            if self._is_far(item.end, edge) or not self._source.is_blank(item.end, edge) or self._is_apart(item, edge):
                break
            if not item.is_comment:
                top = item.start
            elif self._source.opens_line(item.start):
                doc.append((item.start, item.end))
            else:
                break
            edge = item.start
        return top, self._without_licence(doc[::-1])

    @staticmethod
    def _is_far(end: int, start: int) -> bool:
        """Tell whether two places have more between them than a line end and an indentation: then it is not read."""
        return start - end > _MAX_GAP_BYTES

    def _is_apart(self, item: _Piece, edge: int) -> bool:
        """Tell whether blank lines keep a comment from what follows; a documentation comment may leave one."""
        breaks = self._source.line_breaks(item.end, edge)
        documents = _DOC_COMMENT.match(self._source.data, item.start) and item.start > self._source.first
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
