"""The exact branch: BM25 over the postings of all buckets. In: terms. Out: the best rows; for keyword AND, a mask.

Document frequencies and the average length are summed over every segment of every generation, so several repositories
are ranked as one collection. A row's score adds its terms in one order, whatever the segment and the way it is summed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from pipelines.retrieval.analysis import Requirements
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.filters import Mask, combine
from pipelines.retrieval.generation import Generation
from pipelines.retrieval.inflection import other_forms
from pipelines.retrieval.rows import Rows
from pipelines.retrieval.segments import Segment
from pipelines.tokens import term_hash

#: Saturation of a term's frequency, and share of the length normalisation. On the benchmark 2.5 and 0.75 lose .008
#: NDCG@10: chunks are of similar length, and names are weighted in the frequencies already.
K1, B = 1.2, 0.6
#: Weight of a term's other forms ("decorator" for "decorators") beside its own: worth .008 NDCG@10 on the benchmark,
#: whatever the weight between .3 and .9; above .5 it costs as much on the bundled judgments.
OTHER_FORM_WEIGHT = 0.4
#: A query of more terms says enough without other forms.
MAX_INFLECTED_TERMS = 64
#: Terms of a query that are looked up, the rarest first: a pasted page has thousands, and the rest decide nothing.
MAX_TERMS = 128
#: Scores are summed in an array of all rows where there is one posting for at most this many rows, else by sorting the
#: postings: the array costs one pass over the rows, the sort several over the postings.
_DENSE_SHARE = 16
#: Sums of weights are compared with a margin for their rounding.
_ROUNDING = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class Ranking:
    """One branch's rows, best first, and their scores in the branch's own measure."""

    rows: Rows
    scores: npt.NDArray[np.float64]

    @classmethod
    def empty(cls) -> Ranking:
        """Return the ranking of a branch that found nothing."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.float64))


@dataclass(frozen=True, slots=True)
class WeightedTerms:
    """Terms of a query in falling order of weight, with the spans (S, t, 2) of their postings in each segment."""

    terms: tuple[str, ...]
    weights: npt.NDArray[np.float64]
    documents: npt.NDArray[np.int64]
    spans: npt.NDArray[np.int64]


def weigh(corpus: Corpus, terms: Mapping[str, int]) -> WeightedTerms:
    """Return the terms that occur anywhere, the rarest MAX_TERMS of them, with their weights.

    idf = ln(1 + (N - df + 0.5) / (df + 0.5)), the form of BM25 that is never negative (Robertson and Zaragoza 2009, as
    implemented in Lucene), times the number of times that the query holds the term. The other forms of a term weigh a
    share of the idf that all its forms would have as one, so that a rare form does not outweigh what was asked.
    """
    owners = {term: place for place, term in enumerate(terms)}
    if len(terms) <= MAX_INFLECTED_TERMS:
        for place, term in enumerate(terms):
            for form in other_forms(term):
                owners.setdefault(form, place)
    names, owner = tuple(owners), np.fromiter(owners.values(), np.int64, len(owners))
    own = np.arange(len(names)) < len(terms)
    spans = _spans(corpus, names)
    documents = _documents(spans)
    together = np.minimum(np.bincount(owner, weights=documents)[owner], corpus.count) if len(owner) else documents
    weights = np.where(own, _idf(corpus.count, documents), OTHER_FORM_WEIGHT * _idf(corpus.count, together))
    weights *= np.array(list(terms.values()), np.float64)[owner]
    kept = np.flatnonzero(documents)
    kept = kept[np.argsort(-weights[kept], kind="stable")][:MAX_TERMS]
    return WeightedTerms(tuple(names[place] for place in kept), weights[kept], documents[kept], spans[:, kept])


def search_lexical(corpus: Corpus, masks: Sequence[Mask], terms: WeightedTerms, size: int) -> Ranking:
    """Return the `size` best rows by BM25 among those that the masks accept."""
    if not len(terms.terms):
        return Ranking.empty()
    collection = _Collection.of(corpus, masks, terms)
    if int(terms.documents.sum()) * _DENSE_SHARE < corpus.count:
        rows, scores = _sum_sparse(collection)
    else:
        rows, scores = _sum_dense(replace(collection, dense=True), corpus.count, size)
    best = _not_below_rank(scores, size)
    rows, scores = rows[best], scores[best]
    order = corpus.order(rows, -scores)[:size]
    return Ranking(rows[order], scores[order])


def rows_with_term(corpus: Corpus, masks: Sequence[Mask], term: str, size: int) -> Rows:
    """Return up to `size` rows that hold a term, those that say little else first."""
    if not _segments(corpus):
        return np.zeros(0, np.int64)
    one = WeightedTerms((term,), np.ones(1), np.ones(1, np.int64), _spans(corpus, (term,)))
    rows, scores = _sum_sparse(_Collection.of(corpus, masks, one))
    return rows[corpus.order(rows, -scores)[:size]]


def count_documents(corpus: Corpus, terms: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return in how many rows each term occurs (T,)."""
    return _documents(_spans(corpus, terms))


def holding_all(corpus: Corpus, rows: Rows, terms: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Tell which of the rows, ascending, hold every one of the terms."""
    held = np.zeros(len(rows), np.int64)
    for (place, segment), spans in zip(_segments(corpus), _spans(corpus, terms).tolist(), strict=True):
        base = int(corpus.bases[place]) + segment.base
        low, high = np.searchsorted(rows, [base, base + segment.documents])
        local = (rows[low:high] - base).astype(np.uint32)
        for start, end in spans if len(local) else ():
            _, known = _found_in(segment.rows[start:end], local)
            held[low:high] += known
    every: npt.NDArray[np.bool_] = held == len(terms)
    return every


def require_terms(corpus: Corpus, masks: Sequence[Mask], wanted: Requirements) -> list[Mask]:
    """Return the masks cut down to the rows that meet keyword AND, by the exact postings of the whole index."""
    if not wanted.terms:
        return list(masks)
    return [
        combine([mask, _meeting(generation, mask, wanted)])
        for generation, mask in zip(corpus.generations, masks, strict=True)
    ]


def _idf(count: int, documents: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    idf: npt.NDArray[np.float64] = np.log1p((count - documents + 0.5) / (documents + 0.5))
    return idf


def _segments(corpus: Corpus) -> list[tuple[int, Segment]]:
    return [(place, item) for place, generation in enumerate(corpus.generations) for item in generation.segments]


def _spans(corpus: Corpus, terms: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return where the postings of each term begin and end in each segment (S, T, 2); an unknown one has none."""
    hashes = np.array([term_hash(term) for term in terms], np.uint64)
    segments = _segments(corpus)
    found = np.zeros((len(segments), len(terms), 2), np.int64)
    for spans, (_, segment) in zip(found, segments, strict=True):
        spans[:, 0], spans[:, 1] = segment.spans(hashes)
    return found


def _documents(spans: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return in how many rows each term occurs (T,), by its spans."""
    found: npt.NDArray[np.int64] = (spans[:, :, 1] - spans[:, :, 0]).sum(axis=0)
    return found


def _found_in(
    held: npt.NDArray[np.uint32], wanted: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Return where each wanted row stands among ascending ones, and whether it does."""
    if not len(held):
        return np.zeros(len(wanted), np.intp), np.zeros(len(wanted), np.bool_)
    places = np.minimum(np.searchsorted(held, wanted), len(held) - 1)
    return places, held[places] == wanted


@dataclass(frozen=True, slots=True)
class _Part:
    """Some rows of the corpus that are in one segment, with their rows there."""

    segment: int
    rows: npt.NDArray[np.int64]
    local: npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class _Collection:
    """The segments of a corpus with the spans of each term in them, terms in falling order of weight.

    Every row adds its terms in that order, whichever way its score is summed, so both ways give the same bits.
    """

    corpus: Corpus
    segments: tuple[tuple[Segment, int], ...]  # with the corpus row of its row 0
    mask: Mask  # over all rows of the corpus
    spans: npt.NDArray[np.int64]  # (segments, terms, 2)
    weights: npt.NDArray[np.float64]
    documents: npt.NDArray[np.int64]
    average: float
    dense: bool = False  # so many postings are read that every row's saturation is worth having

    @classmethod
    def of(cls, corpus: Corpus, masks: Sequence[Mask], terms: WeightedTerms) -> _Collection:
        """Bring the segments and the terms together."""
        segments = tuple((segment, int(corpus.bases[place]) + segment.base) for place, segment in _segments(corpus))
        average = sum(segment.total_length for segment, _ in segments) / max(1, corpus.count)
        mask = _joined(corpus, masks)
        return cls(corpus, segments, mask, terms.spans, terms.weights, terms.documents, max(1.0, average))

    def gains(self, term: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return the rows of the corpus that hold a term, ascending, and what it adds to each."""
        held = [
            (segment, base, slice(start, end))
            for (segment, base), (start, end) in zip(self.segments, self.spans[:, term].tolist(), strict=True)
            if start < end
        ]
        if not held:
            return np.zeros(0, np.int64), np.zeros(0, np.float64)
        rows = np.concatenate([segment.rows[span] for segment, _, span in held]).astype(np.int64)
        rows += np.repeat([base for _, base, _ in held], [span.stop - span.start for _, _, span in held])
        frequencies = np.concatenate([segment.frequencies[span] for segment, _, span in held])
        if self.mask is not None:
            accepted = self.mask[rows]
            rows, frequencies = rows[accepted], frequencies[accepted]
        return rows, self._gain(term, rows, frequencies)

    def parts_of(self, wanted: npt.NDArray[np.int64]) -> list[_Part]:
        """Return the wanted rows, ascending, by the segment that each is in."""
        edges = np.searchsorted(wanted, [base for _, base in self.segments]).tolist()
        return [
            _Part(place, wanted[low:high], (wanted[low:high] - self.segments[place][1]).astype(np.uint32))
            for place, (low, high) in enumerate(pairwise([*edges, len(wanted)]))
            if low < high
        ]

    def gains_of(
        self, term: int, parts: Sequence[_Part]
    ) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
        """Yield the same for some rows alone, which costs a search for each instead of a pass."""
        for part in parts:
            start, end = self.spans[part.segment, term].tolist()
            if start < end:
                segment, _ = self.segments[part.segment]
                places, known = _found_in(segment.rows[start:end], part.local)
                rows = part.rows[known]
                yield rows, self._gain(term, rows, segment.frequencies[start:end][places[known]])

    def _gain(
        self, term: int, rows: npt.NDArray[np.int64], frequencies: npt.NDArray[np.uint16]
    ) -> npt.NDArray[np.float64]:
        saturations = self._saturations()[rows] if self.dense else self._saturation(self._lengths(rows))
        gain: npt.NDArray[np.float64] = self.weights[term] * frequencies / (frequencies + saturations)
        return gain

    def _lengths(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Return the lengths of some rows, ascending."""
        edges = np.searchsorted(rows, [base for _, base in self.segments])
        parts = [
            segment.lengths[rows[first:last] - base]
            for (segment, base), first, last in zip(
                self.segments, edges.tolist(), [*edges[1:].tolist(), len(rows)], strict=True
            )
        ]
        return np.concatenate(parts)

    def _saturation(self, lengths: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
        """Return what the lengths do to the frequencies of their rows."""
        return np.asarray(K1 * (1 - B + B / self.average * lengths), np.float64)

    def _saturations(self) -> npt.NDArray[np.float64]:
        """Return the saturation of every row of the corpus (N,), worked out once."""
        found = _SATURATIONS.get(self.corpus)
        if found is None:
            lengths = np.concatenate([segment.lengths for segment, _ in self.segments])
            found = _SATURATIONS[self.corpus] = self._saturation(lengths)
        return found


#: By corpus, for as long as it is open.
_SATURATIONS: WeakKeyDictionary[Corpus, npt.NDArray[np.float64]] = WeakKeyDictionary()


def _joined(corpus: Corpus, masks: Sequence[Mask]) -> Mask:
    """Return the masks of all generations as one."""
    if all(mask is None for mask in masks):
        return None
    return np.concatenate(
        [
            np.ones(generation.count, np.bool_) if mask is None else mask
            for generation, mask in zip(corpus.generations, masks, strict=True)
        ]
    )


def _sum_sparse(collection: _Collection) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the rows that hold any term and their scores, by sorting all postings."""
    found = [collection.gains(term) for term in range(len(collection.weights))]
    held, places = np.unique(np.concatenate([rows for rows, _ in found]), return_inverse=True)
    sums = np.bincount(places, weights=np.concatenate([gains for _, gains in found]))
    return held.astype(np.int64, copy=False), sums.astype(np.float64, copy=False)


def _sum_dense(collection: _Collection, count: int, size: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return rows and scores among which are the `size` best and all ties with the last, by an array of all rows.

    The heaviest terms come first. A term adds less than its weight, so once `size` rows have more than all terms to
    come could add, no further row can come among them, and the commoner terms are looked up for the rows in question
    only (MaxScore: Turtle and Flood, Information Processing and Management 31(6), 1995).
    """
    scores = np.zeros(count, np.float64)
    to_come = np.cumsum(collection.weights[::-1])[::-1]
    wanted: npt.NDArray[np.int64] | None = None
    parts: list[_Part] = []
    for term in range(len(collection.weights)):
        if wanted is None and term and collection.documents[term] * _DENSE_SHARE >= count:
            wanted = _still_possible(scores, size, float(to_come[term]) * _ROUNDING)
            parts = [] if wanted is None else collection.parts_of(wanted)
        for rows, gains in [collection.gains(term)] if wanted is None else collection.gains_of(term, parts):
            scores[rows] += gains
    rows = _scored(scores) if wanted is None else wanted
    return rows, scores[rows]


def _still_possible(scores: npt.NDArray[np.float64], size: int, to_come: float) -> npt.NDArray[np.int64] | None:
    """Return the rows that may still be among the `size` best if each gains less than `to_come`; None if any may."""
    held = _scored(scores)
    if len(held) < size:
        return None
    bar = np.partition(scores[held], len(held) - size)[len(held) - size]
    return held[scores[held] + to_come >= bar] if bar > to_come else None


def _scored(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the rows that have any score; numpy looks through booleans ten times as fast as through numbers."""
    return np.flatnonzero(scores != 0)


def _not_below_rank(scores: npt.NDArray[np.float64], size: int) -> npt.NDArray[np.int64]:
    """Return the places of the `size` best scores and of every tie with the last of them."""
    if len(scores) <= size:
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, len(scores) - size)[len(scores) - size])


def _meeting(generation: Generation, mask: Mask, wanted: Requirements) -> npt.NDArray[np.bool_]:
    required = np.array([term_hash(term) for term in wanted.terms], np.uint64)
    excluded = np.array([term_hash(term) for term in wanted.excluded], np.uint64)
    met = np.zeros(generation.count, np.bool_)
    for segment in generation.segments:
        held = np.zeros(segment.documents, np.int64)
        for start, end in zip(*segment.spans(required), strict=True):
            held[segment.rows[start:end]] += 1
        passing = held == len(required)
        for start, end in zip(*segment.spans(excluded), strict=True):
            passing[segment.rows[start:end]] = False
        met[segment.base : segment.base + segment.documents] = passing
    if mask is not None:
        met &= mask
    if wanted.phrases:
        rows = np.flatnonzero(met)
        met[rows] = _holding_phrases(generation, rows, wanted.phrases)
    return met


def _holding_phrases(generation: Generation, rows: Rows, phrases: Sequence[str]) -> list[bool]:
    """Tell of each row whether its text has all phrases, whatever the case and the white space between their words."""
    wanted = sorted({phrase.casefold() for phrase in phrases}, key=lambda phrase: (-len(phrase), phrase))
    texts = (generation.rows.text(row).casefold() for row in rows.tolist())
    return [all(_stands_in(text, phrase) for phrase in wanted) for text in texts]


def _stands_in(text: str, phrase: str) -> bool:
    if phrase in text:
        return True
    words = phrase.split()
    return len(words) > 1 and all(word in text for word in words) and phrase in " ".join(text.split())
