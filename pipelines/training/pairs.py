"""What the encoder learns from: definitions with their documentation. In: packages. Out: a table of pairs.

Every definition that discover finds in a package's own sources gives one row: its names, its code without the
documentation, and what the documentation says, "" where there is none (such a row still pairs its name with its body).
Left out are tests, generated and huge files, definitions of under MIN_LINES lines, text that is copied (equal code is
kept once, an equal sentence MAX_EQUAL_DOCS times), and anything of a project that evaluation uses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import pyarrow as pa

from pipelines.discover import file_type, parse_file
from pipelines.fingerprint import digest_bytes
from pipelines.formats import SYMBOLS_TABLE
from pipelines.records import CALLABLE_KINDS, SymbolKind
from pipelines.roles import is_test_path
from pipelines.tokens import words
from pipelines.training.documentation import plain_doc
from pipelines.training.packages import Names, Package

#: Files that are read, by extension: the languages that discover parses into definitions.
_SUFFIXES = """
.py .js .mjs .cjs .jsx .ts .mts .tsx .go .java .rs .c .h .cc .cpp .cxx .hpp .hh .hxx .ipp .inl .tpp .cs .kt .kts .scala
.sc .swift .php .rb .rake .lua .sh .bash .zsh .ksh .hs .hsc .ex .exs .zig
"""
SUFFIXES = frozenset(_SUFFIXES.split())
MIN_LINES = 3
#: Characters of code that are kept; an encoder reads no more of it.
MAX_CODE_CHARS = 4_000
#: A sentence that more definitions have ("Override this method.") tells nothing about any of them.
MAX_EQUAL_DOCS = 3
#: Rows that one package may give: a large generated client must not outweigh all others.
MAX_PACKAGE_ROWS = 20_000
_MAX_FILE_BYTES = 400_000
_COLUMNS = tuple(name for name in SYMBOLS_TABLE.names if name != "path")
#: Definitions that are taken.
KINDS = frozenset(str(kind) for kind in (*CALLABLE_KINDS, SymbolKind.CLASS, SymbolKind.STRUCT, SymbolKind.INTERFACE))
#: Documentation that stands inside its definition: Python's first string behind the line end that closes the signature,
#: Elixir's attributes. The documentation of all other languages is comments before it.
_DOC_INSIDE = {
    "python": (re.compile(r":[ \t]*(?:#[^\n]*)?\n\s*[rRuU]{0,2}(\"\"\"|'''|\"|').*?\1", re.DOTALL), ":\n", 1),
    "elixir": (re.compile(r"@(?:module|type)?doc\s+(?:~[sS])?(\"\"\"|\").*?\1", re.DOTALL), "", 0),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """One definition. `doc` is plain text without tags and examples."""

    package: str
    language: str
    path: str
    name: str
    qualified_name: str
    signature: str
    doc: str
    code: str


SCHEMA = pa.schema([(field.name, pa.string()) for field in fields(Pair)])


def harvest(
    package: Package, suffixes: frozenset[str], kinds: frozenset[str] = KINDS, held_out: Names = frozenset()
) -> list[Pair]:
    """Return the pairs of one package, in order of path and place."""
    pairs = list(_pairs(package.files(suffixes, held_out), package.name, kinds))
    count = min(len(pairs), MAX_PACKAGE_ROWS)
    return [pairs[index * len(pairs) // count] for index in range(count)]


def without_copies(pairs: Iterator[Pair]) -> Iterator[Pair]:
    """Yield pairs whose code has not been seen, without a documentation that has been seen too often."""
    seen: set[bytes] = set()
    docs: Counter[bytes] = Counter()
    for pair in pairs:
        code = digest_bytes(" ".join(words(pair.code)).encode("utf-8", "surrogatepass"))
        if code in seen:
            continue
        seen.add(code)
        if pair.doc:
            doc = digest_bytes(pair.doc.lower().encode("utf-8", "surrogatepass"))
            docs[doc] += 1
            if docs[doc] > MAX_EQUAL_DOCS:
                continue
        yield pair


def _pairs(files: Iterable[tuple[str, str]], package: str, kinds: frozenset[str]) -> Iterator[Pair]:
    for path, text in files:
        kind = file_type(path)
        language = getattr(kind, "language", "")
        if not language or len(text) > _MAX_FILE_BYTES or is_test_path(path):
            continue
        data = text.encode("utf-8", "surrogatepass")
        for values in parse_file("training", path, language, data).symbols:
            row = dict(zip(_COLUMNS, values, strict=True))
            long_enough = row["end_line"] - row["start_line"] + 1 >= MIN_LINES
            if row["kind"] in kinds and long_enough and not row["is_test"]:
                code = data[row["start_byte"] : row["end_byte"]].decode("utf-8", "ignore")
                yield Pair(
                    package,
                    language,
                    path,
                    row["name"],
                    row["qualified_name"],
                    row["signature"],
                    plain_doc(row["doc"], row["name"]),
                    without_doc(code, language)[:MAX_CODE_CHARS],
                )


def without_doc(code: str, language: str) -> str:
    """Return a definition without the documentation that stands inside it."""
    code = code.replace("\r\n", "\n")
    if language not in _DOC_INSIDE:
        return code
    pattern, instead, count = _DOC_INSIDE[language]
    return pattern.sub(instead, code, count=count)
