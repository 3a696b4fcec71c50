"""Macros of C and C++ that read like other syntax. In: source bytes. Out: the same with those macros blank.

A grammar does not know what a macro stands for. Most read like a call or a declaration and do no harm; some turn
what follows into something else, so they are hidden from the grammar. Offsets and lines stay what they are, and
everything but the grammar sees the text as it is written.

Nothing here knows the name of a macro. What tells one is the place: C has no two names side by side but a type and what
it declares, so whatever else stands before a name is a macro.
"""

from __future__ import annotations

import re

_BLANKS = rb"[ \t]*+(?:\r?\n)?[ \t]*+"
#: Arguments in parentheses, two levels deep, without a semicolon, a brace or the end of a line.
_ARGUMENTS = rb"\([^()\r\n;{}]*+(?:\([^()\r\n;{}]*+(?:\([^()\r\n;{}]*+\)[^()\r\n;{}]*+)*+\)[^()\r\n;{}]*+)*+\)"
#: A line that only invokes a macro: in capitals, from the first column, without a semicolon, before neither a body nor
#: the rest of an expression. The function after it would be taken for a part of it.
_LINE = re.compile(
    rb"^(?:static[ \t]+)?[A-Z_][A-Z0-9_]+[ \t]*\([^()\n;{}]*(?:\([^()\n;{}]*\)[^()\n;{}]*)*\)[ \t]*\r?$"
    rb"(?=\s*(?:[A-Za-z_#}/]|\Z))",
    re.MULTILINE,
)
#: The macro in `class EXPORT Name {` and `struct __packed name {`, which would be taken for a function called Name.
_BEFORE_NAME = tuple(
    re.compile(
        rb"(" + word + rb"[ \t]++)((?:__[a-z]\w*+|[A-Z_][A-Z0-9_]++)(?:\([^()\n]*\))?)"
        rb"(?=[ \t\r\n]++[A-Za-z_]\w*+(?:[ \t]++final\b)?+[ \t\r\n]*+(?::[^:]|\{))"
    )
    for word in (b"class", b"struct", b"union", b"enum")
)
#: The macros in `void f() REQUIRES(lock) {` and `void f() __releases(lock) {`, which would be taken for another function.
_AFTER_PARAMETERS = re.compile(
    rb"(\)[ \t\r\n]*+(?:(?:const|noexcept|override|final)[ \t\r\n]++){0,4})"
    rb"((?:(?:[A-Z_][A-Z0-9_]{3,}+|__(?!attribute)[a-z]\w*+)\b(?:[ \t]*+\([^()\r\n;{}]*+\))?[ \t\r\n]*+){1,4})"
    rb"(?=[\r\n]*+[ \t]*+\{)"
)
#: What stands between the start of a line and the name of a function or variable: words, at most twelve, some with
#: arguments. Several words are needed; a type and a name alone hold no macro.
_WORD = rb"[A-Za-z_]\w{0,80}+"
_HEAD = re.compile(
    rb"^[ \t]*+((?:"
    + _WORD
    + rb"(?:[ \t]*+"
    + _ARGUMENTS
    + rb"(?=\s++[A-Za-z_]))?+(?:[ \t*&]++(?:\r?\n)?[ \t]*+|\r?\n[ \t]*+)){2,12})"
    + rb"(~?"
    + _WORD
    + rb")[ \t]*+(?=[(\[]|=(?!=)|::)",
    re.MULTILINE,
)
_ITEM = re.compile(rb"(" + _WORD + rb")(?:[ \t]*+(" + _ARGUMENTS + rb"))?+")
#: One macro between a type and a name, as in `char __user *text`: in parameters, fields and local variables.
_QUALIFIER = re.compile(rb"__[a-z]\w*+(?=[ \t*]++[\w*),;=])")
_LAST_WORD = re.compile(rb"(\w+|\*)[ \t]+\Z")
#: A comment in a macro of several lines ends the macro for the grammar.
_DEFINE = re.compile(rb"^[ \t]*+#[ \t]*+define\b(?:[^\\\n]++|\\(?:\r?\n|[^\n]))*+", re.MULTILINE)
_COMMENT_GOES_ON = re.compile(rb"\*/[ \t]*+\\\r?\n")
_COMMENT = re.compile(rb"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/")

_TYPE_WORDS = frozenset(
    b"void char short int long float double signed unsigned _Bool bool auto __int128 wchar_t size_t".split()
)
_TAG_WORDS = frozenset(b"struct union enum class".split())
#: Words that a declaration may hold besides its type and name, and that the grammars know.
_QUALIFIERS = frozenset(
    b"static extern inline const volatile register restrict constexpr consteval constinit virtual explicit friend"
    b" mutable thread_local typename __inline __inline__ __extension__ __restrict __restrict__ __volatile__ _Noreturn"
    b" _Atomic __attribute__ __attribute __declspec alignas _Alignas __asm__ asm noexcept __forceinline"
    b" __thread _Thread_local __cdecl __stdcall __fastcall __const".split()
)
_TYPE_CALLS = frozenset(b"typeof __typeof__ __typeof decltype typeof_unqual _BitInt".split())
#: A line that holds one of these is no declaration of a function or variable.
_STATEMENTS = frozenset(
    b"return else goto case new delete throw operator typedef using namespace if while for switch do sizeof"
    b" co_return co_await co_yield default template public private protected concept requires and or not try"
    b" catch import export".split()
)
#: Words after which a name with underscores is a type or a value.
_NOT_A_TYPE = (_TYPE_WORDS & frozenset(b"unsigned signed long short".split())) | _TAG_WORDS | _QUALIFIERS | _STATEMENTS
_NO_NAMES = _TYPE_WORDS | _TAG_WORDS | _QUALIFIERS | frozenset(b"override final".split())


def hide_macros(data: bytes) -> bytes:
    """Return source of C or C++ in which the macros that derail its grammar are blank."""
    if _COMMENT_GOES_ON.search(data):
        data = _DEFINE.sub(_without_comments, data)
    data = _LINE.sub(lambda match: _blank(match[0]), data)
    for pattern in (*_BEFORE_NAME, _AFTER_PARAMETERS):
        data = pattern.sub(lambda match: match[1] + _blank(match[2]), data)
    data = _HEAD.sub(_plain_head, data)
    return _QUALIFIER.sub(_without_qualifier, data)


def _blank(text: bytes) -> bytes:
    """Return as many blanks as a text has bytes; its line ends stay."""
    if b"\n" not in text:
        return b" " * len(text)
    return b"\n".join(b" " * len(line) for line in text.split(b"\n"))


def _without_comments(match: re.Match[bytes]) -> bytes:
    text = match[0]
    if b"/*" not in text or b"\n" not in text:
        return text
    return _COMMENT.sub(lambda comment: _blank(comment[0]) if b"\n" not in comment[0] else comment[0], text)


def _plain_head(match: re.Match[bytes]) -> bytes:
    """Blank what is neither the type nor the name in the words before a parameter list or an initial value."""
    text, items = match[0], list(_ITEM.finditer(match[1]))
    if match[2] in _NO_NAMES or match[2] in _STATEMENTS or not _STATEMENTS.isdisjoint(item[1] for item in items):
        return text
    macros, plain, typed = _sort_items(items)
    if typed:
        macros += plain
    elif not plain:
        return text
    elif len(plain) > 1:
        kept = next((item for item in reversed(plain) if not _reads_like_macro(item[1])), plain[0])
        macros += [item for item in plain if item is not kept]
    if not macros:
        return text
    is_function = match.string[match.end() : match.end() + 1] in (b"(", b":")
    first = match.start(1) - match.start()
    result = bytearray(text)
    for item in macros:
        if item[2] is not None and not is_function and not _reads_like_macro(item[1]):
            return text
        result[first + item.start() : first + item.end()] = _blank(item[0])
    return bytes(result)


def _sort_items(items: list[re.Match[bytes]]) -> tuple[list[re.Match[bytes]], list[re.Match[bytes]], bool]:
    """Return the words with arguments, those that may be macros or the type, and whether the type is known."""
    macros, plain, typed = list[re.Match[bytes]](), list[re.Match[bytes]](), False
    previous = b""
    for item in items:
        word = item[1]
        if previous in _TAG_WORDS and item[2] is None:
            previous = b"" if word.startswith(b"__") and len(items) > 2 else word
        elif word in _TYPE_WORDS or word in _TAG_WORDS or word in _TYPE_CALLS:
            typed = True
            previous = word
        elif word not in _QUALIFIERS:
            (macros if item[2] is not None else plain).append(item)
            previous = word
    return macros, plain, typed


def _reads_like_macro(word: bytes) -> bool:
    return word.startswith(b"__") or (len(word) > 2 and word.upper() == word)


def _without_qualifier(match: re.Match[bytes]) -> bytes:
    before = _LAST_WORD.search(match.string, max(0, match.start() - 80), match.start())
    word = before[1] if before else b""
    if not word or word.isdigit() or word in _NOT_A_TYPE:
        return match[0]
    return b" " * len(match[0])
