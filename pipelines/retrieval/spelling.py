"""What was likely meant by words that stand nowhere in the index. In: a query's text. Out: known words in their place.

A word of which no text has any form is compared with all that differ from it by one letter: left out, added, changed,
or two exchanged. Each of these is looked up like any term, so no list of words is kept, and a word that is known costs
nothing. Among several the commonest is taken, the first in the alphabet of equals.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping

from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.inflection import other_forms
from pipelines.retrieval.lexical import WeightedTerms, count_documents
from pipelines.tokens import find_words, normalise, split_identifier

#: Shorter words differ from too many others by one letter; longer ones are data.
_MIN_CHARS, _MAX_CHARS = 5, 32
#: A longer text says enough with the words that are known, and of one that was pasted each word is meant as it is.
_MAX_WORDS = 16
#: Words that are corrected: some two thousand terms are looked up for each.
_MAX_CORRECTED = 4
_LETTERS = string.ascii_lowercase + string.digits
_WORD = re.compile(r"\w+")


def corrections(
    corpus: Corpus, text: str, asked: Mapping[str, int], known: WeightedTerms, is_word: Callable[[str], bool]
) -> dict[str, str]:
    """Return the words of a text that stand nowhere, with what was likely meant by each.

    :param asked: the terms that the text is looked up by. :param known: those that occur, with their other forms.
    :param is_word: tells words that are meant as they are written, wherever they stand.
    """
    words = list(dict.fromkeys(find_words(text)))
    if len(words) > _MAX_WORDS:
        return {}
    held = frozenset(known.terms)

    def is_unknown(word: str) -> bool:
        return word in asked and held.isdisjoint((word, *other_forms(word))) and not is_word(word)

    found: dict[str, str] = {}
    for word in words:
        if is_unknown(word.casefold()) and len(found) < _MAX_CORRECTED:
            parts = split_identifier(word)
            meant = _nearest(corpus, word.casefold())
            if meant is None and len(parts) > 1:
                nearest = [(_nearest(corpus, part) if is_unknown(part) else None) or part for part in parts]
                meant = " ".join(nearest) if tuple(nearest) != parts else None
            if meant is not None:
                found[word] = meant
    return found


def corrected(text: str, found: Mapping[str, str]) -> str:
    """Return a text with the words in the place of those that they stand for."""
    return _WORD.sub(lambda match: found.get(match[0], match[0]), normalise(text))


def _nearest(corpus: Corpus, word: str) -> str | None:
    if not _MIN_CHARS <= len(word) <= _MAX_CHARS or not word.isascii() or word.isdecimal():
        return None
    near = sorted({other for other in _one_letter_away(word) if _letters(other) != _letters(word)})
    counts = count_documents(corpus, near)
    best = int(counts.argmax())
    return near[best] if counts[best] else None


def _letters(word: str) -> str:
    """Return a word without underscores: another spelling of a name is no other word."""
    return word.replace("_", "")


def _one_letter_away(word: str) -> Iterator[str]:
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        yield from (before + letter + after for letter in _LETTERS)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in _LETTERS)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
