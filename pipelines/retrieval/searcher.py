"""The searcher: one query over one or more open generations. In: a Query. Out: an Answer.

Filters and keyword AND become row masks first; the branches rank what the masks leave; fusion makes one order of them.
Each step is a pure function of what came before, so the order in which branches are completed changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from textwrap import shorten
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.errors import ArtifactMismatch, EncoderError
from pipelines.records import Encoder, Hit, Literate, SearchMode
from pipelines.retrieval.analysis import Analysis, analyse, bare_term, requirements
from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.excerpt import show
from pipelines.retrieval.features import Candidates, features
from pipelines.retrieval.files import file_numbers
from pipelines.retrieval.filters import Mask, filter_rows, known_labels
from pipelines.retrieval.fusion import Fused, Values, spread, union
from pipelines.retrieval.generation import Generation
from pipelines.retrieval.lexical import Ranking, WeightedTerms, require_terms, search_lexical, weigh
from pipelines.retrieval.places import line_at
from pipelines.retrieval.positions import file_line
from pipelines.retrieval.query import Answer, Query
from pipelines.retrieval.ranking import rank
from pipelines.retrieval.rows import Rows
from pipelines.retrieval.semantic import Meaning, Pool, Stored, Vector, is_usable
from pipelines.retrieval.spelling import corrected, corrections
from pipelines.retrieval.symbols import search_name_parts, search_symbols
from pipelines.retrieval.weights import WEIGHTS

#: Rows that the symbol branch gives to the fusion.
_SYMBOL_POOL = 64
#: Rows from which on a branch takes longer than handing it to a thread.
_THREADS_FROM_ROWS = 250_000
#: Of a query that a note quotes.
_MAX_NOTED_CHARS = 60


class _Clock:
    """Milliseconds by step."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.steps: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.steps[name] = (time.perf_counter() - began) * 1e3

    def timing(self) -> dict[str, float]:
        """Return the steps and the total, rounded to microseconds."""
        self.steps["total"] = (time.perf_counter() - self.began) * 1e3
        return {name: round(value, 3) for name, value in self.steps.items()}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The candidates of a query: rows of the corpus, a number for the file of each, features by name."""

    rows: Rows
    files: npt.NDArray[np.int64]
    features: Mapping[str, Values]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query as it is understood: its text with known words for unknown ones, `meant` by word, and its terms."""

    text: str
    analysis: Analysis
    terms: WeightedTerms
    meant: Mapping[str, str]


class _AtOnce:
    """Does at once what threads would do meanwhile."""

    def submit(self, work: Callable[..., Pool], *arguments: Any) -> Future[Pool]:
        done: Future[Pool] = Future()
        done.set_result(work(*arguments))
        return done


@cache
def _threads() -> ThreadPoolExecutor:
    """Return the threads of the semantic branch; to start one for each query costs as much as a small scan."""
    return ThreadPoolExecutor(thread_name_prefix="semantic")


class Searcher:
    """Answers queries over open generations; several repositories are ranked as one collection.

    :param generations: open generations; the caller closes them. :param encoder: the encoder that made their vectors,
        None to search by words and names alone.
    :param weights: of the features, by name. :param meaning: how rows are compared; None = as the query's scoring says.
    :raises ArtifactMismatch: if a generation's vectors are of another encoder, or codes are made in different ways.
    """

    def __init__(
        self,
        generations: Sequence[Generation],
        encoder: Encoder | None,
        *,
        weights: Mapping[str, float] = WEIGHTS,
        meaning: Meaning | None = None,
    ) -> None:
        for generation in generations:
            made_by = generation.document.encoder
            if encoder is not None and made_by.digest != encoder.digest:
                raise ArtifactMismatch(
                    f"the vectors of {generation.repo} were made by encoder {made_by.name} {made_by.digest}, "
                    f"not by {encoder.name} {encoder.digest}",
                    hint="run `strata index` with the encoder that is wanted, or query each repository by itself",
                )
        if encoder is not None:
            _require_one_map(generations)
        self.generations = tuple(generations)
        self.encoder = encoder
        self._weights, self._meaning = weights, meaning
        self._corpus = Corpus(self.generations)

    def search(self, query: Query) -> Answer:
        """Answer a query.

        :raises EncoderError: if only the semantic branch was asked and there is no encoder.
        """
        clock = _Clock()
        inactive: dict[str, str] = {}
        with clock.step("filter"):
            asked, masks = self._understood(query), self._masks(query)
        analysis = asked.analysis
        found = self._candidates(query, asked, masks, clock, inactive)
        with clock.step("fuse"):
            ordered, fused = rank(self._corpus, query, analysis, found, inactive, self._weights)
        with clock.step("excerpt"):
            hits = self._hits(ordered[: query.limit], fused, found, analysis)
        expansion = None
        if query.expand is not None:
            from pipelines.retrieval.expansion import expand  # here: most queries ask for none

            with clock.step("expand"):
                anchors = [self._corpus.locate(row) for row in ordered[: query.limit].tolist()]
                expansion = expand(anchors, query.expand, query.expand_depth)
        counts = {
            "lexical": len(found.lexical.rows),
            "semantic": len(found.semantic.rows),
            "symbol": len(found.symbol.rows),
            "fused": len(ordered),
        }
        explained = _explained(analysis) if query.explain else {}
        notes = _notes(query, asked, found)
        if not hits:
            from pipelines.retrieval.alternatives import unmatched  # here: most queries find something

            notes += unmatched(self.generations, query)
        return Answer(query, tuple(hits), counts, clock.timing(), expansion, inactive, explained, notes)

    def compare(self, query: Query) -> Comparison:
        """Return every candidate of a query with its features, as the ranking sees them: to fit what they count for."""
        asked = self._understood(query)
        found = self._candidates(query, asked, self._masks(query), _Clock(), {})
        rows = union(found.branches())
        files = file_numbers(self._corpus, rows)
        return Comparison(rows, files, features(self._corpus, rows, files, asked.analysis, found))

    def locate(self, row: int) -> tuple[Generation, int]:
        """Return the generation that a row of a comparison is in, and its row there."""
        return self._corpus.locate(row)

    def _masks(self, query: Query) -> list[Mask]:
        query = known_labels(self.generations, query)
        masks = [filter_rows(generation, query) for generation in self.generations]
        return require_terms(self._corpus, masks, requirements(query.text)) if query.keyword_and else masks

    def _understood(self, query: Query) -> _Asked:
        """Analyse a query; words that stand nowhere are read as what they were likely meant to be.

        With keyword AND each word must occur as it is, and the plain order of one branch is that of the text given.
        """
        analysis = analyse(query.text)
        terms = weigh(self._corpus, analysis.terms)
        meant: Mapping[str, str] = {}
        if not query.keyword_and and not query.no_fusion:
            meant = corrections(self._corpus, query.text, analysis.terms, terms, self._is_word)
        if not meant:
            return _Asked(query.text, analysis, terms, {})
        text = corrected(query.text, meant)
        analysis = analyse(text)
        return _Asked(text, analysis, weigh(self._corpus, analysis.terms), meant)

    def _is_word(self, word: str) -> bool:
        return isinstance(self.encoder, Literate) and self.encoder.knows(word)

    def _candidates(
        self, query: Query, asked: _Asked, masks: Sequence[Mask], clock: _Clock, inactive: dict[str, str]
    ) -> Candidates:
        """Ask the branches, which know nothing of one another: large ones at the same time."""
        vector = self._vector(query, asked.text, clock, inactive)
        meaning = self._meaning or Stored(query.scoring)
        threads = _threads() if self._corpus.count >= _THREADS_FROM_ROWS else _AtOnce()
        pool = threads.submit(self._pool, meaning, query, masks, vector, clock)
        found = self._by_words(query, asked, masks, clock)
        found.semantic = pool.result()
        if vector is not None:
            rows = union(found.branches())
            rows = rows[self._corpus.have_vectors(rows)]
            found.cosines = Ranking(rows, meaning.similarities(self._corpus, rows, vector))
        return found

    def _by_words(self, query: Query, asked: _Asked, masks: Sequence[Mask], clock: _Clock) -> Candidates:
        found = Candidates()
        analysis, size = asked.analysis, query.candidate_pool
        if query.lexical:
            with clock.step("lexical"):
                found.lexical = search_lexical(self._corpus, masks, asked.terms, size)
        if query.symbols:
            with clock.step("symbol"):
                found.symbol = search_symbols(self._corpus, masks, analysis, min(size, _SYMBOL_POOL))
                if query.mode is SearchMode.SYMBOL:
                    rows = found.lexical.rows
                    found.symbol = search_name_parts(self._corpus, rows, analysis, found.symbol, size)
                    found.lexical = Ranking.empty()
        return found

    def _vector(self, query: Query, text: str, clock: _Clock, inactive: dict[str, str]) -> Vector | None:
        """Return the query's vector; None if the semantic branch is not asked or can say nothing."""
        if not query.semantic:
            return None
        if self.encoder is None:
            if query.mode is SearchMode.SEMANTIC or query.no_fusion or query.fusion == "late":
                raise EncoderError(
                    "the semantic branch was asked for and there is no encoder",
                    hint="use mode lexical or symbol, or configure [embedder]",
                )
            inactive["semantic"] = "there is no encoder"
            return None
        with clock.step("encode"):
            vector = np.asarray(self.encoder.encode_query(text), np.float32)
        if not vector.any():
            inactive["semantic"] = "the query has no word that the encoder knows"
        return vector if is_usable(vector) else None

    def _pool(
        self, meaning: Meaning, query: Query, masks: Sequence[Mask], vector: Vector | None, clock: _Clock
    ) -> Pool:
        if vector is None:
            return Pool.empty()
        with clock.step("semantic"):
            return meaning.pool(self._corpus, masks, vector, query.candidate_pool)

    def _hits(self, rows: Rows, fused: Fused, found: Candidates, analysis: Analysis) -> list[Hit]:
        terms = {
            **fused.terms,
            "bm25": spread(fused.rows, found.lexical.rows, found.lexical.scores),
            "cosine": spread(fused.rows, found.semantic.rows, found.semantic.scores),
            "symbol": spread(fused.rows, found.symbol.rows, found.symbol.scores),
        }
        distances = spread(fused.rows, found.semantic.rows, found.semantic.distances)
        hits = []
        for number, (row, place) in enumerate(zip(rows.tolist(), np.searchsorted(fused.rows, rows), strict=True), 1):
            of_row = {name: float(values[place]) for name, values in terms.items() if not np.isnan(values[place])}
            distance = None if np.isnan(distances[place]) else int(distances[place])
            hits.append(self._hit(number, row, float(fused.scores[place]), distance, of_row, analysis))
        return hits

    def _hit(
        self, number: int, row: int, score: float, distance: int | None, terms: Mapping[str, float], analysis: Analysis
    ) -> Hit:
        generation, local = self._corpus.locate(row)
        table = generation.rows
        name, signature, symbol = (table.string(item, local) for item in ("name", "signature", "qualified_name"))
        kind, language, text = table.labels["kind"][local], table.labels["language"][local], table.text(local)
        at = line_at(generation, local, text.split("\n"), analysis.places) if analysis.places else None
        shown = show(text, analysis, name=name, signature=signature, kind=kind, language=language, at=at)
        return Hit(
            rank=number,
            chunk_id=table.ids[local].tobytes().hex(),
            repo=generation.repo,
            path=table.labels["path"][local],
            start_line=int(table.numbers["start_line"][local]),
            end_line=int(table.numbers["end_line"][local]),
            language=language,
            kind=kind,
            symbol=symbol or shown.name,
            scope=table.labels["scope"][local],
            score=round(score, 6),
            distance=distance,
            excerpt=shown.excerpt,
            terms={term: round(value, 6) for term, value in terms.items()},
            line=file_line(generation, local, text.split("\n", shown.line + 1), shown.line),
        )


def _require_one_map(generations: Sequence[Generation]) -> None:
    """Refuse codes of different widths or rotations: their distances do not compare."""
    for generation in generations[1:]:
        first, other = generations[0].bit_map, generation.bit_map
        if other != first:
            raise ArtifactMismatch(
                f"{generations[0].repo} has codes of {first.bits} bits (seed {first.seed}), "
                f"{generation.repo} of {other.bits} bits (seed {other.seed})",
                hint="run `strata index` with the [quantization] that is wanted, or query each repository by itself",
            )


def _notes(query: Query, asked: _Asked, found: Candidates) -> tuple[str, ...]:
    """Say what was searched instead, if no word was found, or a name that is spelt: vectors are always near some."""
    notes = [f'no text holds "{_noted(word)}"; searched for "{_noted(meant)}"' for word, meant in asked.meant.items()]
    if query.mode is not SearchMode.HYBRID or not len(found.semantic.rows):
        return tuple(notes)
    within = " that the filters leave" if query.paths or query.languages or query.scopes or query.kinds else ""
    if not len(found.lexical.rows):
        return (*notes, f'no text{within} holds "{_noted(asked.text)}"; these are only near in meaning')
    analysis, known = asked.analysis, frozenset(asked.terms.terms)
    names = [parts[-1] for parts in (analysis.name, *analysis.mentioned) if parts]
    missing = [name for name in names if (term := bare_term(name)) in analysis.terms and term not in known]
    return (*notes, *(f'no text holds "{_noted(name)}"' for name in missing))


def _noted(text: str) -> str:
    return shorten(text, _MAX_NOTED_CHARS, placeholder="…")


def _explained(analysis: Analysis) -> dict[str, object]:
    return {
        "terms": list(analysis.terms),
        "keywords": list(analysis.keywords),
        "name": list(analysis.name),
        "mentioned": [".".join(parts) for parts in analysis.mentioned],
        "wants_tests": analysis.wants_tests,
    }
