"""Files that hold code of another language: pages and components with scripts, notebooks. In: a file. Out: its regions.

A region is parsed in its place: the grammar sees its ranges of the file's bytes and nothing else, so offsets, lines and
masked secrets are what they are everywhere. What stands outside of all regions is text like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import NamedTuple

from tree_sitter import Point, Range

from pipelines.file_text import NOTEBOOK
from pipelines.notebooks import Notebook
from pipelines.offsets import Span


class Region(NamedTuple):
    """A stretch of code in one language; what is left out of it lies between its ranges."""

    language: str
    ranges: tuple[Range, ...]  # none for all of the file

    @property
    def span(self) -> Span:
        """Where it begins and ends, if it has ranges."""
        return self.ranges[0].start_byte, self.ranges[-1].end_byte

    @property
    def gaps(self) -> list[Span]:
        """What lies between its ranges, which no declaration shows."""
        return [(before.end_byte, after.start_byte) for before, after in pairwise(self.ranges)]


#: Regions of one file that are parsed; a file with more is no page that someone wrote.
MAX_REGIONS = 2_000
#: What is read of an opening tag.
_MAX_TAG_BYTES = 4_096
#: What begins a comment or an element whose content is no markup.
_RAW = re.compile(rb"<!--|<(script|style|textarea)(?=[\s/>])", re.IGNORECASE)
_RAW_ENDS = {
    name: re.compile(rb"</" + name + rb"(?=[\s/>])", re.IGNORECASE) for name in (b"script", b"style", b"textarea")
}
_TAG_END = re.compile(rb"(?:[^>\"']|\"[^\"]*+\"|'[^']*+')*+>")
_ATTRIBUTE = re.compile(rb"([\w:.-]+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>\"']+)))?")
#: What `type` or `lang` of a script say about its language; what is not listed is data or a template.
_SCRIPTS = {
    **dict.fromkeys(
        ("", "js", "jsx", "javascript", "module", "text/babel", "text/javascript", "text/ecmascript", "text/jsx"),
        "javascript",
    ),
    **dict.fromkeys(("application/javascript", "application/ecmascript", "application/x-javascript"), "javascript"),
    **dict.fromkeys(("ts", "typescript", "text/typescript", "application/typescript"), "typescript"),
    **dict.fromkeys(("tsx", "text/tsx"), "tsx"),
}
#: A cell whose first line gives it to another program than the kernel, unless that only measures or keeps what it does.
_OTHER_CELL = re.compile(
    rb"\s*+%%(?!(?:capture|debug|memit|mprun|prun|px|py|python3?|time|timeit)\b|(?:writefile|file)\b[^\n]*\.py\s)"
)
#: A line for the notebook, not for the kernel: a magic, a shell command, a question; it may go on after a backslash.
#: Behind `timer` stands code.
_COMMAND = re.compile(
    rb"^[ \t]*+(?:(?P<timer>%time(?:it)?[ \t]++(?!-))"
    rb"|(?:[\w., \t\[\]]++=[ \t]*+)?(?:%{1,2}[A-Za-z_]|!)(?:[^\n\\]|\\\r?\n|\\.)*+"
    rb"|\?[^\n]*+|[\w.]++\?{1,2}[ \t]*+\r?$)(?(timer)|\n?)",
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(rb"\s*---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)


def regions(language: str, data: bytes, notebook: Notebook | None = None) -> list[Region]:
    """Return the code that a file holds, in order, up to one region more than are parsed.

    :param language: a host of others; any other language has no regions. :param notebook: whose text `data` is.
    """
    if notebook is not None:
        found = _cells(data, notebook)
    else:
        found = _FINDERS[language](data) if language in _FINDERS else iter(())
    return list(_located(data, islice(found, MAX_REGIONS + 1)))


def _located(data: bytes, found: Iterable[tuple[str, list[Span]]]) -> Iterator[Region]:
    row = line = position = 0

    def point(offset: int) -> Point:
        nonlocal row, line, position
        breaks = data.count(b"\n", position, offset)
        if breaks:
            row, line = row + breaks, data.rfind(b"\n", position, offset) + 1
        position = offset
        return Point(row, offset - line)

    for language, spans in found:
        yield Region(language, tuple(Range(point(start), point(end), start, end) for start, end in spans))


def _scripts(data: bytes, position: int = 0, default: str = "javascript") -> Iterator[tuple[str, list[Span]]]:
    """Yield the scripts of a page; one that is not closed reaches to the end."""
    while opening := _RAW.search(data, position):
        if opening[1] is None:
            position = data.find(b"-->", opening.end())
            if position < 0:
                return
            continue
        name = opening[1].lower()
        start = _tag_end(data, opening.end())
        if not start:
            # no tag ends within the limit, so only the last one that begins there may be whole
            limit = opening.end() + _MAX_TAG_BYTES
            last = data.rfind(b"<", opening.end(), limit)
            position = last if last >= 0 else limit
            continue
        attributes = data[opening.end() : start]
        if attributes.endswith(b"/>"):
            position = start
            continue
        closing = _RAW_ENDS[name].search(data, start)
        end = closing.start() if closing else len(data)
        language = _script_language(attributes, default) if name == b"script" else ""
        if language and data[start:end].strip():
            yield language, [(start, end)]
        position = end


def _tag_end(data: bytes, position: int) -> int:
    """Return where an opening tag ends: behind the `>` outside of quotes, else behind the first one; 0 for none."""
    limit = position + _MAX_TAG_BYTES
    tag = _TAG_END.match(data, position, limit)
    return tag.end() if tag else data.find(b">", position, limit) + 1


def _script_language(attributes: bytes, default: str) -> str:
    values = {
        match[1].lower(): next((value for value in match.groups()[1:] if value is not None), b"")
        for match in _ATTRIBUTE.finditer(attributes)
    }
    told = (values.get(b"lang") or values.get(b"type") or b"").decode("utf-8", "replace").strip().lower()
    told = told.partition(";")[0].rstrip()
    language = _SCRIPTS.get(told, "")
    return default if language == "javascript" and told in ("", "module") else language


def _astro(data: bytes) -> Iterator[tuple[str, list[Span]]]:
    matter = _FRONT_MATTER.match(data)
    if matter:
        yield "typescript", [matter.span(1)]
    yield from _scripts(data, matter.end() if matter else 0, "typescript")


def _cells(data: bytes, notebook: Notebook) -> Iterator[tuple[str, list[Span]]]:
    """Yield the code cells of a notebook, each without the lines that are commands to the notebook."""
    for cell in notebook.cells:
        if cell.kind == "code" and not _OTHER_CELL.match(data, cell.start, cell.end):
            spans = list(_between(_COMMAND.finditer(data, cell.start, cell.end), cell.start, cell.end))
            if spans:
                yield notebook.language, spans


def _between(removed: Iterable[re.Match[bytes]], start: int, end: int) -> Iterator[Span]:
    for match in removed:
        begin = match.start("timer") if match["timer"] else match.start()
        if start < begin:
            yield start, begin
        start = match.end()
    if start < end:
        yield start, end


_FINDERS: Mapping[str, Callable[[bytes], Iterator[tuple[str, list[Span]]]]] = {
    "astro": _astro,
    "html": _scripts,
    "svelte": _scripts,
    "vue": _scripts,
}
#: Languages whose files hold code of others.
HOSTS = frozenset({*_FINDERS, NOTEBOOK})
