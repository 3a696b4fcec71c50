"""Which line of a chunk declares a name: a field, an enum member, a short constant. In: text, a name. Out: a place.

Such names have no chunk of their own. They are found through the words of the index and told from mere mentions by what
stands around them on their line, which is much the same in all languages: nothing but modifiers and a type before them,
and `=`, `:`, `;` or `,` after them. No text is read that does not hold the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipelines.records import ChunkKind

#: How sure a line declares a name: a member of a type or a constant; a line that looks like one where there may be
#: others; a local variable, or the key of an object inside a function.
SURE, LIKELY, LOCAL = 3, 2, 1
#: Lines of a chunk that are looked at: its own text is bounded, and so is a name that stands on each of its lines.
_MAX_PLACES = 32
_MAX_LINE_CHARS = 400
#: Keywords before a name, the last ones, that may open its declaration.
_MAX_OPENINGS = 8
#: Lines above another that may declare what it is a part of, and words of such a line that may be the name.
_MAX_LINES_ABOVE, _MAX_WORDS_DECLARING = 60, 8

_TYPES = frozenset({ChunkKind.CLASS, ChunkKind.INTERFACE, ChunkKind.STRUCT, ChunkKind.TRAIT, ChunkKind.TYPE})
_CALLABLES = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD, ChunkKind.MACRO})
#: Languages where a type stands before the name, and where it stands behind, without a sign between.
_TYPE_FIRST = frozenset({"c", "cpp", "csharp", "java", "php", "scala", "cuda", "objc"})
_TYPE_LAST = frozenset({"go", "sql"})
_SYMBOLS = frozenset({"ruby", "elixir"})
#: Languages where a bar stands before each constructor of a type; elsewhere it stands between names of types or flags.
_BARRED = frozenset({"haskell"})

#: What opens a declaration, whatever follows the name.
_OPENING = """
#define const let var val final static readonly constexpr constinit type typedef typealias alias associatedtype
newtype data record field property public private protected internal pub export declare local my our lazy extern
external attr_accessor attr_reader attr_writer cattr_accessor mattr_accessor thread_mattr_accessor class_attribute
define set setenv mut volatile mutable override open abstract global case event enum union opaque lateinit
"""
_KEYWORDS = frozenset(_OPENING.split())
#: A keyword opens a declaration only where something follows that can be declared: many are words like any other.
_OPENS = re.compile(
    rf"(?<![\w.$-])(?:{'|'.join(map(re.escape, _OPENING.split()))})(?=\s+[^\s=.,)|+]|\s*\Z)"
    r"|(?<![\w.$-])(?:(?:pub|private|protected|internal)(?=\([\w\s]*\)\s)|(?:set|define)(?=\())"
)
#: What may stand before the keyword, back to the line's begin or a separator: modifiers.
_BEFORE_OPENING = re.compile(r"(?:.*[(,{;\]>])?[\w\s$!@-]*\Z")
#: What ends a declared name before its line does: parameters, behind which stands what is returned or thrown; a type.
_PARAMETERS = re.compile(r"[\w>]\s?\([^()]*\)|[=-]>")
_TYPE_GIVEN = re.compile(r"\w\s*+[?!]?:(?![:\w])")
#: A keyword of these makes a member of what stands inside the head of a function: a property of a constructor.
_MEMBER_KEYWORDS = frozenset({"public", "private", "protected", "internal", "readonly", "pub"})
#: What makes a line one that uses names.
_USING = """
return if while for switch import from use using include require new throw raise goto delete not and or in is await
yield else elif elsif unless until assert echo print do then match when with case_of package namespace extends
implements instanceof throws typeof undef
"""
_REFUSING = frozenset(_USING.split())
#: Words of languages which name nothing by themselves; others, as type and default, are names elsewhere.
_KEYWORDS_ALONE = """
break case catch class const continue def do elif else enum extends finally fn for func function if implements import
interface let package private protected public return static struct switch throw throws try var void while
"""
RESERVED = frozenset(_KEYWORDS_ALONE.split())
_WORDS = re.compile(r"#?[\w$]+")
_COMMENT = re.compile(r"\s*(?://|#(?!define\b|\[|\w*$)|/?\*(?=\s|\*|$)|--(?=\s|\[)|;|%|\"\"\"|<!--)")
_ASSIGNED = re.compile(r"\s*+(?::\s*+[^:=].*)?(?::=|\|\|=|\?=|=(?![=>~]))")
_TYPED = re.compile(r"\s*[?!]?:(?![:=])")
_ENDED = re.compile(r"\s*(?:[,;}|)]|$)")
_ALIASED = re.compile(r"\s*=>")
_TARGETS = re.compile(r"\s*(?:,\s*\w+\s*)+=(?!=)")
_AFTER_TYPE = re.compile(r"\s*(?:=(?![=>])|[;,{)]|\[(?!\s*\]\s*\w)|:(?!:)|$)")
_TYPE_BEFORE = re.compile(r"\s*[\w$][\w$\s:<>,*&?.\[\]]*[\s*&>\]?]")
_POINTER_BEFORE = re.compile(r"[\w\s*:<>]+\(\s*[*^]\s*")
_OWN = re.compile(r"\s*(?:self|this|@|exports|module\.exports|cls|[A-Z]\w*)(?:\.|->)?\Z")
_ANNOTATION = re.compile(r"(?<!\w)@\w+(?:\([^()]*\))?\s+")
_TAKEN_APART = re.compile(r"\s*(?:export\s+)?(?:const|let|var|val)\s*[{\[(][\w\s,:]*")
_ALTERNATIVE = re.compile(r"\s*(?:(?:data|newtype)\b.*)?[|=]\s*\Z")
_ENUM_BEFORE = re.compile(r"[\w\s,=<>|+x()']*\Z")
#: What may stand before a bracket that declarations stand in: one of a group, and the head of a type.
_GROUPS = frozenset({"const", "var", "type", "import"})
_HEADS = frozenset({"class", "record", "struct", "trait", "interface", "enum", "object", "table"})


class Declaration(NamedTuple):
    """The place of a declared name in a text: the line, from 0, and how sure it is."""

    line: int
    strength: int


def find_declaration(text: str, name: str, kind: str, language: str, *, fold: bool = False) -> Declaration | None:
    """Return the first of the surest places where a text declares a name.

    :param kind: what the text shows, as in the index. :param fold: take the name in any case.
    """
    bare = name.lstrip("$@#:").rstrip("?!()") or name
    best: Declaration | None = None
    for count, start in enumerate(word_places(text, bare, fold=fold)):
        begin, after = text.rfind("\n", 0, start) + 1, start + len(bare)
        end = text.find("\n", after)
        end = end if end >= 0 else len(text)
        if end - begin - len(bare) <= _MAX_LINE_CHARS:
            strength = _strength(text[begin:start], text[after:end], kind, language)
            if strength > LOCAL and _is_argument(text, begin, start):
                strength = LOCAL
            if strength and (best is None or strength > best.strength):
                best = Declaration(text.count("\n", 0, begin), strength)
        if count == _MAX_PLACES or (best is not None and best.strength == SURE):
            break
    return best


def declared_around(lines: Sequence[str], line: int, kind: str, language: str) -> str:
    """Return the name that a line declares, or the one that it stands inside of by its indentation; "" if none does."""
    margin = _MAX_LINE_CHARS
    for text in reversed(lines[max(0, line - _MAX_LINES_ABOVE) : line + 1]):
        indented = len(text) - len(text.lstrip())
        if not text.strip() or indented >= margin:
            continue
        margin = indented
        places = list(_WORDS.finditer(text[:_MAX_LINE_CHARS]))[:_MAX_WORDS_DECLARING]
        names = [place[0] for place in places if text[: place.start()][-1:] != ":"]  # markup has such words
        found = [
            (find_declaration(text, name, kind, language), name)
            for name in names
            if not name.isdecimal() and name not in RESERVED
        ]
        sure = [(place.strength, name) for place, name in found if place is not None and place.strength > LOCAL]
        if sure:
            return max(sure, key=lambda item: item[0])[1]
        if not margin:
            break
    return ""


def holds_word(text: str, name: str) -> bool:
    """Tell whether a name stands in a text as a word of its own, as it is spelt."""
    return next(word_places(text, name), None) is not None


def word_places(text: str, name: str, *, fold: bool = False) -> Iterator[int]:
    """Yield where a name stands as a word of its own; a search for plain text is ten times as fast as a pattern."""
    lowered = text.lower() if fold else text
    wanted = name.lower() if fold else name
    if len(lowered) != len(text) or len(wanted) != len(name):  # a letter whose small form is longer: places would shift
        lowered, wanted = text, name
    start = lowered.find(wanted)
    while start >= 0:
        around = lowered[start - 1 : start] + lowered[start + len(wanted) : start + len(wanted) + 1]
        if not any(letter.isalnum() or letter == "_" for letter in around):
            yield start
        start = lowered.find(wanted, start + len(wanted))


def _is_argument(text: str, begin: int, start: int) -> bool:
    """Tell whether a name that is first on its line is inside the brackets of a call, which a line above opens.

    Such a line is indented less. What is passed under a name, or taken, is declared elsewhere.
    """
    before = text[begin:start]
    margin = len(before) - len(before.lstrip())
    if not margin or not _KEYWORDS.isdisjoint(_WORDS.findall(before)):
        return False
    for line in reversed(text[:begin].rsplit("\n", _MAX_LINES_ABOVE)[-_MAX_LINES_ABOVE:]):
        if line.strip() and len(line) - len(line.lstrip()) < margin and not _COMMENT.match(line):
            line = line[:_MAX_LINE_CHARS]
            head = line.partition("(")[0].casefold().split()
            declares = not _HEADS.isdisjoint(head) or (len(head) == 1 and head[0] in _GROUPS)
            return _last_open(line) == "(" and not declares
    return False


def _last_open(line: str) -> str:
    """Return the last bracket that a line opens and does not close, "" if there is none."""
    opened: list[str] = []
    for letter in line:
        if letter in "([{":
            opened.append(letter)
        elif letter in ")]}" and opened:
            opened.pop()
    return opened[-1] if opened else ""


def _strength(before: str, after: str, kind: str, language: str) -> int:
    """Return how sure a line declares the name between `before` and `after`; 0 if it does not."""
    if _COMMENT.match(before):
        return 0
    if before.endswith(("'", '"', "`")) and after[:1] == before[-1]:
        return _key(before[:-1], after[1:], kind)
    if _quoted(before):
        return 0
    barred = language in _BARRED and kind not in _CALLABLES
    if kind == ChunkKind.ENUM or (barred and (kind in _TYPES or _ALTERNATIVE.match(before))):
        found = _member(before, after)
        if found:
            return found
    if _TAKEN_APART.fullmatch(before):
        return LOCAL if kind in _CALLABLES else LIKELY
    opened = _opened(before) if kind in _TYPES or kind == ChunkKind.MODULE else before
    return _after_head(_ANNOTATION.sub("", opened), after, kind, language)


def _after_head(head: str, after: str, kind: str, language: str) -> int:
    """Return how sure what stands before a name on its line is the head of a declaration."""
    words = _WORDS.findall(head)
    if not _REFUSING.isdisjoint(words):
        return 0
    if head.strip() and _OWN.match(head):
        assigned = _ASSIGNED.match(after) or _TYPED.match(after)
        return LOCAL if assigned else _attribute(head, after, language)
    stripped = head.rstrip()
    if stripped.endswith((".", "->", "::", "\\")) and not stripped.endswith("..."):
        return 0
    most = LOCAL if kind in _CALLABLES else SURE
    if not words:
        return min(most, _bare(head, after, kind, language))
    keyword = "" if _KEYWORDS.isdisjoint(words) else _opening(head)
    if keyword and _declared(head, after, language):
        return SURE if keyword in _MEMBER_KEYWORDS else most
    return min(most, _typed(head, after, kind, language))


def _typed(head: str, after: str, kind: str, language: str) -> int:
    """Return how sure a name behind a type, or behind what looks like one, is declared."""
    if language in _SYMBOLS and head.endswith(":") and "(" not in head:
        return LIKELY
    plain = _TYPE_BEFORE.fullmatch(head) and _AFTER_TYPE.match(after)
    pointer = _POINTER_BEFORE.fullmatch(head) and after.startswith(")")
    if language in _TYPE_FIRST and (plain or pointer):
        return SURE if kind in _TYPES else LIKELY
    return 0


def _quoted(before: str) -> bool:
    """Tell whether what follows stands inside a text."""
    return any(before.count(quote) % 2 for quote in ('"', "`")) or (before.count("'") % 2 == 1 and '"' not in before)


def _key(before: str, after: str, kind: str) -> int:
    if before.strip(" \t{,[(") or not (_TYPED.match(after) or _ALIASED.match(after)):
        return 0
    return LOCAL if kind in _CALLABLES else LIKELY


def _attribute(head: str, after: str, language: str) -> int:
    """Elixir: @name value."""
    return SURE if language == "elixir" and head.strip() == "@" and re.match(r"\s+\S", after) else 0


def _member(before: str, after: str) -> int:
    """Return how sure a line of an enumeration, or of the alternatives of a type, is one of its members."""
    if _ALTERNATIVE.match(before):
        return SURE
    head = _opened(before)
    words = _WORDS.findall(head)
    if not _REFUSING.isdisjoint(words) or not _ENUM_BEFORE.match(head):
        return 0
    last = head.rpartition(",")[2].strip()
    plain = last in ("", "case", "indirect case")
    return SURE if plain and re.match(r"\s*(?:[,;=({}:)]|::|//|/\*|#|--|$)", after) and "==" not in after[:4] else 0


def _bare(head: str, after: str, kind: str, language: str) -> int:
    """Return how sure a line that begins with the name declares it."""
    if head.strip(" \t-*$#@'\"{,&:~"):
        return 0
    if language == "haskell" and re.match(r"\s*(?:,[\w\s,']*)?::", after):
        return SURE
    if _ASSIGNED.match(after):
        return SURE
    if _TYPED.match(after):
        return SURE if kind in _TYPES else LIKELY  # outside a type it may as well be the key of an object
    if _ALIASED.match(after) or _TARGETS.match(after):
        return LIKELY
    if language in _TYPE_LAST and re.match(r"(?:\s*,\s*\w+)*\s+[\w*\[\]]|\s*$|\(", after):
        return SURE if kind in _TYPES else LIKELY
    if kind in _TYPES and re.match(r"\s*[(<]", after) and language not in ("python", "ruby"):
        return LIKELY
    if language in ("c", "cpp") and kind == ChunkKind.MODULE and _ENDED.match(after):
        return LIKELY
    return 0


def _opening(head: str) -> str:
    """Return the last keyword that opens a declaration before a name, "" if it declares another one."""
    for match in reversed(list(_OPENS.finditer(head))[-_MAX_OPENINGS:]):
        behind = head[match.end() :]
        within = behind.count("<") > behind.count(">") or behind.count(")") > behind.count("(")
        if within or _is_passed(behind):
            return ""
        if _BEFORE_OPENING.match(head[: match.start()]):
            return match[0]
    return ""


def _is_passed(behind: str) -> bool:
    """Tell whether a declared name ends in what stands behind its keyword."""
    if _PARAMETERS.search(behind):
        return True
    return not behind.rstrip().endswith(",") and _TYPE_GIVEN.search(behind) is not None


def _opened(before: str) -> str:
    """Return what stands behind the last block or statement that begins or ends on a line."""
    return before[max(before.rfind("{"), before.rfind(";")) + 1 :]


def _declared(head: str, after: str, language: str) -> bool:
    """Tell whether a name behind a keyword is the one that is declared, and not its type."""
    if head.count("(") > head.count(")") and not head.rstrip().endswith(
        ("val", "var", "readonly", "private", "public")
    ):
        return head.lstrip().startswith(("attr_", "define(")) or head.strip() in ("(", "set(")
    if "=" in head.replace("==", "").replace("=>", "") and not head.rstrip().endswith(","):
        return False
    if language in _TYPE_LAST and re.match(r"\s+[\w*\[(]", after):
        return True
    if head.lstrip().startswith("#define"):
        return head.strip() == "#define"
    return _AFTER_TYPE.match(after) is not None or _ASSIGNED.match(after) is not None or _TYPED.match(after) is not None
