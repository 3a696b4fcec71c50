from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines import formats
from pipelines.artifacts import WHOLE, ArtifactRef, Target
from pipelines.errors import SettingsError
from pipelines.evaluation import build_evaluation, evaluate, evaluate_generation
from pipelines.evaluation.judgments import Case
from pipelines.progress import Silent
from pipelines.records import SearchMode
from pipelines.report import StageReport
from pipelines.retrieval import Searcher, open_generation
from pipelines.settings import EvaluationSettings
from pipelines.store import ArtifactStore
from tests.retrieval.builders import Doc, WordEncoder, make_generation, make_searcher, make_store

DOCS = [
    Doc("a.py", "def apply_tax(): add the tax", "apply_tax", doc="Add the tax that the country asks for."),
    Doc("b.py", "class Cart: holds lines", "Cart", kind="class"),
    Doc("c.py", "def ship(): choose a carrier", "ship"),
]


def build(root: Path, docs: list[Doc], judgments: Path | None = None) -> tuple[ArtifactStore, ArtifactRef, StageReport]:
    store = make_store(root)
    document = make_generation(store, docs)
    target = Target(ArtifactRef("sample", "eval_runs", WHOLE, "e" * 32), "recipe", (document.ref("search_rows"),))
    report = build_evaluation(store, target, document, WordEncoder(), EvaluationSettings(), judgments, Silent())
    return store, target.ref, report


def rows_of(store: ArtifactStore, ref: ArtifactRef) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = store.open(ref).table("metrics.parquet").to_pylist()
    return rows


def test_a_repository_is_measured_by_its_own_names_and_sentences(tmp_path: Path) -> None:
    store, ref, report = build(tmp_path, DOCS)
    rows = rows_of(store, ref)
    assert {(row["fixture"], row["case_kind"], row["mode"], row["cases"]) for row in rows} == {
        *(("known-items", "symbol", mode, 3) for mode in ("hybrid", "semantic", "lexical", "symbol")),
        *(("known-items", "doc_sentence", mode, 1) for mode in ("hybrid", "semantic", "lexical")),
    }
    by_mode = {row["mode"]: row for row in rows if row["case_kind"] == "symbol"}
    assert by_mode["hybrid"]["hit_at_1"] == by_mode["symbol"]["hit_at_1"] == 1.0
    assert report.extra["cases"] == store.open(ref).counts["cases"] == 4


def test_judgments_are_measured_and_lost_targets_are_listed(tmp_path: Path) -> None:
    cases = [
        {"id": "one", "kind": "paraphrase", "query": "add tax", "relevant": [{"path": "a.py", "symbol": "apply_tax"}]},
        {"id": "two", "kind": "paraphrase", "query": "gone", "relevant": [{"path": "z.py", "symbol": "gone"}]},
    ]
    judged = tmp_path / "judged.json"
    judged.write_text(json.dumps({"schema_version": 1, "repository": "sample", "cases": cases}))
    store, ref, report = build(tmp_path, DOCS, judged)
    rows = [row for row in rows_of(store, ref) if row["fixture"] == "judged"]
    assert {(row["case_kind"], row["mode"], row["cases"]) for row in rows} == {
        ("paraphrase", mode, 1) for mode in ("hybrid", "semantic", "lexical")
    }
    assert report.skipped["unresolved"] == store.open(ref).counts["unresolved"] == 1
    assert store.open(ref).facts["unresolved"] == ["two: z.py:gone"]


def test_a_repository_without_symbols_gives_an_empty_table(tmp_path: Path) -> None:
    for docs in ([], [Doc("a.md", "# Only prose", "Only prose", kind="section", language="markdown")]):
        store, ref, report = build(tmp_path / str(len(docs)), docs)
        table = store.open(ref).table("metrics.parquet")
        assert table.num_rows == report.rows == 0
        assert table.schema.equals(formats.EVAL_TABLE)


def test_equal_generations_give_equal_bytes(tmp_path: Path) -> None:
    files = []
    for folder in ("one", "two"):
        store, ref, _ = build(tmp_path / folder, DOCS)
        files.append((store.folder(ref) / "metrics.parquet").read_bytes())
    assert files[0] == files[1]


def test_a_broken_judgment_file_makes_no_artifact(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("[]")
    with pytest.raises(SettingsError, match="must be an object"):
        build(tmp_path, DOCS, broken)
    assert ArtifactStore(tmp_path / "store").head("sample", "eval_runs") is None


def test_cases_are_asked_in_each_mode(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, DOCS)
    target = frozenset({DOCS[0].id("sample").hex()})
    runs = evaluate(
        searcher,
        [Case("1", "name", "apply_tax", (target,)), Case("2", "prose", "absent words", (target,))],
        [SearchMode.LEXICAL, SearchMode.HYBRID],
    )
    assert [(run.case_kind, run.mode) for run in runs] == [
        ("name", SearchMode.LEXICAL),
        ("name", SearchMode.HYBRID),
        ("prose", SearchMode.LEXICAL),
        ("prose", SearchMode.HYBRID),
    ]
    assert [run.figures.hit_at_1 for run in runs[:3]] == [1.0, 1.0, 0.0]


def test_a_case_is_asked_of_its_folder_alone(tmp_path: Path) -> None:
    docs = [Doc("web/cart.py", "def total(): pass", "total"), Doc("shop/cart.py", "def total(): pass", "total")]
    searcher = make_searcher(tmp_path, docs)
    cases = [
        Case(doc.path, "scope", "total", (frozenset({doc.id("sample").hex()}),), within=doc.path.partition("/")[0])
        for doc in docs
    ]
    (run,) = evaluate(searcher, cases, [SearchMode.HYBRID])
    assert (run.figures.cases, run.figures.hit_at_1) == (2, 1.0)


def test_without_an_encoder_the_modes_that_need_one_are_left_out(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with open_generation(store, "sample", make_generation(store, DOCS)) as generation:
        assert Searcher([generation], None)
        measured = evaluate_generation(store, generation, None, EvaluationSettings(), None)
    assert "semantic" not in {row["mode"] for row in measured.rows}
    assert measured.cases == 4
