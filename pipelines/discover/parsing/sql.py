"""Definitions and calls of SQL, read from the text. In: source. Out: an outline, as the walker makes of a syntax tree.

There is no one SQL: of 100 definitions of real files the tree of a grammar had 97 (plain tables), 83 to 88 (PostgreSQL)
or 15 (procedures of SQL Server), and ended many of them early. But whatever the dialect, a definition begins a line
with CREATE and a name, and how statements end can be told: by `;`, by a line of its own (GO, /), by a delimiter that
the file sets, or by the END of their blocks. Statements that define nothing are not looked into.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from pipelines.discover.parsing.calls import Call
from pipelines.discover.parsing.comments import is_licence
from pipelines.discover.parsing.source import Source
from pipelines.discover.parsing.symbols import Definition, Outline
from pipelines.offsets import Span
from pipelines.records import CALLABLE_KINDS, SymbolKind
from pipelines.roles import is_test_path

SQL = "sql"

#: What is stored and has columns is a struct, what only names a value or a place is a constant.
_KINDS = {
    **dict.fromkeys((b"AGGREGATE", b"FUNCTION", b"PROC", b"PROCEDURE", b"TRIGGER"), SymbolKind.FUNCTION),
    **dict.fromkeys((b"TABLE", b"VIEW"), SymbolKind.STRUCT),
    **dict.fromkeys((b"DOMAIN", b"TYPE"), SymbolKind.TYPE),
    **dict.fromkeys((b"INDEX", b"SEQUENCE"), SymbolKind.CONSTANT),
    b"PACKAGE": SymbolKind.CLASS,
}
#: Also what an installer puts a schema's name for: @schema@, ${schema}.
_NAME = rb"(?:[A-Za-z_\x80-\xff][\w$#\x80-\xff]*+|\"[^\"\n]++\"|`[^`\n]++`|\[[^\[\]\n]++\]|@\w++@|\$\{\w++\})"
_PATH = _NAME + rb"(?:\s*+\.\s*+" + _NAME + rb"){0,3}"
_HEAD = re.compile(
    rb"^[ \t]*+(?:/\*!\d{0,6}[ \t]*+)?(?P<verb>CREATE|ALTER)\s++"
    rb"(?:(?:OR\s++(?:REPLACE|ALTER)|UNIQUE|TEMP|TEMPORARY|GLOBAL|LOCAL|UNLOGGED|MATERIALIZED|RECURSIVE|FOREIGN|EXTERNAL"
    rb"|TRANSIENT|VIRTUAL|CLUSTERED|NONCLUSTERED|COLUMNSTORE|FULLTEXT|SPATIAL|BITMAP|CONSTRAINT|EVENT(?=\s++TRIGGER)"
    rb"|(?:NON)?EDITIONABLE|FORCE|SECURE|PRIVATE|PUBLIC|DEFINER\s*+=\s*+\S++|ALGORITHM\s*+=\s*+\w++"
    rb"|SQL\s++SECURITY\s++\w++|\*/|/\*!\d{0,6})\s++){0,8}+"
    rb"(?P<object>AGGREGATE|DOMAIN|FUNCTION|INDEX|PACKAGE|PROCEDURE|PROC|SEQUENCE|TABLE|TRIGGER|TYPE|VIEW)\s++"
    rb"(?:CONCURRENTLY\s++|BODY\s++|IF\s++NOT\s++EXISTS\s++){0,3}+(?P<path>" + _PATH + rb")",
    re.IGNORECASE | re.MULTILINE,
)
_PART = re.compile(_NAME)
_COMMENT = rb"--[^\n]*+|/\*(?!!)[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)"
#: Where a backslash hides a quote: in MySQL, which a file shows by its backticks; elsewhere only after E.
_ESCAPED = rb"'(?:[^'\\]|''|\\.)*+(?:'|\Z)"
_STRING = rb"\b[eE]" + _ESCAPED + rb"|'(?:[^']|'')*+(?:'|\Z)"
_QUOTED = rb"\"[^\"\n]*+\"|`[^`\n]*+`|\[[^\[\]\n]*+\]"
_DOLLAR = rb"\$(?:[A-Za-z_]\w*+)?\$"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _tokens(string: bytes) -> re.Pattern[bytes]:
    return re.compile(
        rb"(?P<comment>" + _COMMENT + rb")|(?P<string>" + string + rb"|" + _QUOTED + rb")|(?P<dollar>" + _DOLLAR + rb")"
        rb"|(?P<line>^[ \t]*+(?:GO|/)[ \t]*+\r?$)|(?P<word>[A-Za-z_@#][\w$@#]*+)|(?P<sign>[;()])",
        re.IGNORECASE | re.MULTILINE | re.DOTALL,
    )


def _called(string: bytes) -> re.Pattern[bytes]:
    no_call = _COMMENT + rb"|" + string + rb"|\b(?:AS|INTO|REFERENCES|TABLE|EXISTS)\s++" + _PATH
    run = rb"\b(?:EXEC|EXECUTE|CALL)\s++(?:(?:FUNCTION|PROCEDURE)\s++)?(?:@\w++\s*+=\s*+)?(?P<run>" + _PATH + rb")"
    call = rb"(?<![\w$#@.\x80-\xff])(?P<path>" + _PATH + rb")\s*+\("
    return re.compile(rb"(?:" + no_call + rb")|" + run + rb"|" + call, re.IGNORECASE | re.DOTALL)


_TOKENS, _MYSQL_TOKENS = _tokens(_STRING), _tokens(_ESCAPED)
_CALLED, _MYSQL_CALLED = _called(_STRING), _called(_ESCAPED)
_BATCH_END = re.compile(rb"^[ \t]*+GO[ \t]*+\r?$", re.IGNORECASE | re.MULTILINE)
_SLASH = re.compile(rb"^[ \t]*+/[ \t]*+\r?$", re.MULTILINE)
_DELIMITER = re.compile(rb"^[ \t]*+DELIMITER[ \t]++(\S++)", re.IGNORECASE | re.MULTILINE)
#: After BEGIN: it begins no block. After END: it ends none that was counted.
_NO_BLOCK = re.compile(rb"\s*+(?:TRAN|TRANSACTION|WORK|DISTRIBUTED)\b|\s*+;", re.IGNORECASE)
_OTHER_END = re.compile(rb"\s++(?:FOR|IF|LOOP|REPEAT|WHILE)\b", re.IGNORECASE)
_ENUM = re.compile(rb"\s++ENUM\b", re.IGNORECASE)
_LINE_COMMENT = re.compile(rb"[ \t]*+--")
#: What stands before a parenthesis and is no call, in lower case: types, clauses, functions that every dialect has.
_RESERVED = _words(
    """
    abs all and any array as avg begin between bigint bit by cast char character check coalesce concat constraint
    convert count cross cube current_timestamp date datetime datetime2 decimal default dense_rank distinct double
    else end except exec execute exists extract filter float floor for foreign format from function getdate group
    grouping having identity if ifnull in include index inner insert int integer intersect interval into is isnull
    join key lateral left len length like limit lower ltrim max min mod nchar not now null nullif number numeric
    nvarchar nvl object_id offset on only or order outer over partition position primary procedure quotename raise
    raiserror range rank real references replace return returning returns right rollup round row row_number rows
    rtrim select set setof sets similar smallint some substr substring sum table then throw time timestamp
    timestamptz tinyint to trim union unique unnest update upper using value values varbinary varchar varchar2
    varying when where while with within xml
    """
)
_QUOTES = b'"`[]@${}'


@dataclass(slots=True)
class _Statement:
    """A statement that defines something: where it ends, where its body begins, the comments in it."""

    end: int
    body: int | None = None
    is_enum: bool = False
    comments: list[Span] = field(default_factory=list)


def outline_sql(source: Source, path: str) -> Outline:
    """Return what a file of SQL defines, and what its functions call."""
    found, data = Outline(), source.data
    file = _File(data)
    in_test = is_test_path(path)
    position = line_of = 0
    line = 1
    heads = list(_HEAD.finditer(data))
    for head, following in zip_longest(heads, heads[1:]):
        start = head.start("verb")
        if start < position:  # a temporary table of a procedure
            continue
        statement = file.statement(head, following.start() if following else len(data))
        names = [part.strip(_QUOTES).decode("utf-8", "ignore") for part in _PART.findall(head["path"])]
        if _defines(head, statement, names[-1]):
            line += source.line_breaks(line_of, start)
            line_of = start
            doc = _comments_above(source, start, position)
            end = source.trimmed_end(start, statement.end)
            kind = SymbolKind.ENUM if statement.is_enum else _KINDS[head["object"].upper()]
            last = line + source.line_breaks(start, end)
            declaration = (start, min(end, statement.body or end))
            qualified = ".".join(names)
            found.definitions.append(
                Definition(kind, names[-1], qualified, start, end, line, last, declaration, tuple(doc), in_test, True)
            )
            found.comments += statement.comments
            if kind in CALLABLE_KINDS:
                caller = len(found.definitions) - 1
                found.calls += file.calls(caller, source, statement.body or head.end(), end, line, start)
        position = statement.end
    return found


def _defines(head: re.Match[bytes], statement: _Statement, name: str) -> bool:
    """Tell whether a statement defines what it names: not an owner, not an index without a name."""
    if head["verb"].upper() == b"ALTER" and (statement.body is None or head["object"].upper() in (b"TABLE", b"INDEX")):
        return False
    return name.upper() != "ON" and not name.startswith("#")


class _File:
    """One file of SQL, with what its dialect shows in it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        mysql = b"`" in data
        self._tokens = _MYSQL_TOKENS if mysql else _TOKENS
        self._called = _MYSQL_CALLED if mysql else _CALLED
        self._last_batch_end = max((match.start() for match in _BATCH_END.finditer(data)), default=0)
        self._last_slash = max((match.start() for match in _SLASH.finditer(data)), default=0)
        self._delimiters = [(match.end(), match[1]) for match in _DELIMITER.finditer(data)]
        self._found: dict[bytes, int] = {}  # where each delimiter was found last

    def statement(self, head: re.Match[bytes], following: int) -> _Statement:
        """Return the statement that a head begins; only what runs holds the head that follows."""
        runs = _KINDS[head["object"].upper()] in (SymbolKind.FUNCTION, SymbolKind.CLASS)
        batch = runs and head.end() < self._last_batch_end
        script = runs and head.end() < self._last_slash
        delimiter = self._delimiter(head.start()) if runs else b""
        limit = min(self._find(delimiter, head.end()), len(self._data) if runs else following)
        reader = _Reader(self._data, self._tokens, runs, to_line=batch or script or bool(delimiter))
        return reader.read(head.end(), limit)

    def _find(self, delimiter: bytes, position: int) -> int:
        """Return where a delimiter is found from a position on, the end of the file if it is not; positions ascend."""
        if not delimiter:
            return len(self._data)
        if self._found.get(delimiter, -1) < position:
            found = self._data.find(delimiter, position)
            self._found[delimiter] = found if found >= 0 else len(self._data)
        return self._found[delimiter]

    def _delimiter(self, position: int) -> bytes:
        """Return what ends statements at a place instead of the usual, b"" if nothing does."""
        before = bisect_right(self._delimiters, (position,)) - 1
        sign = self._delimiters[before][1] if before >= 0 else b""
        return b"" if sign == b";" else sign

    def calls(self, caller: int, source: Source, start: int, end: int, line: int, line_of: int) -> Iterator[Call]:
        """Yield what looks like a call between two places, `line` being that of `line_of`."""
        for match in self._called.finditer(self._data, start, end):
            group = "run" if match["run"] else "path"
            if not match[group]:
                continue
            *scope, name = (part.strip(_QUOTES).decode("utf-8", "ignore") for part in _PART.findall(match[group]))
            if name.lower() not in _RESERVED:
                place = match.start(group)
                line, line_of = line + source.line_breaks(line_of, place), place
                yield caller, name, ".".join(scope) or None, line, place


class _Reader:
    """Reads one statement to its end."""

    def __init__(self, data: bytes, tokens: re.Pattern[bytes], runs: bool, to_line: bool) -> None:
        self._data = data
        self._tokens = tokens
        self._runs = runs  # it has a body that may hold statements
        self._to_line = to_line  # and ends with what the file has for that, not with a semicolon
        self._parentheses = self._blocks = 0
        self._before = b""  # the last word

    def read(self, position: int, limit: int) -> _Statement:
        """Return the statement that goes on at a position and ends at the limit at the latest."""
        found = _Statement(limit)
        while token := self._tokens.search(self._data, position, limit):
            position = token.end()
            kind = token.lastgroup
            if kind == "comment":
                found.comments.append(token.span())
            elif kind == "dollar":
                closing = self._data.find(token[0], position, limit)
                position = closing + len(token[0]) if closing >= 0 else limit
                found.body = found.body or token.start()
                self._to_line = False
            elif kind == "word":
                self._word(token, found)
            elif self._ends(token):
                found.end = token.start()
                break
            elif token[0] == b"(" and not self._runs:
                found.body = found.body or token.start()
        return found

    def _word(self, token: re.Match[bytes], found: _Statement) -> None:
        word, after = token[0].upper(), token.end()
        if word in (b"AS", b"IS") and self._parentheses == 0 and self._before not in (b"EXECUTE", b"EXEC"):
            found.is_enum = found.is_enum or (not self._runs and _ENUM.match(self._data, after) is not None)
            found.body = found.body or token.start()
        elif self._runs and (word == b"CASE" or (word == b"BEGIN" and not _NO_BLOCK.match(self._data, after))):
            self._blocks += word == b"BEGIN" or self._before != b"END"
            found.body = found.body or token.start()
        elif self._runs and word == b"END" and not _OTHER_END.match(self._data, after):
            self._blocks = max(0, self._blocks - 1)
        self._before = word

    def _ends(self, token: re.Match[bytes]) -> bool:
        if token.lastgroup == "line":
            return True
        if token[0] == b"(":
            self._parentheses += 1
        elif token[0] == b")":
            self._parentheses = max(0, self._parentheses - 1)
        else:
            return token[0] == b";" and not self._to_line and self._parentheses == 0 and self._blocks == 0
        return False


def _comments_above(source: Source, start: int, floor: int) -> list[Span]:
    """Return the comments that end right above a statement, without a licence at the top of the file."""
    data, found = source.data, list[Span]()
    edge = data.rfind(b"\n", 0, start) + 1
    while edge > floor:
        begin = data.rfind(b"\n", 0, edge - 1) + 1
        line = data[begin:edge].strip()
        if line.endswith(b"*/"):
            begin = data.rfind(b"/*", floor, edge)
            if begin < 0 or not source.opens_line(begin) or data.startswith(b"/*!", begin):
                break
        elif not _LINE_COMMENT.match(data, begin) or begin < floor:
            break
        found.append((begin, source.trimmed_end(begin, edge)))
        edge = data.rfind(b"\n", 0, begin) + 1
    found.reverse()
    licence = found and found[0][0] == source.first and any(is_licence(source.text(*span)) for span in found)
    return [] if licence else found
