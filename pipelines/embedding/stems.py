"""Features of a word: what the vocab encoder counts. In: a word of `pipelines.tokens.words`. Out: one or more features.

English endings are cut off lightly, so that "parses", "parsed", "parsing" and "parse" count as one; a word in a script
without spaces gives its letters and pairs, since a whole run of it is hardly ever seen twice.
"""

from __future__ import annotations

from functools import lru_cache

from pipelines.tokens import terms

#: Part of the vocab encoder's digest, and written into its table: both must have been made by equal rules.
STEMS_VERSION = 1
#: No ending is cut where fewer letters would stay: "sing", "red", "bus" are whole.
_MIN_STEM_CHARS = 3
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=1 << 17)
def features(word: str) -> tuple[str, ...]:
    """Return the features of a case-folded word."""
    return (_stem(word),) if word.isascii() else tuple(terms(word))


def _stem(word: str) -> str:
    """Cut plural, -ed, -ing and a last -e; numbers and short words stay."""
    stem = _without_plural(word)
    for ending in ("ing", "ed"):
        rest = stem.removesuffix(ending)
        if rest != stem and len(rest) >= _MIN_STEM_CHARS and not _VOWELS.isdisjoint(rest):
            stem = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
            break
    return stem[:-1] if stem.endswith("e") and len(stem) > _MIN_STEM_CHARS else stem


def _without_plural(word: str) -> str:
    if len(word) <= _MIN_STEM_CHARS or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _MIN_STEM_CHARS + 1:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word[:-1]
