"""Macros of C and C++ that read like other syntax. In: source bytes. Out: the same with those macros blank.

A grammar does not know what a macro stands for. Most read like a call or a declaration and do no harm; some turn
what follows into something else, so they are hidden from the grammar. Offsets and lines stay what they are, and
everything but the grammar sees the text as it is written.
"""

from __future__ import annotations

import re

#: A line that only invokes a macro: in capitals, from the first column, without a semicolon, before neither a body nor
#: the rest of an expression. The function after it would be taken for a part of it.
_LINE = re.compile(
    rb"^[A-Z_][A-Z0-9_]+[ \t]*\([^()\n;{}]*(?:\([^()\n;{}]*\)[^()\n;{}]*)*\)[ \t]*\r?$(?=\s*(?:[A-Za-z_#}/]|\Z))",
    re.MULTILINE,
)
#: The macro in `class EXPORT Name {`, which would be taken for a function called Name.
_BEFORE_NAME = re.compile(
    rb"(\b(?:class|struct|union))([ \t]+[A-Z_][A-Z0-9_]+(?:\([^()\n]*\))?)"
    rb"(?=[ \t\r\n]+[A-Za-z_]\w*(?:[ \t]+final\b)?[ \t\r\n]*(?::[^:]|\{))"
)
#: The macros in `void f() REQUIRES(lock) {`, which would be taken for another function.
_AFTER_PARAMETERS = re.compile(
    rb"(\)[ \t\r\n]*+(?:(?:const|noexcept|override|final)[ \t\r\n]++){0,4})"
    rb"((?:[A-Z_][A-Z0-9_]{3,}+\b(?:[ \t]*+\([^()\r\n;{}]*+\))?[ \t]*+){1,4})(?=[\r\n]*+[ \t]*+\{)"
)


def hide_macros(data: bytes) -> bytes:
    """Return source of C or C++ in which the macros that derail its grammar are blank."""
    data = _LINE.sub(lambda match: b" " * len(match[0]), data)
    for pattern in (_BEFORE_NAME, _AFTER_PARAMETERS):
        data = pattern.sub(lambda match: match[1] + b" " * len(match[2]), data)
    return data
