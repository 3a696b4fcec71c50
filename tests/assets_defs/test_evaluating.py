from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from assets_defs.evaluating import evaluate
from pipelines.progress import Silent
from resources.environment import Environment
from tests.assets_defs.builders import index_path, make_repository, store_files, strata, workspace_of

KEYS = ("fixture", "case_kind", "mode")


def measured(root: Path, both: bool) -> list[dict[str, Any]]:
    return [dict(row) for row in evaluate(Environment(root), (), both, Silent())]


def test_what_is_published_gives_rows_by_repository(indexed: Path) -> None:
    rows = measured(indexed, both=False)
    assert {(row["repo"], row["diffusion"]) for row in rows} == {("parcels", False)}
    assert {"mode", "case_kind", "mrr_at_10"} <= rows[0].keys()
    assert workspace_of(indexed).staleness("parcels") == "fresh"


@pytest.mark.parametrize("diffused", [False, True])
def test_both_sides_of_diffusion_are_measured_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, diffused: bool
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    root = make_repository(tmp_path / "parcels")
    index_path(root, overrides={"diffusion": {"enabled": diffused}})
    before = store_files(root)
    rows = measured(root, both=True)
    assert store_files(root) == before
    assert list(scratch.iterdir()) == []
    published, other = ([row for row in rows if row["diffusion"] is side] for side in (diffused, not diffused))
    assert [[row[key] for key in KEYS] for row in published] == [[row[key] for key in KEYS] for row in other]
    assert published == measured(root, both=False)
    assert {row["mode"] for row in rows} == {"hybrid", "semantic", "lexical", "symbol"}
    lexical = [[row["ndcg_at_10"] for row in side if row["mode"] == "lexical"] for side in (published, other)]
    assert lexical[0] == lexical[1]  # no vector counts there


def test_the_other_side_is_what_an_index_with_it_measures(tmp_path: Path) -> None:
    sides = []
    for name, diffused in (("plain", False), ("mixed", True)):
        root = make_repository(tmp_path / name / "parcels")
        index_path(root, overrides={"diffusion": {"enabled": diffused}})
        sides.append({json.dumps(row) for row in measured(root, both=True)})
    assert sides[0] == sides[1]


def test_the_command_writes_what_it_answers(indexed: Path) -> None:
    process = strata(indexed, "eval", "--ways", "--json", "--output", "figures.json")
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    answered, written = json.loads(output), json.loads((indexed / "figures.json").read_text())
    assert {row["diffusion"] for row in answered["runs"]} == {False, True}
    assert written == {"method": "strata eval", **{name: written[name] for name in ("version", "date")}, **answered}
