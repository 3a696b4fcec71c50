"""One file from bytes to rows, in one place. In: a path, a language, bytes. Out: what the tables of the file will hold.

The order is fixed: decode, look for secrets, mask them, and only then parse; so nothing that is made here can hold one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, Self

from pipelines.bloom import SpanBits, bloom_of_bits, text_bits
from pipelines.decode import NotText
from pipelines.discover.details import safe_detail
from pipelines.discover.file_types import LANGUAGE_NAMES
from pipelines.discover.parsing import comments
from pipelines.discover.parsing.grammars import CompiledLanguage, GrammarError
from pipelines.discover.parsing.languages import LANGUAGES, grammar_for
from pipelines.discover.parsing.readable import readable, written_by_tool
from pipelines.discover.parsing.recovery.depth import NestedTooDeeply, is_deeper
from pipelines.discover.parsing.regions import HOSTS, MAX_REGIONS, Region, regions
from pipelines.discover.parsing.relocation import PLACES, move_to_file
from pipelines.discover.parsing.source import Source
from pipelines.discover.parsing.sql import SQL, outline_sql
from pipelines.discover.parsing.symbols import Definition, Outline, outline
from pipelines.discover.secrets import SecretSpan, find_secrets
from pipelines.file_text import FileText
from pipelines.identity import FileIds
from pipelines.notebooks import Notebook
from pipelines.offsets import Span
from pipelines.records import SkipReason

_TOO_DEEP = "nested too deeply"


@dataclass(slots=True)
class Outcome:
    """What became of a file: columns of files.parquet."""

    encoding: str = ""
    lines: int = 0
    error_nodes: int = 0
    recovered: int = 0
    skip_reason: str | None = None
    skip_detail: str | None = None  # without a reason: why a file of a known language has no symbols

    def __post_init__(self) -> None:
        """Whatever hands an outcome over, its detail can be stored and shown."""
        if self.skip_detail:
            self.skip_detail = safe_detail(self.skip_detail)

    @classmethod
    def skipped(cls, reason: SkipReason, detail: str) -> Self:
        """Return the record of a file that has no rows, and why."""
        return cls(skip_reason=reason.value, skip_detail=detail)


OUTCOME_COLUMNS = tuple(column.name for column in fields(Outcome))


@dataclass(slots=True)
class ParsedFile(Outcome):
    """One file's rows as plain values: columns of the tables of `formats`, `path` apart."""

    symbols: list[list[Any]] = field(default_factory=list)
    calls: list[list[Any]] = field(default_factory=list)
    imports: list[list[Any]] = field(default_factory=list)
    secrets: list[list[Any]] = field(default_factory=list)
    typings: list[list[Any]] = field(default_factory=list)


def parse_file(repo: str, path: str, language: str, data: bytes) -> ParsedFile:
    """Decode and parse one file.

    :param repo: repository key, for the ids. :param path: its path. :param language: "" for text without a grammar.
    :param data: its bytes.
    """
    text = readable(language, data)
    if isinstance(text, NotText):
        return ParsedFile.skipped(text.reason, text.detail)
    whole = text.whole or text.text
    secrets = find_secrets(text.text)
    parsed = ParsedFile(text.encoding, whole.count("\n") + (not whole.endswith("\n")))
    parsed.secrets = [list(row) for row in _secret_rows(secrets)]
    if language in LANGUAGES or language in HOSTS or language == SQL:
        source = Source(text.text, [(span.start_byte, span.end_byte) for span in secrets])
        _add_symbols(parsed, repo, path, language, source, text.notebook)
    if not text.is_its_file:
        for table in PLACES:
            move_to_file(table, getattr(parsed, table), text)
        parsed.secrets += _left_out_secrets(text)
    return parsed


def _left_out_secrets(text: FileText) -> Iterator[list[Any]]:
    """Yield the secrets in what the text leaves out of its file: in the outputs of a notebook."""
    for start, end, *rest in _secret_rows(find_secrets(text.whole)):
        span = text.whole_to_file(start, end)
        shown = text.to_text(*span)
        if shown[0] == shown[1]:
            yield [*span, *rest]


def _secret_rows(secrets: list[SecretSpan]) -> Iterator[tuple[int, int, int, int, str]]:
    for span in secrets:
        yield span.start_byte, span.end_byte, span.start_line, span.end_line, span.detector


@lru_cache
def _compiled(language: str) -> CompiledLanguage | str:
    """Return the compiled language, or why it cannot be used: one broken table costs one language its symbols."""
    try:
        return CompiledLanguage(LANGUAGES[language])
    except GrammarError as error:
        return str(error)


def _no_grammar(language: str) -> str:
    """Say that a language is not parsed. A notebook may name any text as its language: it could be a secret."""
    return f"no grammar for {language}" if language in LANGUAGE_NAMES else "no grammar for the notebook's language"


def _outline(language: str, path: str, source: Source, notebook: Notebook | None) -> tuple[Outline, str | None]:
    """Return what a file holds in its own language or in those of its regions, and why a part of it gave nothing."""
    if language == SQL:
        return outline_sql(source, path), None
    found, detail = Outline(), None
    if language in LANGUAGES:
        parts = [Region(grammar_for(language, path, source.data.decode()), ())]
    else:
        parts = regions(language, source.data, notebook)
        detail = f"more than {MAX_REGIONS} scripts or cells" if len(parts) > MAX_REGIONS else None
    for part in parts[:MAX_REGIONS]:
        compiled = _compiled(part.language) if part.language in LANGUAGES else _no_grammar(part.language)
        if isinstance(compiled, str):
            detail = compiled
        elif part.ranges and (generated := written_by_tool(source.text(*part.span))):
            detail = generated
        elif compiled.language.max_levels and is_deeper(source.data, compiled.language.max_levels):
            detail = _TOO_DEEP
        else:
            try:
                outline(source, compiled, path, part.ranges, found)
            except NestedTooDeeply:
                detail = _TOO_DEEP
            found.comments += part.gaps
    found.comments.sort()
    return found, detail


def _add_symbols(
    parsed: ParsedFile, repo: str, path: str, language: str, source: Source, notebook: Notebook | None
) -> None:
    found, parsed.skip_detail = _outline(language, path, source, notebook)
    ids = _identify(repo, path, found.definitions)
    parsed.error_nodes = found.error_nodes
    parsed.recovered = found.recovered
    words = SpanBits(source.data)
    bodies = words.of_all([(definition.start, definition.end) for definition in found.definitions])
    parsed.symbols = [
        _symbol_row(source, found, definition, *identity, _sketch(words, definition, bits))
        for definition, identity, bits in zip(found.definitions, ids, bodies, strict=True)
        if identity is not None
    ]
    parsed.calls = [[_id_of(ids, caller), *call] for caller, *call in found.calls]
    parsed.imports = [[item.module, item.name, item.alias, item.line] for item in found.imports]
    parsed.typings = [
        [_id_of(ids, item.owner), item.role.value, item.name, item.type, item.start]
        for item in found.typings
        if item.owner is None or ids[item.owner] is not None
    ]


def _id_of(ids: list[tuple[bytes, int] | None], index: int | None) -> bytes | None:
    identity = ids[index] if index is not None else None
    return identity[0] if identity is not None else None


def _identify(repo: str, path: str, definitions: list[Definition]) -> list[tuple[bytes, int] | None]:
    """Return id and ordinal of each definition, None for a declaration that the file defines elsewhere."""
    defined = {item.qualified_name for item in definitions if item.has_body}
    file = FileIds(repo, path)
    seen: Counter[tuple[str, str]] = Counter()
    ids: list[tuple[bytes, int] | None] = []
    for item in definitions:
        if not item.has_body and item.qualified_name in defined:
            ids.append(None)
            continue
        ordinal = seen[item.kind, item.qualified_name]
        seen[item.kind, item.qualified_name] += 1
        ids.append((file.make(item.kind, item.qualified_name, ordinal), ordinal))
    return ids


def _sketch(words: SpanBits, item: Definition, bits: int) -> bytes:
    """Return the sketch of a definition, given the bits of its text: with its name and the comments above it."""
    bits |= text_bits(item.qualified_name)
    for start, end in item.doc:
        if start < item.start:
            bits |= words.of(start, end)
    return bloom_of_bits(bits)


def _symbol_row(
    source: Source, found: Outline, item: Definition, symbol_id: bytes, ordinal: int, bloom: bytes
) -> list[Any]:
    doc_secret = any(source.holds_secret(*span) for span in item.doc)
    declaration_secret = source.holds_secret(*item.declaration)
    doc = [] if doc_secret else [_doc_text(source.text(*span)) for span in item.doc]
    signature = "" if declaration_secret else comments.fold_signature(_declaration_text(source, item, found.comments))
    return [
        symbol_id,
        item.kind.value,
        item.name,
        item.qualified_name,
        ordinal,
        item.start_line,
        item.end_line,
        item.start,
        item.end,
        min(item.start, *(start for start, _ in item.doc)) if item.doc else item.start,
        signature,
        comments.join_doc(doc),
        item.is_test,
        bloom,
    ]


def _doc_text(written: str) -> str:
    return comments.comment_text(written) if written.lstrip()[:1] in "/#<-*{=" else comments.docstring_text(written)


def _declaration_text(source: Source, definition: Definition, found: list[Span]) -> str:
    """Return the text of a declaration without the comments inside it; `found` are all comments in order."""
    start, end = definition.declaration
    pieces = []
    for index in range(bisect_left(found, (start, start)), len(found)):
        comment_start, comment_end = found[index]
        if comment_start >= end:
            break
        pieces.append(source.text(start, comment_start))
        start = comment_end
    return " ".join([*pieces, source.text(min(start, end), end)])
