"""What a definition is called. In: source text of a name. Out: its parts."""

from __future__ import annotations

import re

#: A name that is an expression (a computed property) is cut here, in characters.
MAX_NAME_CHARS = 120
#: Names with their containers have at most this many parts and characters: what stands ten thousand functions deep must
#: not be called by all of them, for every part of the index would grow with the square of the depth.
MAX_PARTS = 32
MAX_QUALIFIED_CHARS = 500
#: What is looked at of a name, in characters: the left side of an assignment can be any expression.
_READ_CHARS = 1_000
_SPACE = re.compile(r"\s+")
_OPERATOR = re.compile(r"\boperator\b\s*(\(\s*\)|[^(]*)")
#: `<T>` and `[T]` of generic names, innermost first; an index that is a string or a symbol is the name itself.
_GENERIC = re.compile(r"<[^<>]*>|(?<=\w)\[[^\[\]]*\]")
_SEPARATOR = re.compile(r"::|->|\.|\\|(?<=\w):(?=\w)")
#: A name of signs alone, as Scala, Swift and Haskell have them, is one name: `::`, `.&.`, `*`.
_SIGNS = re.compile(r"[^\w\s\"'`\[\]#()]+\Z")
#: What stands before a quoted name and is no part of it: `@test "..."` of bats, `@"..."` of Zig.
_QUOTING = re.compile(r"@\w*\s*(?=[\"'])")
#: Containers that say how a name is bound in JavaScript, not what it belongs to.
_BINDINGS = frozenset({"exports", "module", "prototype", "this", "self", "window", "globalThis"})
#: What a module's anonymous default export is called.
DEFAULT_NAME = "default"


def name_parts(text: str) -> tuple[str, ...]:
    """Return the parts of a name as it stands in the source: `ns::Foo<T>::bar` and `Foo.prototype.bar` have several.

    The last part is the name, the parts before it are its containers. Never empty.
    """
    if text.isidentifier():
        return (text,)
    text = _QUOTING.sub("", _SPACE.sub(" ", text[:_READ_CHARS]).strip(), count=1)
    if text[:1] in "\"'`[#":  # a quoted, computed or private property is one name, dots and all
        return (text.strip("\"'`")[:MAX_NAME_CHARS] or DEFAULT_NAME,)
    if _SIGNS.match(text):
        return (text[:MAX_NAME_CHARS],)
    operator = _OPERATOR.search(text)
    tail: tuple[str, ...] = ()
    if operator:
        text, tail = text[: operator.start()], (_operator_name(operator[1]),)
    while (plain := _GENERIC.sub("", text)) != text:
        text = plain
    *containers, name = (part.strip(" *&():")[:MAX_NAME_CHARS] for part in _SEPARATOR.split(text))
    kept = tuple(part for part in containers if part and part not in _BINDINGS)
    if tail:
        return (*kept, name, *tail) if name else (*kept, *tail)
    return (*kept, name if name and (kept or name != "exports") else DEFAULT_NAME)


def bounded(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts of a qualified name, of one that is too long only the innermost.

    Half the limits are kept then, so that what stands inside is called by it for some levels, and is found in it.
    """
    chars = sum(map(len, parts)) + len(parts) - 1
    if len(parts) <= MAX_PARTS and chars <= MAX_QUALIFIED_CHARS:
        return parts
    kept = [parts[-1][:MAX_QUALIFIED_CHARS]]
    chars = len(kept[0])
    for part in parts[-2 : -MAX_PARTS // 2 - 1 : -1]:
        chars += 1 + len(part)
        if chars > MAX_QUALIFIED_CHARS // 2:
            break
        kept.append(part)
    return tuple(reversed(kept))


def _operator_name(symbol: str) -> str:
    symbol = symbol.strip()
    return f"operator {symbol}" if symbol[:1].isalpha() else f"operator{symbol.replace(' ', '')}"
