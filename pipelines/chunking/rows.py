"""From one file to its rows of the chunks table. In: a file, its text, symbols and secrets. Out: rows and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from pipelines.chunking import asciidoc, markdown, restructuredtext
from pipelines.chunking.code import Stretch, code_units
from pipelines.chunking.definitions import SymbolRow, make_tree
from pipelines.chunking.notebook import notebook_units
from pipelines.chunking.sections import Recogniser, Sections
from pipelines.chunking.source import SecretSpans, Source
from pipelines.chunking.units import Part, Unit, parts
from pipelines.chunking.windows import window_unit
from pipelines.file_text import FileText
from pipelines.identity import make_id
from pipelines.records import Content, ListedFile
from pipelines.roles import is_test_path
from pipelines.settings import ChunkingSettings

#: The languages of documents that have sections.
_HEADINGS: Mapping[str, Recogniser] = {
    "asciidoc": asciidoc.headings,
    "markdown": markdown.headings,
    "restructuredtext": restructuredtext.headings,
}


class ChunkRow(NamedTuple):
    """One row of formats.CHUNKS_TABLE, in its column order."""

    chunk_id: bytes
    path: str
    language: str
    scope: str
    kind: str
    name: str
    qualified_name: str
    symbol_id: bytes | None
    part: int
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    signature: str
    doc: str
    text: str
    code_hash: bytes
    is_test: bool


class QuarantineRow(NamedTuple):
    """One row of formats.QUARANTINE_TABLE."""

    path: str
    start_line: int
    end_line: int
    detector: str


@dataclass(slots=True)
class FileChunks:
    """What one file gave. `blank` and `secret` count the parts that are not in `rows`."""

    rows: list[ChunkRow] = field(default_factory=list)
    quarantine: list[QuarantineRow] = field(default_factory=list)
    blank: int = 0
    secret: int = 0


def chunk_file(
    repo: str,
    file: ListedFile,
    text: FileText,
    symbols: Sequence[SymbolRow],
    secrets: SecretSpans,
    settings: ChunkingSettings,
) -> FileChunks:
    """Cut one file into rows.

    :param text: its text, with the line ends of the file. :param symbols: its definitions, in any order.
    :param secrets: where it holds secrets; all of these are places in the file.
    :raises SourceMoved: if the symbols do not fit the text.
    """
    if not text.is_its_file:
        symbols, secrets = [_in_text(symbol, text) for symbol in symbols], secrets.moved(text.to_text)
    source = Source(text.text)
    found = FileChunks()
    for unit in _units(source, text, file, symbols, secrets, settings):
        for part in parts(unit, source, secrets, settings.max_chars):
            lines = source.line(part.start), source.line(max(part.start, part.end - 1))
            first, last = map(text.line_in_file, lines)
            if part.detectors:
                found.secret += 1
                found.quarantine += [QuarantineRow(file.path, first, last, item) for item in part.detectors]
            elif not part.text:
                found.blank += 1
            else:
                start, end = text.to_file(part.start, part.end)
                found.rows.append(_row(repo, file, unit, part._replace(start=start, end=end), (first, last)))
    return found


def _in_text(symbol: SymbolRow, text: FileText) -> SymbolRow:
    start, end = text.to_text(symbol.start, symbol.end)
    return replace(symbol, start=start, end=end, top=text.to_text(symbol.top, symbol.top)[0])


def _units(
    source: Source,
    text: FileText,
    file: ListedFile,
    symbols: Sequence[SymbolRow],
    secrets: SecretSpans,
    settings: ChunkingSettings,
) -> Iterator[Unit]:
    if file.language in _HEADINGS:
        sections = Sections(source, secrets, settings.min_chars)
        yield from sections.units(_HEADINGS[file.language], 0, len(source))
    elif text.notebook is not None:
        yield from notebook_units(source, text.notebook, file.path, symbols, secrets, settings)
    elif symbols or file.content is Content.CODE:
        roots = make_tree(source, symbols, file.path, settings.min_chars)
        yield from code_units(source, Stretch(0, len(source)), roots, secrets, Counter())
    else:
        yield window_unit(source)


def _row(repo: str, file: ListedFile, unit: Unit, part: Part, lines: tuple[int, int]) -> ChunkRow:
    chunk_id = make_id(repo, file.path, unit.kind, unit.anchor, unit.ordinal, part.number)
    if unit.symbol_id is not None and part.number == 0:
        chunk_id = unit.symbol_id
    return ChunkRow(
        chunk_id=chunk_id,
        path=file.path,
        language=file.language,
        scope=file.scope,
        kind=unit.kind.value,
        name=unit.name,
        qualified_name=unit.qualified_name,
        symbol_id=unit.symbol_id,
        part=part.number,
        start_line=lines[0],
        end_line=lines[1],
        start_byte=part.start,
        end_byte=part.end,
        signature=unit.signature,
        doc=unit.doc,
        text=part.text,
        code_hash=code_hash(part.text),
        is_test=unit.is_test or is_test_path(file.path),
    )


def code_hash(text: str) -> bytes:
    """Return blake2b-128 of a text without trailing spaces and without blank lines at its ends."""
    lines = [line.rstrip() for line in text.split("\n")]
    return blake2b("\n".join(lines).strip("\n").encode(), digest_size=16).digest()
