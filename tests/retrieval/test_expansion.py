from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.records import CallStrategy
from pipelines.retrieval import Query
from pipelines.retrieval.expansion import BLAST_CONFIDENCE, MAX_RELATED, Expansion
from tests.retrieval.builders import Call, Doc, make_searcher

NAMES = ["checkout", "validate", "charge", "audit", "main", "cron"]
CALLS = [
    Call("main", "checkout"),
    Call("cron", "main"),
    Call("checkout", "validate", 0.95, CallStrategy.OWN_CLASS),
    Call("checkout", "charge", 0.6, CallStrategy.RECEIVER_NAME),
    Call("charge", "audit"),
    Call("checkout", "checkout"),
    Call("audit", "checkout", 0.3, CallStrategy.AMBIGUOUS),
]


def expansion(root: Path, **options: object) -> Expansion:
    docs = [Doc(f"{name}.py", f"def {name}(): pass", name) for name in NAMES]
    query = Query("checkout", limit=1, **options)  # type: ignore[arg-type]
    found = make_searcher(root, docs, calls=CALLS).search(query).expansion
    assert found is not None
    return found


def test_neighbours_have_hop_direction_confidence_and_strategy(tmp_path: Path) -> None:
    near = expansion(tmp_path, expand="neighbors").neighbors
    assert [(item.symbol, item.hop, item.direction) for item in near] == [
        ("validate", 1, "callee"),
        ("charge", 1, "callee"),
        ("main", 1, "caller"),
        ("audit", 1, "caller"),
    ]
    assert near[1].confidence == pytest.approx(0.6)
    assert near[1].strategy == "receiver_name"
    assert (near[0].path, near[0].start_line) == ("validate.py", 1)


def test_a_hop_more_reaches_further_and_names_the_way(tmp_path: Path) -> None:
    near = expansion(tmp_path, expand="neighbors", expand_depth=2).neighbors
    found = {(item.symbol, item.direction): item for item in near}
    assert found["audit", "callee"].hop == 2
    assert found["cron", "caller"].hop == 2
    assert found["audit", "callee"].via == found["charge", "callee"].chunk_id
    assert found["charge", "callee"].via == found["charge", "callee"].anchor
    assert ("checkout", "callee") not in found


def test_blast_counts_sure_callers_within_the_depth(tmp_path: Path) -> None:
    (one,) = expansion(tmp_path, expand="blast").blast
    assert (one.symbol, one.direct_callers, one.impacted, one.truncated) == ("checkout", 1, 1, False)
    (three,) = expansion(tmp_path / "deep", expand="blast", expand_depth=3).blast
    assert (three.direct_callers, three.impacted) == (1, 2)


def test_blast_names_the_sure_callers_with_hop_and_confidence(tmp_path: Path) -> None:
    near = expansion(tmp_path, expand="blast", expand_depth=3).neighbors
    assert [(item.symbol, item.hop, item.direction) for item in near] == [("main", 1, "caller"), ("cron", 2, "caller")]
    assert all(item.confidence >= BLAST_CONFIDENCE for item in near)
    assert near[1].via == near[0].chunk_id


def test_what_a_bound_cuts_off_is_counted(tmp_path: Path) -> None:
    docs = [Doc(f"f{number}.py", "def x(): pass", f"f{number}") for number in range(30)]
    calls = [Call("f0", f"f{number}") for number in range(1, 30)]
    found = make_searcher(tmp_path, docs, calls=calls).search(Query("f0", limit=1, expand="neighbors")).expansion
    assert found is not None
    assert len(found.neighbors) == MAX_RELATED
    assert found.omitted == 29 - MAX_RELATED


def test_a_hit_without_a_symbol_has_no_surroundings(tmp_path: Path) -> None:
    docs = [Doc("a.md", "# Checkout\nprose", "Checkout", kind="section", language="markdown")]
    for mode in ("neighbors", "blast"):
        found = make_searcher(tmp_path / mode, docs).search(Query("checkout", expand=mode)).expansion
        assert found == Expansion(mode)
