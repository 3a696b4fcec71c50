"""Units of a Markdown file: one for each heading with its own text, up to the next heading.

ATX and setext headings; `#` inside code fences, HTML comments and front matter is no heading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pipelines.chunking.source import SecretSpans, Source
from pipelines.chunking.units import Segment, Unit
from pipelines.records import ChunkKind

#: Between the headings of a path: "Guide > Install". It cannot be taken for part of a qualified name in code.
PATH_SEPARATOR = " > "
#: A longer heading is a paragraph by mistake; its text is in the section all the same.
_MAX_TITLE_CHARS = 200
#: Stands for a heading that holds a secret, in the paths of the sections below it.
_HIDDEN_TITLE = "[hidden]"
_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
#: A line that, standing alone above a row of dashes, is no heading: list, quote, table, indented code, HTML.
_NO_TITLE = re.compile(r"(?: {4}|\t| {0,3}(?:[-+*]\s|[>|<]|\d+[.)]\s))")
_COMMENT_END = re.compile(r".*-->")
_MATTER_ENDS = {"---": re.compile(r"(?:---|\.\.\.)\s*$"), "+++": re.compile(r"\+\+\+\s*$")}


@dataclass(slots=True)
class _Section:
    start: int
    end: int
    titles: tuple[str, ...]


def section_units(source: Source, secrets: SecretSpans, min_chars: int) -> Iterator[Unit]:
    """Yield the sections of a file; one with less than `min_chars` characters is shown with the one after it."""
    seen: Counter[str] = Counter()
    for section in _join_crumbs(source, list(_sections(source, secrets)), min_chars):
        name = section.titles[-1] if section.titles else ""
        path = PATH_SEPARATOR.join(section.titles)
        yield Unit(ChunkKind.SECTION, name, path, path, seen[path], (Segment(section.start, section.end),))
        seen[path] += 1


def _sections(source: Source, secrets: SecretSpans) -> Iterator[_Section]:
    open_titles: list[tuple[int, str]] = []
    start = 0
    for begin, body, level, title in _headings(source):
        if begin > start:
            yield _Section(start, begin, tuple(text for _, text in open_titles))
        if level:
            shown = _HIDDEN_TITLE if secrets.touch(begin, body) else title[:_MAX_TITLE_CHARS].strip()
            open_titles = [item for item in open_titles if item[0] < level] + [(level, shown)]
        start = begin
    if start < len(source):
        yield _Section(start, len(source), tuple(text for _, text in open_titles))


def _headings(source: Source) -> Iterator[tuple[int, int, int, str]]:
    """Yield (start, end, level, title) of every heading; level 0 marks the end of the front matter."""
    bounds = [*source.starts, len(source)]
    lines = [source.text(start, end).rstrip() for start, end in pairwise(bounds)]
    first = _front_matter(lines)
    if first:
        yield bounds[first], bounds[first], 0, ""
    closing: re.Pattern[str] | None = None
    for place in range(first, len(lines)):
        line = lines[place]
        if closing is not None:
            closing = None if closing.match(line) else closing
        elif (closing := _opened(line)) is None:
            if atx := _ATX.match(line):
                yield bounds[place], bounds[place + 1], len(atx[1]), _atx_title(line[atx.end() :])
            elif place > first and _underlines(lines, place, first):
                yield bounds[place - 1], bounds[place + 1], 1 if "=" in line else 2, lines[place - 1].strip()


def _atx_title(rest: str) -> str:
    """Return the text of an ATX heading without its closing marks."""
    title = rest.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else title


def _front_matter(lines: list[str]) -> int:
    """Return the number of lines of the front matter, 0 without one."""
    ends = _MATTER_ENDS.get(lines[0])
    if ends is None:
        return 0
    return next((place + 1 for place in range(1, len(lines)) if ends.match(lines[place])), 0)


def _opened(line: str) -> re.Pattern[str] | None:
    """Return what ends the code fence or comment that a line opens, None if it opens none."""
    if fence := _FENCE.match(line):
        return re.compile(rf" {{0,3}}{re.escape(fence[1][0])}{{{len(fence[1])},}}\s*$")
    if line.lstrip().startswith("<!--") and "-->" not in line:
        return _COMMENT_END
    return None


def _underlines(lines: list[str], place: int, first: int) -> bool:
    """Tell whether a line makes a heading of the line above: one line of plain text that nothing else runs into."""
    if not _SETEXT.match(lines[place]):
        return False
    title = lines[place - 1]
    if not title.strip() or _NO_TITLE.match(title) or _ATX.match(title) or _SETEXT.match(title):
        return False
    above = lines[place - 2] if place - 1 > first else ""
    return not above.strip() or bool(_ATX.match(above) or _SETEXT.match(above) or _FENCE.match(above))


def _join_crumbs(source: Source, sections: list[_Section], min_chars: int) -> list[_Section]:
    joined: list[_Section] = []
    start = 0
    for place, section in enumerate(sections):
        section.start = start
        crumb = len(source.text(start, section.end).strip()) < min_chars
        if crumb and place + 1 < len(sections):
            continue
        if crumb and joined:
            joined[-1].end = section.end
        else:
            joined.append(section)
        start = section.end
    return joined
