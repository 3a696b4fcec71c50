from __future__ import annotations

import base64

import dagster as dg

from assets_defs.metadata import bars, markdown_table, plain, range_metadata, report_metadata
from pipelines.artifacts import ArtifactRef
from pipelines.report import StageReport


def make_report(bucket: str, rows: int, **skipped: int) -> StageReport:
    report = StageReport(ArtifactRef("orders", "chunks", bucket, "f" * 32), rows=rows, computed=rows)
    report.skipped.update(skipped)
    return report


def test_an_artifact_that_was_there_already_shows_its_counts_too() -> None:
    report = StageReport(ArtifactRef("orders", "symbols", "b00", "f" * 32), rows=4, reused=4, built=False)
    shown = report_metadata(report, {"rows": 4, "symbols": 10, "calls": 23, "files_skipped": {}})
    assert shown["dagster/row_count"] == 10
    assert shown["files reused"] == 4
    assert shown["calls"] == 23
    assert "files skipped" not in shown


def test_what_is_told_of_a_whole_run_is_not_taken_for_the_partitions_own() -> None:
    reports = [make_report("b00", 3, blank=2), make_report("b01", 5)]
    own = [report_metadata(report, {"rows": report.rows}) for report in reports]
    assert "skipped" in own[0]
    assert "skipped" not in own[1]
    assert not set(range_metadata(reports)) & set(own[0])


def test_collections_are_markdown_and_the_rest_is_plain() -> None:
    table = plain([{"mode": "hybrid", "hit_at_1": 0.5}])
    assert isinstance(table, dg.MarkdownMetadataValue)
    assert "hit at 1" in table.value
    assert "0.500" in table.value
    assert plain(["a_b"]).value == "- `a_b`"
    assert plain(3) == 3


def test_a_cell_cannot_end_its_column() -> None:
    assert markdown_table(("key",), [("b00|orders",)]).splitlines()[-1] == "| b00\\|orders |"


def test_bars_are_labelled_and_survive_zeros() -> None:
    picture = bars([("b00", 0), ("b01", 0)])
    svg = base64.b64decode(picture.partition("base64,")[2].rstrip(")")).decode()
    assert svg.count("<rect") == 2
    assert ">b01</text>" in svg
