"""Measuring a generation. In: its document, an encoder, judgments. Out: the eval_runs artifact; rows of figures.

The generation need not be published: it is measured first. Figures are per case kind and mode, never only over all, so
that embedding on (hybrid, semantic) and off (lexical, symbol) stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from pipelines import formats
from pipelines.artifacts import ArtifactWriter, Target
from pipelines.evaluation.judgments import Case, Unresolved, load_judgments, resolve
from pipelines.evaluation.known_items import known_names, known_sentences
from pipelines.evaluation.metrics import DEPTH, Figures, Outcome, figures
from pipelines.generation import GenerationDocument
from pipelines.progress import Progress
from pipelines.records import Encoder, SearchMode
from pipelines.report import StageReport
from pipelines.retrieval import Generation, Query, Searcher, open_generation
from pipelines.settings import EvaluationSettings
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore

KNOWN_ITEMS = "known-items"
#: Names are asked in every mode; the sentences and judgments have no name to look up.
_NAME_MODES = tuple(SearchMode)
_TEXT_MODES = (SearchMode.HYBRID, SearchMode.SEMANTIC, SearchMode.LEXICAL)


@dataclass(frozen=True, slots=True)
class Run:
    """The figures of one case kind in one mode."""

    case_kind: str
    mode: SearchMode
    figures: Figures


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures of a generation: rows of formats.EVAL_TABLE, and the judgments whose targets it does not have."""

    rows: tuple[Mapping[str, object], ...]
    unresolved: tuple[Unresolved, ...]

    @property
    def cases(self) -> int:
        """Number of judged queries and known items, each counted once whatever the modes it was asked in."""
        counts = {(row["fixture"], row["case_kind"]): row["cases"] for row in self.rows}
        return sum(int(str(count)) for count in counts.values())


def evaluate(searcher: Searcher, cases: Sequence[Case], modes: Iterable[SearchMode]) -> list[Run]:
    """Ask every case in every mode and return the figures by case kind, then mode, in order of first appearance."""
    kinds = list(dict.fromkeys(case.kind for case in cases))
    outcomes = {mode: [(case.kind, _ask(searcher, case, mode)) for case in cases] for mode in modes}
    return [
        Run(kind, mode, figures([outcome for of, outcome in asked if of == kind]))
        for kind in kinds
        for mode, asked in outcomes.items()
    ]


def evaluate_generation(
    store: ArtifactStore,
    generation: Generation,
    encoder: Encoder | None,
    settings: EvaluationSettings,
    judgments: Path | None,
) -> Evaluation:
    """Measure an open generation by its own names and sentences and, where given, by a judgment file.

    :param encoder: the encoder of the generation's vectors; None leaves out the modes that need it.
    :raises SettingsError: if the judgment file does not have its form.
    """
    searcher = Searcher([generation], encoder)
    names = known_names(generation, settings.known_items)
    sentences = known_sentences(store, generation, names)
    found = [
        *_rows(KNOWN_ITEMS, evaluate(searcher, names, _possible(_NAME_MODES, encoder))),
        *_rows(KNOWN_ITEMS, evaluate(searcher, sentences, _possible(_TEXT_MODES, encoder))),
    ]
    unresolved: list[Unresolved] = []
    if judgments is not None:
        cases, unresolved = resolve(generation, load_judgments(judgments))
        found += _rows(judgments.stem, evaluate(searcher, cases, _possible(_TEXT_MODES, encoder)))
    return Evaluation(tuple(found), tuple(unresolved))


def build_evaluation(
    store: ArtifactStore,
    target: Target,
    document: GenerationDocument,
    encoder: Encoder,
    settings: EvaluationSettings,
    judgments: Path | None,
    progress: Progress,
) -> StageReport:
    """Make the eval_runs artifact of a generation that is whole in the store, published or not.

    :param target: the artifact. :param document: the generation it measures. :param encoder: that of its vectors.
    :param judgments: a judgment file, None without one.
    :raises SettingsError: if the judgment file does not have its form.
    """

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        progress.begin("evaluate", 1)
        with open_generation(store, document.repo, document) as generation:
            evaluation = evaluate_generation(store, generation, encoder, settings, judgments)
        rows = [dict(row) for row in evaluation.rows]
        writer.table("metrics.parquet", pa.Table.from_pylist(rows, formats.EVAL_TABLE), formats.EVAL_TABLE)
        lost = [f"{item.case}: {item.target}" for item in evaluation.unresolved]
        writer.counts |= {"rows": len(rows), "cases": evaluation.cases, "unresolved": len(lost)}
        writer.facts["unresolved"] = lost
        report.rows = report.computed = len(rows)
        report.skipped.update({"unresolved": len(lost)} if lost else {})
        report.extra |= {"cases": evaluation.cases, "unresolved": lost}
        progress.advance()
        progress.end()

    return run_stage(store, target, work)


def _ask(searcher: Searcher, case: Case, mode: SearchMode) -> Outcome:
    paths = (case.within,) if case.within else ()
    answer = searcher.search(Query(case.query, limit=DEPTH, mode=mode, paths=paths))
    ranks = {hit.chunk_id: hit.rank for hit in answer.hits}

    def best(targets: Sequence[frozenset[str]]) -> tuple[int | None, ...]:
        return tuple(min((ranks[chunk] for chunk in chunks if chunk in ranks), default=None) for chunks in targets)

    return Outcome(best(case.relevant), best(case.secondary))


def _possible(modes: Sequence[SearchMode], encoder: Encoder | None) -> list[SearchMode]:
    return [mode for mode in modes if encoder is not None or mode is not SearchMode.SEMANTIC]


def _rows(fixture: str, runs: Iterable[Run]) -> list[Mapping[str, object]]:
    return [
        {"fixture": fixture, "case_kind": run.case_kind, "mode": str(run.mode), **asdict(run.figures)} for run in runs
    ]
