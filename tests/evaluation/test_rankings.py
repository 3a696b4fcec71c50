from __future__ import annotations

from pathlib import Path

from tests.evaluation.rankings import GOLDEN, rankings


def test_the_sample_is_ranked_as_it_was(tmp_path: Path) -> None:
    """A change that is meant: `python -m tests.evaluation.rankings`, and look at the diff."""
    assert rankings(tmp_path).splitlines() == GOLDEN.read_text("utf-8").splitlines()
