"""What a name means where: one declarative row per language. In: a language. Out: its family and its rules.

Calls never bind across families, whatever the names: a family is the set of languages that can call each other's
definitions by name in source code.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipelines.tokens import split_identifier

#: Languages whose code is JavaScript or TypeScript, pages and components with scripts among them.
_SCRIPTS = ("javascript", "jsx", "typescript", "tsx", "astro", "html", "svelte", "vue")
_FAMILIES = {"cpp": "c", **dict.fromkeys(_SCRIPTS, "javascript")}


@dataclass(frozen=True, slots=True)
class CallRules:
    """How the calls of one language find their definitions."""

    self_words: frozenset[str] = frozenset()  # receivers that are the caller's own object or class
    implicit_self: bool = False  # f() may be a method of the caller's class
    split_types: bool = False  # the methods of one type may stand in several files
    constructor: str | None = None  # what X() runs for a class; "" = the method of its own name; None = X() calls none
    last_wins: bool = False  # a second definition of a name in one file replaces the first
    folder_is_package: bool = False  # files of one folder see each other's top-level names
    linked: bool = False  # every name that is not `static` is visible in every file
    builtins: frozenset[str] = frozenset()  # plain names that a program gets without defining or importing them


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_C = CallRules(
    self_words=_names("this"),
    implicit_self=True,
    split_types=True,
    folder_is_package=True,
    linked=True,
    builtins=_names("sizeof alignof offsetof typeof decltype defined __attribute__ static_assert _Static_assert"),
)
_JAVASCRIPT = CallRules(
    self_words=_names("this"),
    constructor="constructor",
    last_wins=True,
    builtins=_names(
        "Array ArrayBuffer BigInt Boolean Date Error EvalError Function Map Number Object Promise Proxy RangeError"
        " ReferenceError RegExp Set String Symbol SyntaxError TypeError URIError URL URLSearchParams WeakMap"
        " WeakRef WeakSet AbortController Blob FormData Headers Request Response alert clearInterval clearTimeout"
        " clearImmediate decodeURIComponent encodeURIComponent decodeURI encodeURI eval fetch import isFinite isNaN"
        " parseFloat parseInt queueMicrotask require requestAnimationFrame setImmediate setInterval setTimeout"
        " structuredClone super describe it test expect beforeEach afterEach beforeAll afterAll"
    ),
)
_RULES = {
    "python": CallRules(
        self_words=_names("self cls"),
        constructor="__init__",
        last_wins=True,
        builtins=_names(
            "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex"
            " delattr dict dir divmod enumerate eval exec filter float format frozenset getattr globals hasattr hash"
            " help hex id input int isinstance issubclass iter len list locals map max memoryview min next object oct"
            " open ord pow print property range repr reversed round set setattr slice sorted staticmethod str sum super"
            " tuple type vars zip __import__ BaseException Exception ArithmeticError AssertionError AttributeError"
            " EOFError FileExistsError FileNotFoundError ImportError IndexError KeyError KeyboardInterrupt LookupError"
            " MemoryError ModuleNotFoundError NameError NotImplementedError OSError OverflowError PermissionError"
            " RecursionError RuntimeError StopAsyncIteration StopIteration SyntaxError SystemExit TimeoutError"
            " TypeError UnicodeDecodeError UnicodeEncodeError UnicodeError ValueError ZeroDivisionError"
        ),
    ),
    **dict.fromkeys(_SCRIPTS, _JAVASCRIPT),
    "java": CallRules(
        self_words=_names("this"),
        implicit_self=True,
        constructor="",
        folder_is_package=True,
        builtins=_names("super"),
    ),
    "go": CallRules(
        split_types=True,
        folder_is_package=True,
        builtins=_names(
            "append cap clear close complex copy delete imag len make max min new panic print println real recover bool"
            " byte rune string error int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr float32 float64"
        ),
    ),
    "rust": CallRules(
        self_words=_names("self Self"),
        split_types=True,
        builtins=_names(
            "Some None Ok Err Box Vec String drop assert assert_eq assert_ne debug_assert debug_assert_eq dbg eprint"
            " eprintln format matches panic print println todo unimplemented unreachable vec write writeln"
        ),
    ),
    "c": _C,
    "cpp": replace(_C, constructor=""),
}
_OTHER = CallRules()

#: Shorter or single-word names (`get`, `load`, `describe`) are shared by unrelated code too often for the name alone.
_DISTINCTIVE_CHARS = 8
_DISTINCTIVE_PARTS = 2
#: Names of two words that standard libraries and test frameworks give to methods of everyday objects.
_BORROWED = _names(
    "toString valueOf hashCode compareTo forEach indexOf lastIndexOf charAt charCodeAt startsWith endsWith toLowerCase"
    " toUpperCase parseInt parseFloat hasOwnProperty addEventListener removeEventListener querySelector getElementById"
    " querySelectorAll createElement appendChild removeChild setAttribute getAttribute preventDefault stopPropagation"
    " getItem setItem removeItem getName getValue setValue getKey getClass isEmpty isPresent containsKey putIfAbsent"
    " computeIfAbsent getOrDefault addAll removeAll entrySet keySet orElse orElseThrow getMessage printStackTrace"
    " println flatMap findFirst readLine writeLine readFile writeFile readAll writeString readString unwrap_or"
    " unwrap_or_else unwrap_or_default ok_or ok_or_else and_then or_else map_err is_some is_none is_empty is_ok is_err"
    " as_str as_ref as_mut as_bytes to_string to_owned to_vec into_iter iter_mut push_back push_front pop_back"
    " pop_front emplace_back read_to_string write_all starts_with ends_with set_index read_text write_text"
    " read_bytes write_bytes is_file is_dir add_argument parse_args setdefault as_posix with_suffix"
)


def family_of(language: str) -> str:
    """Return the family of a language; one that is not listed is its own."""
    return _FAMILIES.get(language, language)


def rules_of(language: str) -> CallRules:
    """Return the rules of a language; one that is not listed binds within files, and by distinctive names."""
    return _RULES.get(language, _OTHER)


def is_distinctive(name: str) -> bool:
    """Tell whether a name may stand for a definition by itself: long, of several words, not in every library."""
    long = len(name) >= _DISTINCTIVE_CHARS and len(split_identifier(name)) >= _DISTINCTIVE_PARTS
    return long and name not in _BORROWED
