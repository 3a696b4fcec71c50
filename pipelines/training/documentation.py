r"""What a documentation says of its definition. In: comments as discover reads them. Out: plain sentences, or "".

Read is what stands before the tags, sections and examples of the common dialects: Javadoc, JSDoc, Doxygen, reST, NumPy
and Google docstrings, rustdoc, YARD, Haddock, XML comments, the lists of Swift. Where a text begins with a tag, those
that say what a definition is (`\brief`, `@return`) give the sentence, and what is said of parameters and authors is
passed over.
"""

from __future__ import annotations

import re

from pipelines.tokens import words

#: Characters that are kept; an encoder reads no more of a field.
MAX_DOC_CHARS = 600
#: Words of a documentation that says something: fewer repeat the name ("Returns foo.").
MIN_DOC_WORDS = 3
#: A tag, its colon and its type; not code between two signs, as in Haddock.
_TAG = re.compile(r"[@\\](\w+)(?![^\n@]*\w?@(?:\W|$))[:.]?[ \t]*(?:\{[^{}]{0,120}\})?[ \t]*")
_RESULTS = frozenset({"return", "returns", "result"})
#: Tags whose own text says what the definition is; a result is told as a sentence.
_SAYING = _RESULTS | {"brief", "summary", "short", "description", "desc", "details"}
#: Tags inside a sentence: of type faces and of links.
_INLINE = frozenset({"a", "b", "c", "e", "em", "p", "ref", "link", "code", "literal"})
_ALONE_NAMES = """
abstract addtogroup async class cond const constructor constructs defgroup deprecated endcond endif export file final fn
func function hideconstructor if ignore ingroup inherited inheritdoc inheritDoc interface internal kind lends memberof
memberOf method methodOf module name namespace nodoc noinspection override package private protected public readonly
static struct suppress title union virtual author authors since version date
"""
#: Tags that stand alone in their line: what follows is the documentation itself.
_ALONE = frozenset(_ALONE_NAMES.split())
_SECTION_NAMES = (
    "Args|Arguments|Parameters?|Params|Raises|Yields|Examples?|Notes?|See also|Usage|Attributes|Errors|Panics|Safety|"
    "Keyword Args|Throws"
)
_SECTION = re.compile(rf"(?:{_SECTION_NAMES})(?:[ \w]{{0,20}}:)?$")
_RESULT_SECTION = re.compile(r"(?:Returns?|Return value)(?:[ \w]{0,20}:)?$")
#: A field of reST, which is no role of it (":class:`Cart`"); a list of Swift; XML elements; rules, headings and code.
_TAIL = re.compile(
    r":\w+(?: [^:`\n]{1,60})?:(?!`)|- (?:Parameters?|Returns|Throws|Note|Complexity)\b|[-=~#*]{3,}|>>>|```|#{1,6}\s|"
    r"<pre|<(?:param|typeparam|returns|exception|example|seealso)\b|<code>$|\.\. [\w-]+::",
    re.IGNORECASE,
)
_RULE = re.compile(r"[-=~]{3,}$")
#: What colleagues tell each other.
_ASIDE = re.compile(r"(?:TODO|FIXME|XXX|HACK)\b|todo:")
#: Lines that speak to tools, a name alone that a text is headed by, and paragraphs without text.
_NOISE = re.compile(
    r"(?:eslint-|istanbul |c8 |v8 |prettier-|biome-|pylint:|noqa\b|type: ?ignore|mypy:|nolint\b|clang-format|rubocop:|"
    r":nodoc:|go:\w|call-seq:)|[\w-]{1,80}:(?: \([\w-]{1,40}\))?$|</?p>$|\$\w+$",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"<(?:paramref|typeparamref|see)\s+\w+=\"([^\"<>]{0,120})\"\s*/>|</?\w[^<>]{0,80}>|"
    r"\{@\w+(?:\s+([^{}]{0,120}))?\}|:\w+:(?=`)|[@\\](?:brief|ref|link|em|[abcep])\s|[`*@]"
)
_FULL_STOP = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<!\.\.)[.!?](?=\s|$)", re.IGNORECASE)
_PLAIN_WORD = re.compile(r"(?<!\S)[A-Za-z]+[,.;:]?(?!\S)")


def plain_doc(doc: str, name: str = "") -> str:
    """Return what a documentation says before its tags, sections and examples; "" if that is too little.

    :param name: the name of the definition; that it begins with the name ("Total adds up ...") says nothing.
    """
    text = " ".join(_told(doc[: 4 * MAX_DOC_CHARS].split("\n")))
    text = " ".join(_MARKUP.sub(lambda match: match[1] or match[2] or " ", text).split())[:MAX_DOC_CHARS]
    bare = _without_name(text, name)
    return next((said for said in (bare, text) if sum(1 for _ in words(said)) >= MIN_DOC_WORDS), "")


def first_sentence(doc: str) -> str:
    """Return a documentation up to its first full stop, which is none of an abbreviation or an ellipsis."""
    end = _FULL_STOP.search(doc)
    return doc[: end.end()] if end else doc


def _without_name(text: str, name: str) -> str:
    after = text.removeprefix(name).removeprefix("()") if name and text.startswith(name) else text
    rest = after.lstrip(" :-")
    return rest if rest != after and rest[:1].isalnum() else text


def _told(lines: list[str]) -> list[str]:
    """Return the lines that say what a definition is."""
    told: list[str] = []
    passing = False  # what a tag or a section says that is not about the definition
    for place, line in enumerate(map(str.strip, lines)):
        follows = lines[place + 1].strip() if place + 1 < len(lines) else ""
        if not _ends(line, follows):
            if not passing and not _NOISE.match(line):
                told.append(line)
            continue
        if told or (_TAIL.match(line) and not _RULE.match(line)):
            break
        tag = _TAG.match(line)
        if tag:
            told += _said(tag[1], line[tag.end() :])
            passing = tag[1] not in _SAYING | _ALONE and not tag[0].rstrip().endswith(":")
        elif not _RULE.match(line):
            passing = not _RESULT_SECTION.match(line)
    return told


def _ends(line: str, follows: str) -> bool:
    """Tell whether a line ends what was told before it: a tag, a section, an aside, or other matter."""
    tag = _TAG.match(line)
    if tag and tag[1] not in _INLINE:
        return True
    if _SECTION.match(line) or _RESULT_SECTION.match(line):  # told by its colon, or by the rule below it
        return line.endswith(":") or _RULE.match(follows) is not None
    return _TAIL.match(line) is not None or _ASIDE.match(line) is not None


def _said(tag: str, rest: str) -> list[str]:
    """Return the text of a tag that says what a definition is; that of a result only if it is more than a type."""
    if tag in _RESULTS:
        return [f"Returns {rest}"] if len(_PLAIN_WORD.findall(rest)) >= MIN_DOC_WORDS else []
    return [rest] if rest and tag in _SAYING else []
