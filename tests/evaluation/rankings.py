"""What the judged queries of the bundled sample find, as a text that a change of the ranking shows as a small diff.

    python -m tests.evaluation.rankings        writes tests/evaluation/golden/sample.txt anew

Figures by kind of case, mode and diffusion, then the first hits of every query in mode hybrid; `*` is a judged answer,
`+` one that also helps. A query without a mark has none among its first hits, and tells at which rank it is.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipelines.embedding import make_encoder
from pipelines.evaluation import evaluate, load_judgments
from pipelines.evaluation.judgments import Case, resolve
from pipelines.evaluation.metrics import DEPTH
from pipelines.records import Encoder, Hit, SearchMode
from pipelines.retrieval import Generation, Query, Searcher, open_generation
from pipelines.settings import Settings, override
from pipelines.store import ArtifactStore
from resources.bundled import encoder_folder, sample_judgments, sample_root
from tests.serving.builds import build, document_of

GOLDEN = Path(__file__).parent / "golden" / "sample.txt"
SHOWN = 3
MODES = (SearchMode.HYBRID, SearchMode.SEMANTIC, SearchMode.LEXICAL)


def rankings(scratch: Path) -> str:
    """Index the sample with diffusion off and on, and return the text."""
    plain = override(override(Settings(), "evaluation", known_items=0), "index", workers=1)
    encoder = make_encoder(plain.embedder, encoder_folder())
    store = ArtifactStore(scratch)
    figures: list[str] = []
    hits: list[str] = []
    for diffused in (False, True):
        settings = override(plain, "diffusion", enabled=diffused)
        plan = build(sample_root(), store, settings, "sample", encoder=encoder)
        with open_generation(store, "sample", document_of(plan)) as generation:
            cases, unresolved = resolve(generation, load_judgments(sample_judgments()))
            assert not unresolved, unresolved
            figures += _figures(generation, encoder, cases, diffused)
            hits = hits or [line for case in cases for line in _first(generation, encoder, case)]
    return "\n".join([*sorted(figures), *hits]) + "\n"


def _figures(generation: Generation, encoder: Encoder, cases: Sequence[Case], diffused: bool) -> Iterator[str]:
    for run in evaluate(Searcher([generation], encoder), cases, MODES):
        found = run.figures
        yield (
            f"{run.case_kind:<22} {run.mode:<9} diffusion {'on ' if diffused else 'off'}  {found.cases:>2} cases  "
            f"first {found.hit_at_1:.2f}  in three {found.hit_at_3:.2f}  NDCG@10 {found.ndcg_at_10:.2f}"
        )


def _first(generation: Generation, encoder: Encoder, case: Case) -> Iterator[str]:
    paths = (case.within,) if case.within else ()
    hits = Searcher([generation], encoder).search(Query(case.query, limit=DEPTH, paths=paths)).hits
    rank = next((hit.rank for hit in hits if _mark(hit, case) == "*"), None)
    later = "" if rank is not None and rank <= SHOWN else f"   answer at {rank or 'no rank'}"
    yield f"\n{case.id}: {case.query}{f'   in {case.within}/' if case.within else ''}{later}"
    for hit in hits[:SHOWN]:
        yield f"{_mark(hit, case)} {hit.path}:{hit.line} {hit.symbol}".rstrip()


def _mark(hit: Hit, case: Case) -> str:
    if any(hit.chunk_id in target for target in case.relevant):
        return "*"
    return "+" if any(hit.chunk_id in target for target in case.secondary) else " "


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        text = rankings(Path(scratch))
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(text, "utf-8")
    sys.stdout.write(f"{GOLDEN}\n")


if __name__ == "__main__":
    main()
