"""What the source says of types: bases, annotations, constructed values. In: the captures of a pattern. Out: rows.

Nothing is inferred here. A row says that a name, a field or a result has the type, or gets the value, that is written
there; binding puts such rows together to find the class of a receiver.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.discover.parsing.grammars import Captures, Constructs, Role, Rule
from pipelines.discover.parsing.nesting import Nesting
from pipelines.discover.parsing.source import Source
from pipelines.records import TypingRole

#: A longer type or value is none that a class can be looked up by; in characters.
MAX_TYPE_CHARS = 120
#: Stands for the own object before the name of a field that is declared where the object has no word for itself.
OWN = "."


@dataclass(frozen=True, slots=True)
class TypingRow:
    """One statement about a type. `owner` is the place of the definition around it among the file's definitions."""

    owner: int | None
    role: TypingRole
    name: str
    type: str
    start: int


def read_typings(
    constructs: Constructs, rules: tuple[Rule, ...], source: Source, nesting: Nesting, named: set[int]
) -> list[TypingRow]:
    """Return what a file says of types, in document order; `named` is where the names of its definitions stand."""
    rows: list[TypingRow] = []
    for start, _, order, captures in constructs.in_order(Role.TYPING):
        role, frame = rules[order].typing, nesting.at(start)
        assert role is not None
        if start in named and frame.outer is not None:  # a definition that this statement names is not its owner
            frame = frame.outer
        row = _read(captures, source, role, frame.owner)
        if row is not None:
            rows.append(row)
    return rows


def _read(captures: Captures, source: Source, role: TypingRole, owner: int | None) -> TypingRow | None:
    """Return what one match says of a type, None where it is too long to be looked up."""
    what = next(capture for capture in ("type", "called", "value") if capture in captures)
    node = captures[what][0]
    if node.end_byte - node.start_byte > 4 * MAX_TYPE_CHARS or source.holds_secret(node.start_byte, node.end_byte):
        return None
    text = " ".join(source.text(node.start_byte, node.end_byte).split())
    named = next((captures[capture][0] for capture in ("name", "field") if capture in captures), None)
    name = source.text(named.start_byte, named.end_byte) if named is not None else ""
    if len(text) > MAX_TYPE_CHARS or len(name) > MAX_TYPE_CHARS:
        return None
    place = named if named is not None else node
    return TypingRow(
        owner,
        role,
        OWN + name if "field" in captures else name,
        text + "()" if what == "called" else text,
        place.start_byte,
    )
