"""A message that was pasted, in the code that writes it. In: a query's text, rows. Out: how much of it each row holds.

What a message tells about, a path or a number, is a placeholder in the code, and the code may spread the rest over
several strings and lines. So only words are compared: runs of them that both have, in the same order, with a few other
words between the runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.fusion import Values
from pipelines.retrieval.rows import Rows

#: Fewer words are no message; of a longer text the beginning is compared.
_MIN_WORDS, _MAX_WORDS = 3, 64
#: Weight of the commonest words: "is set to" stands anywhere.
_COMMON_WEIGHT = 0.5
#: Pairs of neighbouring words by which the rows that may hold a message are told, at even distances in a long one, and
#: the rows that are then compared word by word.
_MAX_PAIRS, _MAX_COMPARED = 24, 12
#: Other words that may stand between two runs in a text: placeholders, names of variables; and in the message: values.
_TEXT_GAP, _MESSAGE_GAP = 3, 12
#: What each of the former takes away: the fewer, the likelier one message has both runs.
_GAP_COST = 0.2
#: Of a text that is compared, and places of a message where one word of it may stand.
_MAX_CHARS, _MAX_REPEATS = 32_768, 4
#: Held words that are chance, and those beyond them that are as good as any more.
_CHANCE, _ENOUGH = 2, 2.5
#: Shares of a message between which a row passes from one that has a few of its words to what likely writes it.
_SOME, _MOST = 0.5, 0.8
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
#: What the code does not have as it is told: numbers, paths, settings.
_VALUE = re.compile(r"[\d/\\=@]")


@dataclass(frozen=True, slots=True)
class Message:
    """The words of a text, what each weighs, and neighbouring words as they are spelt, with what is between them."""

    words: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    telling: tuple[bool, ...] = ()  # it is no common word, and no value
    pairs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.pairs)


class Held(NamedTuple):
    """What a text holds of a message: how many telling words, the weight of all, and which words of the text."""

    words: int = 0
    weight: float = 0.0
    places: tuple[int, ...] = ()


def message_of(text: str, common: frozenset[str]) -> Message:
    """Return the words of a text as a message; an empty one if it has too few.

    What stands between two blanks weighs as one word, and nothing if it has to be a value.

    :param common: folded words that tell little.
    """
    plain = _SPACE.sub(" ", text.strip())
    spans, weights = list[tuple[int, int]](), list[float]()
    for piece in re.finditer(r"\S+", plain):
        found = list(_WORD.finditer(plain, *piece.span()))
        weight = 0.0 if _VALUE.search(piece[0]) else 1 / max(1, len(found))
        spans += (word.span() for word in found)
        weights += (weight * (_COMMON_WEIGHT if word[0].casefold() in common else 1) for word in found)
        if len(spans) >= _MAX_WORDS:
            break
    spans, weights = spans[:_MAX_WORDS], weights[:_MAX_WORDS]
    words = tuple(plain[start:end] for start, end in spans)
    telling = tuple(weight > 0 and word.casefold() not in common for word, weight in zip(words, weights, strict=True))
    pairs = dict.fromkeys(
        plain[spans[place][0] : spans[place + 1][1]]
        for place in range(len(words) - 1)
        if telling[place] or telling[place + 1]
    )
    if len(words) < _MIN_WORDS or sum(telling) < 2:
        return Message()
    return Message(words, tuple(weights), telling, tuple(pairs)[:: -(-len(pairs) // _MAX_PAIRS) or 1])


def held_by_rows(corpus: Corpus, rows: Rows, message: Message) -> Values:
    """Return how much of a message each row holds, from 0 to 1; 1 for what is likely its source."""
    found: Values = np.zeros(len(rows), np.float64)
    if not message:
        return found
    needles = [pair.encode() for pair in message.pairs]
    for generation, places, local in corpus.split(rows):
        found[places] = [generation.rows.texts.count_held(row, needles) for row in local.tolist()]
    likely = np.argsort(-found, kind="stable")[:_MAX_COMPARED]
    likely = np.sort(likely[found[likely] > 0])
    counts, shares = np.zeros((2, len(rows)), np.float64)
    for generation, places, local in corpus.split(rows[likely]):
        held = [held_by_text(generation.rows.text(row), message) for row in local.tolist()]
        counts[likely[places]] = [max(0, item.words - _CHANCE) for item in held]
        shares[likely[places]] = [item.weight for item in held]
    shares /= max(sum(message.weights), 1.0)
    amount: Values = np.minimum(counts / _ENOUGH, 1)
    return amount * np.clip((shares - _SOME) / (_MOST - _SOME), 0, 1)


def line_of_message(lines: Sequence[str], message: Message) -> int | None:
    """Return the first line that has at least half as much of a message as any; None if the text has little of it."""
    if not message:
        return None
    text = "\n".join(lines)
    held = held_by_text(text, message)
    if held.words < _MIN_WORDS or (held.weight < _SOME * sum(message.weights) and held.words <= _MIN_WORDS):
        return None
    starts = [word.start() for word in _WORD.finditer(text[:_MAX_CHARS])]
    found = [text.count("\n", 0, starts[place]) for place in held.places]
    most = max(map(found.count, found))
    return next(line for line in found if 2 * found.count(line) >= most)


class _Chain(NamedTuple):
    """Runs of words up to one word of a text; an open one ends with a word without a neighbour, which has no weight."""

    weight: float
    at: int  # the last word's number in the message
    number: int  # its number in the text
    before: _Chain | None
    open: bool


def held_by_text(text: str, message: Message) -> Held:
    """Return the most that a text holds of a message, in the message's order, as runs of two words or more."""
    known: dict[str, list[int]] = {}
    for at, word in enumerate(message.words):
        known.setdefault(word, []).append(at)
    best: _Chain | None = None
    recent: list[_Chain] = []  # chains that end with a run, a few words ago at most
    neighbours: dict[int, _Chain] = {}  # chains that end with the last word, by their word of the message
    held = _WORD.findall(text[:_MAX_CHARS])
    last = -1
    for number in [place for place, word in enumerate(held) if word in known]:
        recent = [chain for chain in recent if chain.number >= number - 1 - _TEXT_GAP]
        before = neighbours if last == number - 1 else {}
        last, neighbours = number, {}
        for at in known[held[number]][:_MAX_REPEATS]:
            chain = _extended(before.get(at - 1), recent, message.weights, at, number)
            neighbours[at] = chain
            if not chain.open and (best is None or chain.weight > best.weight):
                best = chain
        recent += [chain for chain in neighbours.values() if not chain.open]
    return _held(best, message)


def _extended(
    neighbour: _Chain | None, recent: Sequence[_Chain], weights: Sequence[float], at: int, number: int
) -> _Chain:
    """Return the heaviest chain that ends with a word: behind its neighbour, or as the first of a run."""
    if neighbour:
        weight = neighbour.weight + weights[at] + (weights[at - 1] if neighbour.open else 0)
        return _Chain(weight, at, number, neighbour, open=False)
    before = [
        (chain.weight - _GAP_COST * (number - chain.number - 1), chain)
        for chain in recent
        if 0 < at - chain.at <= _MESSAGE_GAP
    ]
    weight, heaviest = max(before, key=itemgetter(0), default=(0.0, None))
    return _Chain(max(weight, 0.0), at, number, heaviest if weight > 0 else None, open=True)


def _held(chain: _Chain | None, message: Message) -> Held:
    weight = chain.weight if chain else 0.0
    places, count = list[int](), 0
    while chain:
        places.append(chain.number)
        count += message.telling[chain.at]
        chain = chain.before
    return Held(count, weight, tuple(reversed(places)))
