"""Where clang finds the definitions of called functions of C. In: folder, options. Out: JSON, one a call.

Each row is [path, line, column, answer]; an answer is [[path, line]] inside the folder, "outside", or null for a call
through a pointer, or one of a function that is declared and nowhere defined. Calls of macros are answered too.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from clang.cindex import Cursor, CursorKind, Index, SourceLocation, TranslationUnit

Place = tuple[str, int]
_OPTIONS = TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD


def main() -> None:
    """Parse all sources below the first argument with the other arguments as options."""
    root = Path(sys.argv[1]).resolve()
    calls: dict[tuple[str, int, int], tuple[str, Place | None]] = {}
    defined: dict[str, Place] = {}
    for source in sorted(root.rglob("*.c")):
        unit = Index.create().parse(str(source), args=[*sys.argv[2:], f"-I{source.parent}"], options=_OPTIONS)
        for top in unit.cursor.get_children():
            if inside(top.location, root):
                for cursor in top.walk_preorder():
                    record(cursor, root, calls, defined)
    rows = []
    for (path, line, column), (symbol, known) in sorted(calls.items()):
        found = known or defined.get(symbol)
        rows.append([path, line, column, [list(found)] if found else "outside" if symbol == "outside" else None])
    json.dump(rows, sys.stdout)


def record(
    cursor: Cursor, root: Path, calls: dict[tuple[str, int, int], tuple[str, Place | None]], defined: dict[str, Place]
) -> None:
    """Take down a definition or a call."""
    if cursor.kind == CursorKind.FUNCTION_DECL and cursor.is_definition() and (place := inside(cursor.location, root)):
        defined.setdefault(cursor.get_usr(), place)
    if cursor.kind not in (CursorKind.CALL_EXPR, CursorKind.MACRO_INSTANTIATION):
        return
    site = inside(cursor.location, root)
    target = cursor.referenced
    if site is None or target is None:
        return
    at = (*site, cursor.location.column - 1)
    if cursor.kind == CursorKind.MACRO_INSTANTIATION:
        place = inside(target.location, root)
        calls[at] = ("outside" if place is None else "", place)
    elif target.kind == CursorKind.FUNCTION_DECL and at not in calls:
        body = target.get_definition()
        system = target.location.file is None or not Path(target.location.file.name).resolve().is_relative_to(root)
        calls[at] = ("outside" if system else target.get_usr(), inside(body.location, root) if body else None)


def inside(location: SourceLocation, root: Path) -> Place | None:
    """Return path and line of a place below the root."""
    if location.file is None:
        return None
    path = Path(location.file.name).resolve()
    return (str(path.relative_to(root)), location.line) if path.is_relative_to(root) else None


main()
