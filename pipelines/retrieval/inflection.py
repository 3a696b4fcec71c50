"""Forms of a word: "decorator" for "decorators", "parsing" for "parse". In: a folded word. Out: forms to look up too.

The index holds words as they are written, so that an exact word is exact; a query reaches the other forms by asking
for them. Forms that no text has cost one failed search each.
"""

from __future__ import annotations

import re
from functools import lru_cache

#: Shorter words have too few letters to tell an ending from the word: "ring", "used", "this".
_WORD = re.compile(r"[a-z]{4,32}\Z")
_MIN_BASE_CHARS = 3
#: Endings that are cut off, and what stands in their place in the base form.
_CUT = (
    *(("ies", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e")),
    *(("er", ""), ("er", "e"), ("ers", ""), ("ers", "e"), ("or", ""), ("or", "e"), ("ors", ""), ("ors", "e")),
    *(("ion", ""), ("ion", "e"), ("ation", ""), ("ation", "e"), ("ions", ""), ("ions", "e"), ("ations", "e")),
)
#: Endings that are added to a base form; those of a base that ends in e replace it.
_ADDED = ("", "s", "es", "ing", "ed", "er", "ers", "or", "ion", "ions")
_ADDED_TO_E = ("e", "es", "ing", "ed", "er", "ers", "or", "ion", "ions", "ation", "ations")
_ADDED_DOUBLED = ("ing", "er")


@lru_cache(maxsize=1 << 14)
def other_forms(word: str) -> tuple[str, ...]:
    """Return the forms that an English word may have besides its own, sorted; many of them are no words."""
    if not _WORD.match(word):
        return ()
    bases = {word}
    for ending, instead in _CUT:
        base = word.removesuffix(ending) + instead
        if word.endswith(ending) and len(base) >= _MIN_BASE_CHARS:
            bases.add(base)
    forms = {form for base in bases for form in _forms_of(base)}
    return tuple(sorted(forms - {word}))


def _forms_of(base: str) -> set[str]:
    if base.endswith("e"):
        return {base[:-1] + ending for ending in _ADDED_TO_E}
    forms = {base + ending for ending in _ADDED} | {base + base[-1] + ending for ending in _ADDED_DOUBLED}
    return forms | {f"{base[:-1]}ies"} if base.endswith("y") else forms
