from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.chunking import build_chunks
from pipelines.errors import ArtifactMismatch, SourceMoved
from pipelines.identity import make_id
from pipelines.progress import Silent
from tests.chunking.builders import REPO, ROOT, SMALL, Bucket, make_bucket, secret_at

SAMPLE = ROOT / "data/sample"
ONE = "def one():\n    return 1\n"


def sample_bucket(folder: Path) -> Bucket:
    bucket = make_bucket(folder)
    bucket.contents = {
        path.relative_to(SAMPLE).as_posix(): path.read_bytes() for path in SAMPLE.rglob("*") if path.is_file()
    }
    return bucket


def checksums(bucket: Bucket) -> dict[str, str]:
    return {name: item["blake2b"] for name, item in bucket.artifact("chunks").manifest["files"].items()}


def test_rows_are_in_id_order_and_counted(tmp_path: Path) -> None:
    bucket = sample_bucket(tmp_path)
    report = bucket.build()
    rows = bucket.chunks()
    ids = [row["chunk_id"] for row in rows]
    assert ids == sorted(set(ids))
    assert report.rows == report.computed == len(rows)
    assert report.reused == 0
    assert report.extra["files"] == len(bucket.contents)
    assert sum(report.extra["kinds"].values()) == len(rows)
    assert report.extra["chars_max"] == max(len(row["text"]) for row in rows) <= 3_000
    counts = bucket.artifact("chunks").counts
    assert (counts["rows"], counts["files"], counts["kinds"]) == (
        len(rows),
        len(bucket.contents),
        report.extra["kinds"],
    )


def test_every_line_of_the_sample_is_in_some_row(tmp_path: Path) -> None:
    bucket = sample_bucket(tmp_path)
    bucket.build()
    shown = {(row["path"], line) for row in bucket.chunks() for line in row["text"].split("\n")}
    lines = {(path, line) for path, data in bucket.contents.items() for line in data.decode().split("\n")}
    assert {(path, line.rstrip()) for path, line in lines if line.strip()} <= shown


def test_part_zero_of_a_symbol_has_the_id_of_the_symbol(tmp_path: Path) -> None:
    bucket = sample_bucket(tmp_path)
    bucket.build()
    symbols = set(bucket.artifact("symbols").table("symbols.parquet")["symbol_id"].to_pylist())
    shown = [row for row in bucket.chunks() if row["symbol_id"] is not None]
    assert {row["chunk_id"] for row in shown if row["part"] == 0} == symbols
    assert {row["symbol_id"] for row in shown} == symbols


def test_nothing_changed_reads_nothing(tmp_path: Path) -> None:
    bucket = sample_bucket(tmp_path)
    bucket.build()
    report = bucket.build()
    assert (report.built, bucket.reads, report.reused) == (False, [], report.rows)


def test_unchanged_files_are_not_read_and_the_artifact_is_the_same_as_from_scratch(tmp_path: Path) -> None:
    bucket = sample_bucket(tmp_path / "a")
    bucket.secrets["orders/retry.py"] = [(0, 10, "token")]
    bucket.build()
    bucket.contents["orders/cart.py"] += b"\n\ndef added():\n    return 1\n"
    del bucket.contents["scanner/barcode.h"]
    report = bucket.build()
    assert bucket.reads == ["orders/cart.py"]
    assert 0 < report.computed < report.reused
    scratch = sample_bucket(tmp_path / "b")
    scratch.contents, scratch.secrets = bucket.contents, bucket.secrets
    again = scratch.build()
    assert checksums(scratch) == checksums(bucket)
    assert again.skipped == report.skipped
    assert again.extra == report.extra
    assert scratch.artifact("chunks").counts == bucket.artifact("chunks").counts


def test_rows_are_not_reused_across_settings_or_parsers(tmp_path: Path) -> None:
    bucket = make_bucket(tmp_path, a__py=ONE)
    bucket.build()
    bucket.grammars = "newer grammars"
    assert bucket.build().reused == 0
    bucket.settings = SMALL
    assert bucket.build().reused == 0


def test_file_that_moved_to_another_scope_or_language_is_chunked_again(tmp_path: Path) -> None:
    bucket = make_bucket(tmp_path, a__md="# A\n\nSome text that is long enough to stand alone.\n")
    bucket.build()
    bucket.languages = {}
    assert bucket.build().reused == 0
    assert [row["kind"] for row in bucket.chunks()] == ["window"]


def test_skipped_file_gives_no_row_and_loses_the_rows_it_had(tmp_path: Path) -> None:
    bucket = make_bucket(tmp_path, a__py=ONE, b__py=ONE)
    bucket.build()
    bucket.skipped.add("a.py")
    bucket.build()
    assert {row["path"] for row in bucket.chunks()} == {"b.py"}


def test_equal_files_have_rows_of_their_own_and_one_may_go(tmp_path: Path) -> None:
    bucket = make_bucket(tmp_path, x__py=ONE, y__py=ONE)
    bucket.build()
    assert {row["path"] for row in bucket.chunks()} == {"x.py", "y.py"}
    assert len({row["code_hash"] for row in bucket.chunks()}) == 1
    del bucket.contents["x.py"]
    bucket.build()
    assert {row["path"] for row in bucket.chunks()} == {"y.py"}


def test_blank_files_and_empty_buckets_make_an_empty_artifact(tmp_path: Path) -> None:
    bucket = make_bucket(tmp_path, ws__py="\n \t\n")
    report = bucket.build()
    assert (report.rows, report.skipped["blank"], report.extra["chars_mean"]) == (0, 0, 0.0)
    bucket.contents.clear()
    assert bucket.build().rows == 0


def test_quarantine_lists_lines_and_detectors_and_nothing_of_the_text(tmp_path: Path) -> None:
    text = "import os\n\nKEY = 'hunter2hunter2'\n"
    bucket = make_bucket(tmp_path, a__py=text)
    bucket.secrets["a.py"] = [secret_at(text, "hunter2hunter2", "password")]
    report = bucket.build()
    listed = bucket.artifact("chunks").table("quarantine.parquet").to_pylist()
    assert listed == [{"path": "a.py", "start_line": 3, "end_line": 3, "detector": "password"}]
    assert report.skipped == {"secret": 1}
    stored = b"".join(path.read_bytes() for path in bucket.artifact("chunks").folder.iterdir())
    assert b"hunter2" not in stored


def test_two_chunks_with_one_id_are_an_error_that_names_both(tmp_path: Path) -> None:
    bucket = make_bucket(tmp_path, a__py=f"{ONE}\n\ndef two():\n    return 2\n")
    bucket.symbol_edits = {"symbol_id": make_id(REPO, "a.py", "function", "one", 0)}
    with pytest.raises(ArtifactMismatch, match=r"function 'one' at a\.py:1 and function 'two' at a\.py:5"):
        bucket.build()


def test_file_that_is_text_no_longer_has_moved(tmp_path: Path) -> None:
    bucket = make_bucket(tmp_path, a__py=ONE)
    plan = bucket.plan()
    bucket.make_symbols(plan)
    bucket.contents["a.py"] = b"\0"
    with pytest.raises(SourceMoved, match=r"a\.py was text"):
        build_chunks(bucket.store, plan.targets["chunks"], bucket, bucket.settings, Silent())
