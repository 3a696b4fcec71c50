"""What a query is taken for: terms to look up, keywords to compare, names it may mean. In: text. Out: Analysis.

The terms are those of `tokens`, as in the index. Common English words are left out where anything else remains: they
cost the longest postings and tell least.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipelines import tokens
from pipelines.errors import InputError
from pipelines.records import SymbolKind
from pipelines.retrieval.declarations import RESERVED
from pipelines.retrieval.inflection import other_forms
from pipelines.retrieval.phrases import Message, message_of
from pipelines.retrieval.places import NamedPlace, places_of

#: Words of questions about code that name nothing in it.
_COMMON = """
a an and any are as at be been being but by can could did do does doing for from had has have how i if in into is it its
may me my of on or our shall should so than that the their them then there these they this those to up was we were what
when where which who whom whose why will with would you your
"""
_STOP_WORDS = frozenset(_COMMON.split())
#: Words that ask for tests.
_TEST_WORDS = frozenset({"test", "tests", "testing", "tested", "spec", "specs", "fixture", "fixtures", "mock", "mocks"})
#: One that is not closed goes on to the end.
_PHRASE = re.compile(r'(?<!\S)"([^"]+)(?:"(?!\S)|\Z)')
_EXCLUDED = re.compile(r"(?<!\S)-(\w\S*)")
_SPACE = re.compile(r"\s+")
#: What separates the parts of a qualified name in some language or in a document.
_QUALIFIER = re.compile(r"::|->|[.#/\\:]+")
#: A name as one types it: word characters and qualifiers, maybe a call's brackets.
_NAME = re.compile(r"[\w$@~?!]+(?:(?:::|->|[.#/\\:])[\w$@~?!]+)*(?:\(\))?\Z")
#: A call inside a sentence, with its first arguments: `malloc(size)`.
_CALLED = re.compile(r"[\"'`(*&]*(\w[\w.:>#-]*)\(")
#: A receiver in brackets, as Go writes that of a method: (*Context).Next; and with its variable, where one is declared.
_RECEIVER = re.compile(r"(?<![\w)\]])\([*&]?(\w+(?:\.\w+)*)\)(?=\.|->|::)")
_METHOD_OF = re.compile(r"\Afunc\s*\(\s*(?:\w+\s+)?\*?(\w+)(?:\[[^\]]*\])?\s*\)\s*(?=\w)")
#: What may stand between a variable and its member.
_MEMBER_SIGN = re.compile(r"::|->|\.")
#: Names of files are told by these: what stands before the dot is no variable then.
_SUFFIXES = """
bash c cc cfg cjs conf cpp cs css csv cts cxx dart ex exs go gradle h hpp hs htm html ini ipynb java jl js json jsx kt
kts less lock lua md mdx mjs mts php pl proto py pyi rb rs rst scala scss sh sql svelte svg swift toml ts tsx txt vue
xml yaml yml zig
"""
_FILE_SUFFIXES = frozenset(_SUFFIXES.split())
#: What may stand before a call.
_CALLING = re.compile(r"\A(?:(?:await|defer|go|new|raise|return|throw|yield)\s+)+")
_TYPE_ARGUMENTS = re.compile(r"(?<=\w)<[^<>]*>\Z")
_AFTER_CALL = " \t\r\n;:,{"
#: Receivers that say nothing of what they are.
_SELVES = frozenset({"self", "this", "$this", "cls", "super"})
#: A name as settings, options and some languages write it: abort-index, --abort-index.
_KEBAB = re.compile(r"-*\w+(?:-\w+)+\Z")
#: What opens a definition in some language, and the kinds it may be. It is no part of the name: `class Gson`.
_TYPES = frozenset({"class", "interface", "struct", "trait", "enum", "type"})
_CALLABLES = frozenset({"function", "method"})
DECLARING: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("func", "fn", "fun", "def", "function", "method", "sub"), _CALLABLES),
    **{str(kind): frozenset({str(kind)}) for kind in SymbolKind if kind not in _CALLABLES},
    "type": _TYPES,
    "typedef": _TYPES,
    "record": frozenset({"class", "struct"}),
    "protocol": frozenset({"interface", "trait", "class"}),
    "#define": frozenset({"macro"}),
}
_MODIFIERS = """
abstract async const data default export extern final inline internal open override partial private protected pub public
sealed static unsafe virtual
"""
_MODIFIER_WORDS = frozenset(_MODIFIERS.split())
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
#: Fullest and shortest forms of a name with many parts that are looked up.
_ENDS_TRIED = 3
#: Phrases that keyword AND looks for.
_MAX_PHRASES = 16
#: Longest run of plain words that is tried as one name: "circuit breaker" -> CircuitBreaker, circuit_breaker.
_MAX_JOINED = 3
#: Words of a long query that are tried as names.
_MAX_NAME_WORDS = 24
#: In a query of more words than this no single plain word is tried as a name: "pick the smallest carton" is not about
#: a function called pick. Worth .02 MRR on the bundled judgments, nothing on the benchmark.
_MAX_WORDS_AS_NAMES = 2


@dataclass(frozen=True, slots=True)
class Analysis:
    """A query's parts.

    `whole` has the words and compounds as they are spelt, folded, without common ones; `forms` the keywords and their
    other forms; `name` the parts of the name that the whole query is, () if it is a sentence; `receiver` what stands
    before its last part where that may be a variable, "" elsewhere; `called` tells a call, whose arguments are no part
    of the name, and which makes no new object; `spellings` are folded names of the same words as its last part,
    abortindex and abort-index for abort_index; `declared` has the parts of the name behind a declaring keyword, and
    `kinds` what that declares; `message` its words as they are spelt; `joined` folded names that runs of its words may
    be written as, with whether the run is the whole query; `places` lines of files, which are no names.
    """

    text: str
    terms: Mapping[str, int]
    whole: tuple[str, ...]
    keywords: tuple[str, ...]
    forms: frozenset[str]
    name: tuple[str, ...]
    receiver: str
    called: bool
    spellings: tuple[str, ...]
    declared: tuple[str, ...]
    kinds: frozenset[str]
    mentioned: tuple[tuple[str, ...], ...]
    message: Message
    joined: Mapping[str, bool]
    places: tuple[NamedPlace, ...]
    wants_tests: bool

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """What the whole query may name, the fullest first: what stands before a member is mostly a variable.

        Of a chain of many parts the fullest and the shortest are tried.
        """
        starts = range(len(self.name) if self.receiver else len(self.name[:1]))
        tried = starts if len(starts) <= 2 * _ENDS_TRIED else (*starts[:_ENDS_TRIED], *starts[-_ENDS_TRIED:])
        return tuple(self.name[start:] for start in tried)


@dataclass(frozen=True, slots=True)
class Requirements:
    """What keyword AND asks of a row: terms that it holds, phrases that stand in its text, terms that it lacks."""

    terms: tuple[str, ...]
    phrases: tuple[str, ...]
    excluded: tuple[str, ...]


def analyse(text: str) -> Analysis:
    """Return the parts of a query."""
    terms = Counter(tokens.terms(text))
    telling = {term: count for term, count in terms.items() if term not in _STOP_WORDS}
    words = list(dict.fromkeys(tokens.words(text)))
    keywords = tuple(word for word in words if word not in _STOP_WORDS) or tuple(words)
    stripped = text.strip()
    places = places_of(stripped)
    name, receiver, called = ((), "", False) if places else _name_or_call(stripped)
    declared, kinds = _declaration(stripped)
    return Analysis(
        text=stripped,
        terms=telling or terms,
        whole=tuple(term for term in tokens.whole_terms(text) if term not in _STOP_WORDS),
        keywords=keywords,
        forms=frozenset(keywords).union(*(other_forms(word) for word in keywords)),
        name=name,
        receiver=receiver,
        called=called,
        spellings=_spellings(name[-1] if name else stripped),
        declared=declared,
        kinds=kinds,
        mentioned=() if name else tuple(_mentioned(stripped)),
        message=Message() if name else message_of(stripped, _STOP_WORDS),
        joined={} if name else _joined(stripped),
        places=places,
        wants_tests=any(word in _TEST_WORDS for word in words),
    )


def requirements(text: str) -> Requirements:
    """Return what keyword AND asks for.

    :raises InputError: if the query only excludes: no row would be wanted more than another; or has many phrases, since
        each is looked for in the texts themselves.
    """
    phrases = tuple(dict.fromkeys(_SPACE.sub(" ", phrase).strip() for phrase in _PHRASE.findall(text)))
    if len(phrases) > _MAX_PHRASES:
        raise InputError(f"the query has {len(phrases)} phrases", hint=f"at most {_MAX_PHRASES}")
    rest = _PHRASE.sub(" ", text)
    wanted = _EXCLUDED.sub(" ", rest)
    terms = tokens.whole_terms(" ".join([wanted, *phrases]))
    excluded = tokens.whole_terms(" ".join(_EXCLUDED.findall(rest)))
    if excluded and not terms:
        raise InputError("the query only excludes words", hint="keyword AND needs a word that must occur")
    return Requirements(tuple(terms), tuple(phrase for phrase in phrases if phrase), tuple(excluded))


def name_parts(text: str) -> tuple[str, ...]:
    """Return the parts of a possibly qualified name, outermost first; () if the text is not one name."""
    if not _NAME.match(text) or len(text) > 4 * tokens.MAX_WORD_CHARS:
        return ()
    return tuple(part for part in _QUALIFIER.split(text.removesuffix("()")) if part)


def bare_term(name: str) -> str:
    """Return the term under which the index has a name: folded, without the signs that some languages put around it."""
    return tokens.normalise(name).casefold().strip("$@~?!#:").removesuffix("()")


def _name_or_call(text: str) -> tuple[tuple[str, ...], str, bool]:
    """Return the parts of the name that a text is or calls, what may be a variable before it, and whether it calls."""
    plain = _RECEIVER.sub(r"\1", text).lstrip("*&")
    begun = _CALLING.match(plain)
    called, bracket, arguments = plain[begun.end() if begun else 0 :].partition("(")
    is_call = bool(bracket) and _are_arguments(arguments)
    spelt = _TYPE_ARGUMENTS.sub("", called.rpartition("/")[2]) if is_call else plain
    every = name_parts(spelt)
    parts = every if every[1:] or RESERVED.isdisjoint(every) else ()
    while len(parts) > 1 and parts[0] in _SELVES:
        parts = parts[1:]
    is_new = begun is not None and "new" in begun[0].split()
    return parts, every[-2] if _has_receiver(spelt, every, is_call) else "", bool(parts) and is_call and not is_new


def _has_receiver(spelt: str, parts: tuple[str, ...], is_call: bool) -> bool:
    """Tell whether what stands before the last of a name's parts may be a variable: that of a file's name is none."""
    if len(parts) < 2 or not _MEMBER_SIGN.search(spelt):
        return False
    is_path = any(sign in spelt for sign in "/\\#") or parts[-1] in _FILE_SUFFIXES or parts[-1].isdecimal()
    return is_call or "->" in spelt or not is_path


def _are_arguments(text: str) -> bool:
    """Tell whether all of a text stands inside the bracket that was opened before it, which may still be open."""
    depth = 1
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return not text[place + 1 :].strip(_AFTER_CALL)
    return True


def _spellings(word: str) -> tuple[str, ...]:
    """Return the folded names of the same words as a name: abortIndex and abort-index for abort_index."""
    if name_parts(word) != (word,) and not _KEBAB.match(word):
        return ()
    parts: list[str] = []
    for part in tokens.words(word):
        if parts and part.isdecimal():
            parts[-1] += part
        else:
            parts.append(part)
    found = dict.fromkeys(glue.join(parts) for glue in ("", "_", "-")) if len(parts) > 1 else {}
    return tuple(name for name in found if name != bare_term(word).lstrip("-"))


def _declaration(text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the parts of the name that a text declares, and the kinds it may be of; nothing if it declares nothing."""
    declaring = _METHOD_OF.sub(r"func \1.", text).partition("(")[0].rstrip(" {:;").split()
    while len(declaring) > 2 and declaring[0].casefold() in _MODIFIER_WORDS:
        declaring = declaring[1:]
    kinds = DECLARING.get(declaring[0].casefold(), frozenset()) if len(declaring) == 2 else frozenset()
    parts = name_parts(declaring[1]) if kinds else ()
    return (parts, kinds) if parts else ((), frozenset())


def _mentioned(text: str) -> Iterable[tuple[str, ...]]:
    """Yield the names among the words of a sentence: what has a capital inside, an underscore, a digit, a qualifier."""
    seen: set[tuple[str, ...]] = set()
    for word in _SPACE.split(text)[: 4 * _MAX_NAME_WORDS]:
        called = _CALLED.match(word)
        parts = name_parts(called[1] if called else word.strip("\"'`,;.:!?()[]{}<>"))
        if places_of(word):
            continue
        if not parts[1:] and not RESERVED.isdisjoint(parts):
            continue
        special = len(parts) > 1 or any("_" in part.strip("_") or _INNER_CAPITAL.search(part) for part in parts)
        if (special or called or word.startswith("`")) and parts and parts not in seen:
            seen.add(parts)
            yield parts
        if len(seen) == _MAX_NAME_WORDS:
            return


def _joined(text: str) -> dict[str, bool]:
    """Return the folded names that runs of words may be written as: "circuit breaker" -> circuitbreaker, .._.."""
    words = [word.casefold() for word in re.findall(r"\w+", tokens.normalise(text))]
    whole = tuple(words)
    words = words[:_MAX_NAME_WORDS]
    found: dict[str, bool] = {}
    for size in range(1 if len(words) <= _MAX_WORDS_AS_NAMES else 2, _MAX_JOINED + 1):
        for start in range(len(words) - size + 1):
            run = words[start : start + size]
            if run[0] in _STOP_WORDS or run[-1] in _STOP_WORDS:
                continue
            for glue in ("", "_") if size > 1 else ("",):
                name = glue.join(run)
                found[name] = found.get(name, False) or tuple(run) == whole
    return found
