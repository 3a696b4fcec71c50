"""Where jedi finds the definitions of called names. In: JSON {root, sites: [path, line, column]}. Out: JSON.

An answer is [path, line] inside the root, "outside", or null where jedi knows nothing.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path

import jedi


def main() -> None:
    """Answer the sites on standard input."""
    question = json.load(sys.stdin)
    root = Path(question["root"])
    project = jedi.Project(root)
    answers: list[object] = []
    for path, sites in groupby(question["sites"], key=lambda site: site[0]):
        script = jedi.Script(path=root / path, project=project)
        answers.extend(answer(script, root, line, column) for _, line, column in sites)
    json.dump(answers, sys.stdout)


def answer(script: jedi.Script, root: Path, line: int, column: int) -> object:
    """Return where the name at a place is defined."""
    try:
        found = script.goto(line, column, follow_imports=True)
        if any(name.type not in ("function", "class", "property") for name in found):
            found = script.infer(line, column)
    except (RecursionError, AttributeError, ValueError, TypeError, KeyError, AssertionError):  # jedi gives up
        return None
    found = [name for name in found if name.type in ("function", "class", "property")]
    if not found:
        return None
    places = {place(name, root) for name in found}
    if len(places) > 1:
        return [list(item) for item in sorted(places) if item[0]] or "outside"
    (path, row) = places.pop()
    return [[path, row]] if path else "outside"


def place(name: jedi.api.classes.BaseName, root: Path) -> tuple[str, int]:
    """Return the path below the root and the line of a definition, "" for one outside."""
    path = name.module_path
    if path is None or name.line is None or not Path(path).is_relative_to(root):
        return "", 0
    return str(Path(path).relative_to(root)), name.line


main()
