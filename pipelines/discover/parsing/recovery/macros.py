"""Macros of C and C++ that read like other syntax. In: source bytes. Out: the same with those macros blank.

A grammar does not know what a macro stands for. Most read like a call or a declaration and do no harm; some turn
what follows into something else, so they are hidden from the grammar. Offsets and lines stay what they are, and
everything but the grammar sees the text as it is written.

Nothing here knows the name of a macro. What tells one is the place: C has no two names side by side but a type and what
it declares, so whatever else stands before a name is a macro.
"""

from __future__ import annotations

import re

from pipelines.discover.parsing.source import blanked

#: Arguments in parentheses, two levels deep, without a semicolon, a brace or the end of a line.
_ARGUMENTS = rb"\([^()\r\n;{}]*+(?:\([^()\r\n;{}]*+(?:\([^()\r\n;{}]*+\)[^()\r\n;{}]*+)*+\)[^()\r\n;{}]*+)*+\)"
#: Where a line begins that does not go on with the directive of the line before.
_START = rb"\n(?<!\\\n)(?<!\\\r\n)"
#: A line that only invokes a macro: in capitals, from the first column, without a semicolon, before neither a body nor
#: the rest of an expression. The function after it would be taken for a part of it.
_LINE = re.compile(
    _START + rb"(?:static[ \t]+)?[A-Z_][A-Z0-9_]+[ \t]*\([^()\n;{}]*(?:\([^()\n;{}]*\)[^()\n;{}]*)*\)[ \t]*\r?$"
    rb"(?=\s*(?:[A-Za-z_#}/]|\Z))",
    re.MULTILINE,
)
#: A word in capitals that has a line for itself, as what opens and closes a construct of macros. It may be a type only
#: where a name with parameters follows.
_ALONE = re.compile(
    _START + rb"[A-Z_][A-Z0-9_]{2,}+[ \t]*+\r?$(?=\s*+[A-Za-z_#}/~\[])(?!\r?\n[ \t]*+[*&]*+[ \t]*+[~\w:]++[ \t]*+\()",
    re.MULTILINE,
)
#: What the line before ends with where such a word belongs to it.
_GOES_ON = b",|(=+-&?:\\<"
#: The macro in `class EXPORT Name {` and `struct __packed name {`, which would be taken for a function called Name.
_BEFORE_NAME = tuple(
    re.compile(
        rb"(" + word + rb"[ \t]++)((?:__[a-z]\w*+|[A-Z_][A-Z0-9_]++)(?:\([^()\n]*\))?)"
        rb"(?=[ \t\r\n]++[A-Za-z_]\w*+(?:[ \t]++final\b)?+[ \t\r\n]*+(?::[^:]|\{))"
    )
    for word in (b"class", b"struct", b"union", b"enum")
)
#: The macros in `void f() REQUIRES(lock) {` and `void f() __releases(lock) {`, which would be taken for another
#: function.
_AFTER_PARAMETERS = re.compile(
    rb"(\)[ \t\r\n]*+(?:(?:const|noexcept|override|final)[ \t\r\n]++){0,4})"
    rb"((?:(?:[A-Z_][A-Z0-9_]{3,}+|__(?!attribute)[a-z]\w*+)\b(?:[ \t]*+\([^()\r\n;{}]*+\))?[ \t\r\n]*+){1,4})"
    rb"(?=[\r\n]*+[ \t]*+(?:\{|:(?!:)))"
)
#: What stands between the start of a line and the name of a function or variable: words, at most twelve, some with
#: arguments. Several words are needed; a type and a name alone hold no macro.
_WORD = rb"[A-Za-z_]\w{0,80}+"
_PATH = (
    _WORD
    + rb"(?:::"
    + _WORD
    + rb")*+(?:[ \t]?<[^<>;(){}\r\n]{0,200}+(?:<[^<>;(){}\r\n]{0,80}+>[^<>;(){}\r\n]{0,80}+)*+>)?+"
)
_HEAD = re.compile(
    _START
    + rb"[ \t]*+((?:"
    + _PATH
    + rb"(?:[ \t]*+"
    + _ARGUMENTS
    + rb"(?=\s++[A-Za-z_]))?+(?:[ \t*&]++(?:\r?\n)?[ \t]*+|\r?\n[ \t]*+)){2,12})"
    + rb"(~?"
    + _WORD
    + rb"|\("
    + _WORD
    + rb"\))[ \t]*+(?=[(\[]|=(?!=)|::)",
    re.MULTILINE,
)
_ITEM = re.compile(rb"(" + _PATH + rb")(?:[ \t]*+(" + _ARGUMENTS + rb"))?+")
#: One macro between a type and a name, as in `char __user *text`: in parameters, fields and local variables.
_QUALIFIER = re.compile(rb"__[a-z]\w*+(?=[ \t*]++[\w*),;=])")
#: The same after a pointer, whatever its name: `Node* absl_nonnull next`.
_AFTER_POINTER = re.compile(rb"([\w>][*&][ \t])([A-Za-z_]\w*+)(?=[ \t]++[A-Za-z_])")
#: The same after a name: `Node* next GUARDED_BY(mutex)`.
_AFTER_NAME = re.compile(rb"(?<=\w )[A-Z_][A-Z0-9_]{5,}+(?:" + _ARGUMENTS + rb")?+(?=\s*+[,){;=])")
_NAME_BEFORE = re.compile(rb"[ \t]++(\w++)[ \t*&]++([\w>]++)")
#: The type of an enumeration without a name, which would be taken for one.
_ENUM_TYPE = re.compile(rb"(\benum[ \t]*+)(:[ \t]*+[\w: \t]++)(?=[\r\n]*+\{)")
#: Macros before a constructor or a conversion, which have no type: with one they would be fields.
_UNTYPED = re.compile(
    _START + rb"[ \t]*+(?:(?:constexpr|explicit|inline)[ \t]++)*+((?:[A-Z_][A-Z0-9_]{3,}+[ \t]++){1,4})"
    rb"((?:(?:constexpr|explicit|inline)[ \t]++)*+(?:operator[ \t]++[A-Za-z_:]|template[ \t]*+<|(" + _WORD + rb")\())",
    re.MULTILINE,
)
_CLASS = re.compile(rb"(?:class|struct)[ \t]++(?:[A-Z_][A-Z0-9_]++[ \t]++)?+(\w++)")
#: The word before a place, and the name before it with what stands before that, both read backwards.
_WORD_BEFORE = re.compile(rb"[ \t]++(\w++|\*)")
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
    b" mutable thread_local typename template __inline __inline__ __extension__ __restrict __restrict__ __volatile__"
    b" _Noreturn"
    b" _Atomic __attribute__ __attribute __declspec alignas _Alignas __asm__ asm noexcept __forceinline"
    b" __thread _Thread_local __cdecl __stdcall __fastcall __const".split()
)
_TYPE_CALLS = frozenset(b"typeof __typeof__ __typeof decltype typeof_unqual _BitInt".split())
#: A line that holds one of these is no declaration of a function or variable.
_STATEMENTS = frozenset(
    b"return else goto case new delete throw operator typedef using namespace if while for switch do sizeof"
    b" co_return co_await co_yield default public private protected concept requires and or not try"
    b" catch import export".split()
)
#: Words after which a name with underscores is a type or a value.
_NOT_A_TYPE = (_TYPE_WORDS & frozenset(b"unsigned signed long short".split())) | _TAG_WORDS | _QUALIFIERS | _STATEMENTS
_TYPES = _TYPE_WORDS | _TAG_WORDS | _TYPE_CALLS
_NO_NAMES = _TYPE_WORDS | _TAG_WORDS | _QUALIFIERS | frozenset(b"override final".split())
#: Bytes before a macro that are read for the `#` of a directive.
_MAX_DIRECTIVE_BYTES = 4_096
#: Bytes before a macro that are read for the type and the name there.
_READ_BEFORE = 80


def hide_macros(data: bytes, *, cplusplus: bool = False) -> bytes:
    """Return source of C or C++ in which the macros that derail its grammar are blank."""
    data = b"\n" + data  # so that every line begins with a line feed, which is found ten times as fast as its start
    if _COMMENT_GOES_ON.search(data):
        data = _DEFINE.sub(_without_comments, data)
    data = _LINE.sub(lambda match: blanked(match[0]), data)
    data = _ALONE.sub(_without_lone_word, data)
    for pattern in _BEFORE_NAME:
        data = pattern.sub(lambda match: match[1] + blanked(match[2]), data)
    data = _AFTER_PARAMETERS.sub(_without_attributes, data)
    data = _HEAD.sub(_plain_head, data)
    if cplusplus:
        data = _hide_in_classes(data)
    return _QUALIFIER.sub(_without_qualifier, data)[1:]


def _hide_in_classes(data: bytes) -> bytes:
    data = _AFTER_POINTER.sub(_without_pointer_macro, data)
    data = _AFTER_NAME.sub(_without_trailing_macro, data)
    data = _ENUM_TYPE.sub(lambda match: match[1] + blanked(match[2]), data)
    classes = set(_CLASS.findall(data))

    def without_type(match: re.Match[bytes]) -> bytes:
        if match[3] is not None and match[3] not in classes:
            return match[0]
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        return match[0][:start] + b" " * (end - start) + match[0][end:]

    return _UNTYPED.sub(without_type, data)


def _without_attributes(match: re.Match[bytes]) -> bytes:
    before = match.string[max(0, match.start() - _MAX_DIRECTIVE_BYTES) : match.start()]
    is_directive = before[before.rfind(b"\n") + 1 :].lstrip().startswith(b"#")
    return match[0] if is_directive else match[1] + blanked(match[2])


def _without_lone_word(match: re.Match[bytes]) -> bytes:
    before = match.string[max(0, match.start() - 200) : match.start()].rstrip()
    return match[0] if before and before[-1] in _GOES_ON else blanked(match[0])


def _without_comments(match: re.Match[bytes]) -> bytes:
    text = match[0]
    if b"/*" not in text or b"\n" not in text:
        return text
    return _COMMENT.sub(lambda comment: blanked(comment[0]) if b"\n" not in comment[0] else comment[0], text)


def _plain_head(match: re.Match[bytes]) -> bytes:
    """Blank what is neither the type nor the name in the words before a parameter list or an initial value."""
    text, items = match[0], list(_ITEM.finditer(match[1]))
    if match[2] in _NO_NAMES or match[2] in _STATEMENTS or not _STATEMENTS.isdisjoint(item[1] for item in items):
        return text
    macros, plain, typed = _sort_items(items)
    if typed or any(item[1] == b"explicit" for item in items):
        macros += plain
    elif not plain:
        return text
    elif len(plain) > 1:
        kept = _type_among(plain, match[1])
        macros += [item for item in plain if item is not kept]
    if not macros:
        return text
    is_function = match.string[match.end() : match.end() + 1] in (b"(", b":")
    first = match.start(1) - match.start()
    result = bytearray(text)
    for item in macros:
        if item[2] is not None and not is_function and not _reads_like_macro(item[1]):
            return text
        result[first + item.start() : first + item.end()] = blanked(item[0])
    return bytes(result)


def _sort_items(items: list[re.Match[bytes]]) -> tuple[list[re.Match[bytes]], list[re.Match[bytes]], bool]:
    """Return the words with arguments, those that may be macros or the type, and whether the type is known."""
    macros, plain, typed = list[re.Match[bytes]](), list[re.Match[bytes]](), False
    previous = b""
    for item in items:
        word = item[1].split(b"<")[0].rstrip()
        if previous in _TAG_WORDS and item[2] is None:
            previous = b"" if word.startswith(b"__") and len(items) > 2 else word
            continue
        previous = word
        if word in _QUALIFIERS:
            continue
        if word in _TYPES or b"::" in word or word != item[1]:
            typed = True
        else:
            (macros if item[2] is not None else plain).append(item)
    return macros, plain, typed


def _type_among(plain: list[re.Match[bytes]], text: bytes) -> re.Match[bytes]:
    """Return the word that is the type: what a pointer is made of, else the last that does not read like a macro."""
    for item in plain:
        if text[item.end() :].lstrip()[:1] in (b"*", b"&"):
            return item
    return next((item for item in reversed(plain) if not _reads_like_macro(item[1])), plain[0])


def _reads_like_macro(word: bytes) -> bool:
    return word.startswith(b"__") or (len(word) > 2 and word.upper() == word)


def _backwards(match: re.Match[bytes]) -> bytes:
    """Return what stands before a match, back to front, as far as a name and its type may reach."""
    return match.string[max(0, match.start() - _READ_BEFORE) : match.start()][::-1]


def _without_trailing_macro(match: re.Match[bytes]) -> bytes:
    before = _NAME_BEFORE.match(_backwards(match))
    if before is None or before[1][::-1] in _NO_NAMES or before[2][::-1] in _NOT_A_TYPE:
        return match[0]
    return blanked(match[0])


def _without_pointer_macro(match: re.Match[bytes]) -> bytes:
    return match[0] if match[2] in _NO_NAMES or match[2] in _STATEMENTS else match[1] + b" " * len(match[2])


def _without_qualifier(match: re.Match[bytes]) -> bytes:
    before = _WORD_BEFORE.match(_backwards(match))
    word = before[1][::-1] if before else b""
    if not word or word.isdigit() or word in _NOT_A_TYPE:
        return match[0]
    return b" " * len(match[0])
