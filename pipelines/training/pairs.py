"""What the encoder learns from: definitions with their documentation. In: packages. Out: a table of pairs.

Every definition that discover finds in a package's own sources gives one row: its names, its code without the
documentation, and what the documentation says, "" where there is none (such a row still pairs its name with its body).
Left out are tests, generated and huge files, definitions of under MIN_LINES lines, text that is copied (equal code is
kept once, an equal sentence MAX_EQUAL_DOCS times), and anything of a project that evaluation uses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields

import pyarrow as pa

from pipelines.discover import file_type, parse_file
from pipelines.fingerprint import digest_bytes
from pipelines.formats import SYMBOLS_TABLE
from pipelines.records import CALLABLE_KINDS, SymbolKind
from pipelines.roles import is_test_path
from pipelines.tokens import words
from pipelines.training.packages import Package

#: Files that are read, by extension: the languages that discover parses into definitions.
_SUFFIXES = """
.py .js .mjs .cjs .jsx .ts .mts .tsx .go .java .rs .c .h .cc .cpp .cxx .hpp .hh .cs .kt .kts .scala .swift .php .rb .lua
.sh .bash .hs .ex .exs .zig
"""
SUFFIXES = frozenset(_SUFFIXES.split())
MIN_LINES = 3
#: Words of a documentation that says something: fewer repeat the name ("Returns foo.").
MIN_DOC_WORDS = 3
#: Characters that are kept; an encoder reads no more of a field.
MAX_DOC_CHARS, MAX_CODE_CHARS = 600, 4_000
#: A sentence that more definitions have ("Override this method.") tells nothing about any of them.
MAX_EQUAL_DOCS = 3
#: Rows that one package may give: a large generated client must not outweigh all others.
MAX_PACKAGE_ROWS = 20_000
_MAX_FILE_BYTES = 400_000
_COLUMNS = tuple(name for name in SYMBOLS_TABLE.names if name != "path")
#: Definitions that are taken.
KINDS = frozenset(str(kind) for kind in (*CALLABLE_KINDS, SymbolKind.CLASS, SymbolKind.STRUCT, SymbolKind.INTERFACE))
#: A docstring stands inside its definition: the first string behind the line end that closes the signature.
_DOCSTRING = re.compile(r":[ \t]*(?:#[^\n]*)?\n\s*[rRuU]{0,2}(\"\"\"|'''|\"|').*?\1", re.DOTALL)
#: Where the sentence about a definition ends: a blank line is gone already, so a tag, a section or an example.
_TAIL = re.compile(
    r"^\s*(?:@\w+|:\w+[ \w]*:|\\\w+|(?:Args|Arguments|Parameters?|Params|Returns?|Raises|Yields|Examples?|Notes?|"
    r"See also|Usage|Attributes|Errors|Panics|Safety|TODO)(?:[ \w]{0,20}:)?\s*$|[-=~#*]{3,}|>>>|```|#\s|<pre|<p>\s*$)",
    re.MULTILINE | re.IGNORECASE,
)
_MARKUP = re.compile(r"</?\w[^<>]{0,80}>|\{@\w+\s+([^{}]{0,120})\}|:\w+:(?=`)|[`*]")


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


def harvest(package: Package, suffixes: frozenset[str], kinds: frozenset[str] = KINDS) -> list[Pair]:
    """Return the pairs of one package, in order of path and place."""
    pairs = list(_pairs(package, suffixes, kinds))
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


def _pairs(package: Package, suffixes: frozenset[str], kinds: frozenset[str]) -> Iterator[Pair]:
    for path, text in package.files(suffixes):
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
                    package.name,
                    language,
                    path,
                    row["name"],
                    row["qualified_name"],
                    row["signature"],
                    plain_doc(row["doc"]),
                    without_docstring(code)[:MAX_CODE_CHARS] if language == "python" else code[:MAX_CODE_CHARS],
                )


def without_docstring(code: str) -> str:
    """Return a Python definition without the string that documents it."""
    return _DOCSTRING.sub(":\n", code, count=1)


def plain_doc(doc: str) -> str:
    """Return what a documentation says before its tags, sections and examples; "" if that is too little."""
    text = doc[: 4 * MAX_DOC_CHARS]
    tail = _TAIL.search(text)
    text = _MARKUP.sub(lambda match: match[1] or " ", text[: tail.start()] if tail else text)
    text = " ".join(text.split())[:MAX_DOC_CHARS]
    return text if sum(1 for _ in words(text)) >= MIN_DOC_WORDS else ""


def first_sentence(doc: str) -> str:
    """Return a documentation up to its first full stop."""
    end = re.search(r"[.!?](?=\s|$)", doc)
    return doc[: end.end()] if end else doc
