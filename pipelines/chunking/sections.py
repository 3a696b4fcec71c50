"""Units of a document: one for each heading with its own text, up to the next heading.

In: the text and what recognises its headings (markdown, restructuredtext, asciidoc). Out: sections, each under the path
of headings that it stands in; what has too little text is shown with the section after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from pipelines.chunking.source import SecretSpans, Source
from pipelines.chunking.units import Segment, Unit
from pipelines.records import ChunkKind

#: Between the headings of a path: "Guide > Install". It cannot be taken for part of a qualified name in code.
PATH_SEPARATOR = " > "
#: A longer heading is a paragraph by mistake; its text is in the section all the same.
_MAX_TITLE_CHARS = 200
#: Stands for a heading that holds a secret, in the paths of the sections below it.
_HIDDEN_TITLE = "[hidden]"


class Heading(NamedTuple):
    """A heading, by places in a list of lines. Level 1 is the outermost; 0 begins a section without a title."""

    first: int  # where its section begins: itself, or the anchor above it
    end: int  # the line after it
    level: int
    title: str


#: Finds the headings among lines without their ends, in order.
Recogniser = Callable[[Sequence[str]], Iterator[Heading]]


@dataclass(slots=True)
class _Section:
    start: int
    end: int
    titles: tuple[str, ...]


@dataclass(slots=True)
class Sections:
    """The sections of one file, which may be made run by run: the headings of a run stay open in those after it."""

    source: Source
    secrets: SecretSpans
    min_chars: int
    _open: list[tuple[int, str]] = field(default_factory=list)
    _seen: Counter[str] = field(default_factory=Counter)

    def units(self, recogniser: Recogniser, start: int, end: int) -> Iterator[Unit]:
        """Yield the sections of a span of whole lines; one with less than `min_chars` goes to the one after it."""
        for section in self._join_crumbs(list(self._cut(recogniser, start, end)), start):
            name = section.titles[-1] if section.titles else ""
            path = PATH_SEPARATOR.join(section.titles)
            segments = (Segment(section.start, section.end),)
            yield Unit(ChunkKind.SECTION, name, path, path, self._seen[path], segments)
            self._seen[path] += 1

    def _cut(self, recogniser: Recogniser, start: int, end: int) -> Iterator[_Section]:
        bounds = self.source.line_bounds(start, end)
        lines = [self.source.text(*line).rstrip() for line in pairwise(bounds)]
        for heading in recogniser(lines):
            begin = bounds[heading.first]
            if begin > start:
                yield _Section(start, begin, self._titles())
            if heading.level:
                hidden = self.secrets.touch(begin, bounds[heading.end])
                shown = _HIDDEN_TITLE if hidden else heading.title[:_MAX_TITLE_CHARS].strip()
                self._open = [item for item in self._open if item[0] < heading.level] + [(heading.level, shown)]
            start = begin
        if start < end:
            yield _Section(start, end, self._titles())

    def _titles(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._open)

    def _join_crumbs(self, sections: list[_Section], start: int) -> list[_Section]:
        joined: list[_Section] = []
        for place, section in enumerate(sections):
            section.start = start
            crumb = len(self.source.text(start, section.end).strip()) < self.min_chars
            if crumb and place + 1 < len(sections):
                continue
            if crumb and joined:
                joined[-1].end = section.end
            else:
                joined.append(section)
            start = section.end
        return joined
