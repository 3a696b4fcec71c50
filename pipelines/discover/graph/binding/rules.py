"""What a name means where: one declarative row per language. In: a language. Out: its family and its rules.

Calls never bind across families, whatever the names: a family is the set of languages that can call each other's
definitions by name in source code.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipelines.tokens import split_identifier

#: Languages whose code is JavaScript or TypeScript, pages and components with scripts among them.
_SCRIPTS = ("javascript", "jsx", "typescript", "tsx", "astro", "html", "svelte", "vue")
_FAMILIES = {"cpp": "c", "jupyter": "python", **dict.fromkeys(_SCRIPTS, "javascript")}


@dataclass(frozen=True, slots=True)
class CallRules:
    """How the calls of one language find their definitions."""

    self_words: frozenset[str] = frozenset()  # receivers that are the caller's own object or class
    super_words: frozenset[str] = frozenset()  # receivers that are the own object as one of its base class
    implicit_self: bool = False  # f() may be a method of the caller's class
    split_types: bool = False  # the methods of one type may stand in several files
    constructor: str | None = None  # what X() runs for a class; "" = the method of its own name; None = X() calls none
    last_wins: bool = False  # a second definition of a name in one file replaces the first
    folder_is_package: bool = False  # files of one folder see each other's top-level names
    global_types: bool = False  # a class is visible in every file by its name alone
    exports_members: bool = False  # importers see what a file's modules hold: tables of Lua, modules of Elixir
    free_members: bool = False  # the same, and without naming the container: methods of a class of Haskell
    namespaced: bool = False  # qualified names hold the namespace: they mean the same in every file
    imports_types: bool = False  # a class of another file can only be named where it is imported
    properties: bool = False  # x.f without a call may run a method f
    linked: bool = False  # every name that is not `static` is visible in every file
    builtins: frozenset[str] = frozenset()  # plain names that a program gets without defining or importing them


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_C = CallRules(
    global_types=True,
    self_words=_names("this"),
    implicit_self=True,
    split_types=True,
    folder_is_package=True,
    linked=True,
    builtins=_names("sizeof alignof offsetof typeof decltype defined __attribute__ static_assert _Static_assert"),
)
_JAVASCRIPT = CallRules(
    self_words=_names("this"),
    super_words=_names("super"),
    imports_types=True,
    properties=True,
    constructor="constructor",
    last_wins=True,
    builtins=_names(
        "Array ArrayBuffer BigInt Boolean Date Error EvalError Function Map Number Object Promise Proxy RangeError"
        " ReferenceError RegExp Set String Symbol SyntaxError TypeError URIError URL URLSearchParams WeakMap"
        " WeakRef WeakSet AbortController Blob FormData Headers Request Response alert clearInterval clearTimeout"
        " clearImmediate decodeURIComponent encodeURIComponent decodeURI encodeURI eval fetch import isFinite isNaN"
        " parseFloat parseInt queueMicrotask require requestAnimationFrame setImmediate setInterval setTimeout"
        " structuredClone super console Math JSON Reflect Intl process globalThis window document navigator"
        " describe it test expect beforeEach afterEach beforeAll afterAll"
    ),
)
_RULES = {
    "python": CallRules(
        self_words=_names("self cls"),
        super_words=_names("super"),
        imports_types=True,
        properties=True,
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
        super_words=_names("super"),
        implicit_self=True,
        constructor="",
        folder_is_package=True,
        builtins=_names("super"),
    ),
    "go": CallRules(
        imports_types=True,
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
    "ruby": CallRules(
        self_words=_names("self self.class"),
        super_words=_names("super"),
        properties=True,
        implicit_self=True,
        split_types=True,
        constructor="initialize",
        global_types=True,
        builtins=_names(
            "Array Class Complex Float Hash Integer Module Object Rational String Struct Thread abort alias_method"
            " at_exit attr_accessor attr_reader attr_writer autoload binding block_given? caller catch define_method"
            " eval exit extend fail format gets include instance_variable_get instance_variable_set"
            " instance_variable_defined? lambda load loop open p pp prepend print printf proc putc puts raise rand"
            " refine require require_relative select send sleep sprintf srand super system throw trap undef_method"
            " using warn respond_to? is_a? kind_of? nil? freeze frozen? dup tap then method methods public_send"
            " instance_eval instance_exec class_eval module_eval before after around context describe it let let!"
            " subject expect specify is_expected be_nil eq raise_error shared_examples it_behaves_like assert"
            " assert_equal assert_nil assert_raises refute desc task namespace file"
        ),
    ),
    "lua": CallRules(
        self_words=_names("self"),
        last_wins=True,
        exports_members=True,
        builtins=_names(
            "assert collectgarbage dofile error getfenv getmetatable ipairs load loadfile loadstring module next pairs"
            " pcall print rawequal rawget rawlen rawset require select setfenv setmetatable tonumber tostring type"
            " unpack xpcall describe it before_each after_each setup teardown context pending finally spy stub mock"
        ),
    ),
    "shell": CallRules(
        last_wins=True,
        builtins=_names(
            "alias awk basename bg bind break builtin caller cat cd chmod chown command compgen complete continue"
            " cp curl cut date declare diff dirname dirs disown echo enable env eval exec exit export false fc fg"
            " find getopts git grep hash head help history jobs kill let ln local logout ls make mapfile mkdir"
            " mktemp mv popd printf pushd pwd read readarray readlink readonly return rm rmdir run sed set shift"
            " shopt sleep sort source ssh stat sudo suspend tail tar tee test time times touch tr trap true type"
            " typeset ulimit umask unalias uname uniq unset wait wc which xargs load skip"
        ),
    ),
    "haskell": CallRules(
        free_members=True,
        exports_members=True,
        builtins=_names(
            "abs all and any break ceiling compare concat concatMap const cos curry cycle div divMod drop dropWhile"
            " elem either error even exp filter flip floor fmap foldl foldl' foldr foldMap fromEnum fromInteger"
            " fromIntegral fst gcd getLine head id init interact ioError iterate last lcm length lines log lookup map"
            " mapM mapM_ mappend max maxBound maximum maybe mconcat mempty min minBound minimum mod negate not notElem"
            " null odd or otherwise pred print product properFraction pure putStr putStrLn quot quotRem read readFile"
            " realToFrac rem repeat replicate return reverse round scanl scanr seq sequence sequence_ show showString"
            " shows showsPrec snd span splitAt sqrt subtract succ sum tail take takeWhile toEnum toInteger traverse"
            " truncate uncurry undefined unlines until unwords unzip userError when words writeFile zip zip3 zipWith"
        ),
    ),
    "elixir": CallRules(
        self_words=_names("__MODULE__"),
        implicit_self=True,
        split_types=True,
        global_types=True,
        exports_members=True,
        builtins=_names(
            "abs and apply assert assert_raise assert_receive binary_part binding bit_size byte_size ceil dbg"
            " destructure div elem exit floor function_exported? get_and_update_in get_in hd if inspect is_atom"
            " is_binary is_bitstring is_boolean is_exception is_float is_function is_integer is_list is_map"
            " is_map_key is_nil is_number is_pid is_port is_reference is_struct is_tuple length macro_exported?"
            " make_ref map_size match? max min node not pop_in put_elem put_in raise refute rem reraise round self"
            " send sigil_r sigil_s sigil_w spawn spawn_link spawn_monitor struct struct! super tap then throw tl"
            " to_charlist to_string trunc tuple_size unless update_in var! setup setup_all on_exit describe test"
            " start_supervised!"
        ),
    ),
    "zig": CallRules(self_words=_names("self Self")),
    "csharp": CallRules(
        self_words=_names("this"),
        super_words=_names("base"),
        namespaced=True,
        implicit_self=True,
        split_types=True,
        constructor="",
        global_types=True,
        properties=True,
        builtins=_names("nameof base this"),
    ),
    "kotlin": CallRules(
        self_words=_names("this"),
        super_words=_names("super"),
        implicit_self=True,
        split_types=True,  # extension functions
        constructor="constructor",
        namespaced=True,
        builtins=_names(
            "println print require check error TODO lazy run with apply also let listOf mutableListOf mapOf"
            " mutableMapOf setOf mutableSetOf arrayOf emptyList emptyMap repeat"
        ),
    ),
    "scala": CallRules(
        self_words=_names("this"),
        super_words=_names("super"),
        implicit_self=True,
        constructor="this",
        namespaced=True,
        properties=True,
        builtins=_names("println print require assert Some List Seq Map Set Array Option Right Left Vector"),
    ),
    "swift": CallRules(
        self_words=_names("self Self"),
        super_words=_names("super"),
        implicit_self=True,
        split_types=True,
        constructor="init",
        global_types=True,
        properties=True,
        builtins=_names("print fatalError precondition assert min max abs zip stride type String Int Double Array Set"),
    ),
    "php": CallRules(
        self_words=_names("$this self static"),
        super_words=_names("parent"),
        constructor="__construct",
        global_types=True,
        namespaced=True,
        builtins=_names(
            "define isset empty unset array list echo print exit die count in_array is_array strlen sprintf implode"
            " explode array_map array_filter array_merge array_keys str_replace"
        ),
    ),
    "sql": CallRules(last_wins=True, linked=True),
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
    """Return the rules of a language or its family; without any, calls bind within files and by distinctive names."""
    return _RULES.get(language) or _RULES.get(family_of(language), _OTHER)


def is_distinctive(name: str) -> bool:
    """Tell whether a name may stand for a definition by itself: long, of several words, not in every library."""
    long = len(name) >= _DISTINCTIVE_CHARS and len(split_identifier(name)) >= _DISTINCTIVE_PARTS
    return long and name not in _BORROWED
