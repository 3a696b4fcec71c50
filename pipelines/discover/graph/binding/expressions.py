"""Receivers and types as they are written. In: text. Out: the links of a chain, the class paths of a type."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

#: Links of a chain that are followed; nobody can tell the type at the end of a longer one from names alone.
_MAX_LINKS = 8
#: Texts whose links and types are kept: the same few are written everywhere.
_KEPT = 65_536
_JOINT = re.compile(r"\s*(?:[?&!]?\.|\?->|->|::|\\)\s*")
_NAME = re.compile(r"[@$]?[^\W\d][\w$]*[!?]?(?![\w$.])|[@$]?[^\W\d][\w$]*")
_PREFIX = re.compile(r"(?:await\s+|new\s+|&|\*|\()+")
_TYPE_ARGUMENTS = re.compile(r"(?:::)?<[\w\s,.:?\[\]|&]*>")
_OPENING, _CLOSING = "([{", ")]}"
#: Starts of what is no name: a string, a number, a list.
_LITERAL = re.compile(r"""[rbfuRBFU]{0,2}["'`]|\d|\[|\{""")

#: Types whose first argument is what matters: its members are called, not theirs.
_WRAPPERS = frozenset(
    {
        *("Optional", "Annotated", "ClassVar", "Final", "Type", "type", "Awaitable", "Coroutine"),
        *("Promise", "Readonly", "Partial", "Required", "InstanceType", "NonNullable"),
        *("Rc", "Arc", "Box", "Ref", "RefMut", "Mutex", "unique_ptr", "shared_ptr", "weak_ptr", "optional"),
        *("Lazy", "lazy", "WeakReference"),
        # what a `with` statement gets from a function of this result
        *("Generator", "Iterator", "AsyncGenerator", "AsyncIterator", "AbstractContextManager", "ContextManager"),
    }
)
_PREFIX_WORDS = re.compile(
    r"(?:\b(?:const|mut|dyn|impl|final|readonly|struct|class|typename|ref|out|in|typeof|some|any)\s+|&|\*|'\w+\s)+"
)
_HEAD = re.compile(r"[\s(]*([\w$.:\\]+)\s*(?:([<\[])(.*)[>\]])?[\s?!&*)]*\Z", re.DOTALL)
_NO_TYPE = frozenset({"var", "let", "auto", "None", "null", "undefined", "any", "Any", "object", "void", "error"})
_PATH_JOINT = re.compile(r"\.|::|\\")


class Link(NamedTuple):
    """One name of a chain and whether it is called: `a.b(1).c` has three."""

    name: str
    called: bool


@lru_cache(maxsize=_KEPT)
def is_literal(text: str) -> bool:
    """Tell whether an expression is written out as a string, a number or a list."""
    return _LITERAL.match(text) is not None


@lru_cache(maxsize=_KEPT)
def links(text: str) -> tuple[Link, ...]:
    """Return the links of a chain of names and calls, () for any other expression."""
    start = prefix.end() if (prefix := _PREFIX.match(text)) else 0
    found: list[Link] = []
    place = start
    while len(found) < _MAX_LINKS:
        name = _NAME.match(text, place)
        if name is None:
            return ()
        place = name.end()
        if arguments := _TYPE_ARGUMENTS.match(text, place):
            place = arguments.end()
        called = text[place : place + 1] in ("(", "{")
        if called:
            place = _after_bracket(text, place)
            if place < 0:
                return ()
        found.append(Link(name[0], called))
        while text[place : place + 1] in ("!", ")"):
            place += 1
        if not text[place:].strip():
            return tuple(found)
        joint = _JOINT.match(text, place)
        if joint is None:
            return ()
        place = joint.end()
    return ()


def _after_bracket(text: str, place: int) -> int:
    """Return where the bracket that opens at a place has been closed, -1 if it is not."""
    depth, quote = 0, ""
    for index in range(place, len(text)):
        character = text[index]
        if quote:
            quote = "" if character == quote and text[index - 1] != "\\" else quote
        elif character in "\"'`":
            quote = character
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
            if depth == 0:
                return index + 1
    return -1


@lru_cache(maxsize=_KEPT)
def class_paths(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the classes that a written type may mean, each as the parts of its path; () for none that has a name."""
    text = text.strip("\"' \t")
    if text.startswith("(") and text.endswith(")"):  # the results of a Go function
        text = _split(text[1:-1], ",")[0].strip()
        text = text.rpartition(" ")[2]
    paths: list[tuple[str, ...]] = []
    for option in _split(text, "|"):
        option = _PREFIX_WORDS.sub("", option.strip("\"' \t")).strip()
        head = _HEAD.match(option)
        if head is None or head[1] in _NO_TYPE or (head[2] and not head[3]):
            continue
        parts = tuple(part for part in _PATH_JOINT.split(head[1]) if part)
        if parts and parts[-1] in _WRAPPERS and head[3]:
            paths.extend(class_paths(_split(head[3], ",")[0]))
        elif parts:
            paths.append(parts)
    return tuple(dict.fromkeys(paths))


def _split(text: str, separator: str) -> list[str]:
    """Split a type at a separator that stands in no bracket."""
    if separator not in text:
        return [text]
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]
