from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.records import Content, ListedFile, SkipReason, Staleness
from pipelines.retrieval import Answer, Query
from pipelines.serving.cli import main
from pipelines.serving.cli.hits import answer_lines
from pipelines.serving.cli.tables import size
from pipelines.serving.render import worst
from pipelines.store import Pointer
from tests.serving.fake_host import (
    COMMIT,
    FAILED,
    PASSED,
    POINTER,
    WARNED,
    FakeHost,
    FakeSearcher,
    make_hit,
    make_listing,
    make_outcome,
    make_status,
)


def shown(arguments: list[str], host: FakeHost, capsys: pytest.CaptureFixture[str]) -> str:
    main(arguments, host)
    return capsys.readouterr().out


def document(arguments: list[str], host: FakeHost, capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(shown([*arguments, "--json"], host, capsys))


def test_a_hit_is_named_by_path_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(["query", "retry"], FakeHost(), capsys).splitlines() == [
        " 1  orders/retry.py:14  with_retry  function  0.0484",
        "    def with_retry(call, attempts=3):",
        "        delay = backoff(attempts)",
    ]


def test_hits_of_several_repositories_name_theirs(capsys: pytest.CaptureFixture[str]) -> None:
    host = FakeHost(searcher=FakeSearcher((make_hit(), make_hit(2, repo="other", symbol=""))))
    heads = [row for row in shown(["query", "retry"], host, capsys).splitlines() if row.startswith(" ")]
    assert "[sample]" in heads[0]
    assert any("[other]  function" in row for row in heads)


def test_what_was_asked_for_is_marked() -> None:
    hit = make_hit(excerpt="def with_retry(call): return Retry, retries")
    answer = Answer(Query("how to RETRY"), (hit,), {}, {})
    marked = [text for parts in answer_lines(answer) for text, style in parts if style == "bold yellow"]
    assert marked == ["retry", "Retry", "retries"]


def test_explain_shows_terms_and_what_was_inactive(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(["query", "retry", "--explain"], FakeHost(), capsys)
    for part in (
        "lexical",
        "0.0161",
        "distance in bits",
        "blast is inactive: it is the same",
        "candidates: lexical 12",
    ):
        assert part in text
    explained = document(["query", "retry", "--explain"], FakeHost(), capsys)
    assert explained["inactive"] == {"blast": "it is the same for every row"}
    assert explained["analysis"] == {"keywords": ["retry"]}


def test_expansion_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(["query", "retry", "--expand", "neighbors"], FakeHost(), capsys)
    for part in ("orders/checkout.py:40  place_order  caller", "all callers", "and 4 more"):
        assert part in text


def test_several_repositories_are_as_stale_as_the_stalest(capsys: pytest.CaptureFixture[str]) -> None:
    states = {"sample": Staleness.UNKNOWN, "other": Staleness.STALE}
    pointers = {"sample": POINTER, "other": Pointer("b", "", True, "", ())}
    host = FakeHost(pointers=pointers, staleness=states)
    found = document(["query", "retry"], host, capsys)
    assert (found["generation"], found["commit"], found["staleness"]) == (None, None, "stale")
    assert [item["repo"] for item in found["repositories"]] == ["other", "sample"]
    main(["query", "retry"], host)
    assert "run `strata index` (other)" in capsys.readouterr().err
    assert worst([Staleness.FRESH, Staleness.UNKNOWN]) == Staleness.UNKNOWN


def test_hostile_excerpts_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    host = FakeHost(searcher=FakeSearcher((make_hit(path="a\udcff.py", excerpt="\x1b[2Jgone\rover"),)))
    text = shown(["query", "x"], host, capsys)
    assert "\x1b" not in text
    assert "\r" not in text
    assert "a\\udcff.py:14" in text
    assert document(["query", "x"], host, capsys)["hits"][0]["excerpt"] == "\x1b[2Jgone\rover"


def test_a_file_name_does_not_forge_a_hit(capsys: pytest.CaptureFixture[str]) -> None:
    forged = "zz\n 2  trusted.py:1  admin_check  function  99.py"
    host = FakeHost(searcher=FakeSearcher((make_hit(path=forged, excerpt="if x:\n\tgo()"),)))
    lines = shown(["query", "x"], host, capsys).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(" 1  zz\\x0a 2  trusted.py:1")
    assert lines[2] == "    \tgo()"


def test_a_score_that_is_no_number_is_a_fault_not_a_bad_document(capsys: pytest.CaptureFixture[str]) -> None:
    host = FakeHost(searcher=FakeSearcher((make_hit(score=float("nan")),)))
    assert main(["query", "x", "--json"], host) == 2
    assert json.loads(capsys.readouterr().out)["error"] == "ValueError"


def test_index_sums_up_and_names_the_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(["index"], FakeHost(), capsys)
    for part in (
        "3 left out: 1 binary, 2 denied",
        "200 reused, 60 embedded",
        "4 computed, 12 reused",
        "1 passed, 0 failed",
        "symbols 0.4, chunks 0.2",
        'next: strata query "..."',
    ):
        assert part in text


def test_nothing_changed_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = make_outcome(stages={}, buckets_computed=0, buckets_reused=16)
    assert shown(["index"], FakeHost(outcome=outcome), capsys) == (
        f"sample at {COMMIT[:12]} is up to date: 41 files, 260 chunks\n"
    )


def test_what_is_unusual_about_an_index_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    unusual = {"quarantined_pieces": 2, "quarantined_files": 1, "store": "/srv/strata"}
    for outcome in (make_outcome(**unusual), make_outcome(**unusual, stages={}, buckets_computed=0)):
        text = shown(["index"], FakeHost(outcome=outcome), capsys)
        assert 'secrets  2 pieces of 1 file left out; write "strata: allow-secret"' in text
        assert "store    /srv/strata" in text
    assert "secret" not in shown(["index"], FakeHost(), capsys)
    statuses = [make_status(counts={"quarantined": 1})]
    assert "sample: 1 piece left out for a secret;" in shown(["status"], FakeHost(statuses=statuses), capsys)


def test_an_index_that_is_not_published_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    host = FakeHost(outcome=make_outcome(published=False, checks=[PASSED, FAILED, WARNED]))
    assert main(["index"], host) == 1
    captured = capsys.readouterr()
    assert f"✗ checksums of binary_codes: {FAILED.message}" in captured.out
    assert "next:" not in captured.out
    assert "not published" in captured.err


def test_an_index_of_nothing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index"], FakeHost(outcome=make_outcome(files_indexed=0))) == 0
    captured = capsys.readouterr()
    assert "no file was indexed" in captured.err
    assert "next:" not in captured.out


def left_out(path: str, reason: SkipReason, detail: str = "") -> ListedFile:
    return ListedFile(path, "", 0, "", "", Content.TEXT, reason, detail)


def test_a_dry_run_sums_up_by_reason(capsys: pytest.CaptureFixture[str]) -> None:
    files = [ListedFile(f"{number}.py", "b", 9, "python", "", Content.CODE) for number in range(3)]
    files += [left_out(f"{number}.png", SkipReason.UNSUPPORTED, "no language known for .png") for number in range(12)]
    files += [left_out(f"{number}.gif", SkipReason.UNSUPPORTED, "no language known for .gif") for number in range(2)]
    files += [
        left_out(f"odd.{number}", SkipReason.UNSUPPORTED, f"no language known for .{number}") for number in range(5)
    ]
    files += [left_out("a/link", SkipReason.SYMLINK), ListedFile("NOTES", "b", 9, "", "", Content.DOCS)]
    host = FakeHost(listed=make_listing(*files, warnings=(".gitignore, line 1: odd",)))
    assert main(["index", "--dry-run"], host) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "sample at 4f2d0c1b9a8e: 4 files would be indexed, 20 left out",
        "  indexed  4  python 3, docs 1",
        "  left out     files  most of them",
        "  unsupported     19  no language known for .png: 12, no language known for .gif: 2, odd.0, odd.1, and 3 more",
        "  symlink          1  a/link",
        "next: strata index --dry-run --reason unsupported lists them, --verbose every file",
    ]
    assert captured.err == "warning: .gitignore, line 1: odd\n"


def test_a_dry_run_lists_every_file_by_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--dry-run", "--verbose"], FakeHost()) == 0
    assert capsys.readouterr().out.splitlines() == ["denied   .env  (.env)", "indexed  orders/retry.py"]


@pytest.mark.parametrize(("reason", "path"), [("denied", ".env"), ("indexed", "orders/retry.py")])
def test_a_dry_run_lists_the_files_of_a_reason(capsys: pytest.CaptureFixture[str], reason: str, path: str) -> None:
    assert main(["index", "--dry-run", "--reason", reason], FakeHost()) == 0
    assert path in (shown := capsys.readouterr().out)
    assert shown.count("\n") == 1
    assert main(["index", "--dry-run", "--reason", reason, "--json"], FakeHost()) == 0
    document = json.loads(capsys.readouterr().out)
    assert [file["path"] for file in document["listing"]] == [path]
    assert document["files"] == {"indexed": 1, "skipped": {"denied": 1}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dry-run", "--reason", "odd"], "'odd' is not one of indexed, excluded, "),
        (["--verbose"], "--verbose and --reason are for --dry-run"),
        (["--reason", "binary"], "--verbose and --reason are for --dry-run"),
    ],
)
def test_options_of_a_dry_run_are_checked(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["index", *arguments], FakeHost()) == 2
    assert message in capsys.readouterr().err


def test_a_dry_run_of_nothing_is_1(capsys: pytest.CaptureFixture[str]) -> None:
    skipped = ListedFile("a\udcff", "", 3, "", "", Content.TEXT, SkipReason.PATH_NOT_UTF8)
    host = FakeHost(listed=make_listing(skipped))
    assert main(["index", "--dry-run", "--json"], host) == 1
    (file,) = json.loads(capsys.readouterr().out)["listing"]
    assert (file["path"], file["skip_reason"]) == ("a\\udcff", "path_not_utf8")


def test_the_places_in_quarantine_are_listed_up_to_a_bound(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(["status", "--quarantine"], FakeHost(), capsys).splitlines() == [
        "sample: 1 aws-key, 1 private-key",
        "  deploy/keys.py:12-15  private-key",
        "  run.sh:3              aws-key",
        'write "strata: allow-secret" on a line to allow it, if it holds none',
    ]
    rows = shown(["status", "--quarantine", "--limit", "1"], FakeHost(), capsys).splitlines()
    assert rows[2] == "  and 1 more; --limit tells how many are listed"
    assert main(["status", "--limit", "1"], FakeHost()) == 2


def test_status_is_a_table_with_messages(capsys: pytest.CaptureFixture[str]) -> None:
    missing = make_status(repo="new", state="missing", pointer=None, counts={}, encoder=None, message="never indexed")
    dirty = make_status(pointer=Pointer(POINTER.generation, COMMIT, True, POINTER.published_at, ()))
    rows = shown(["status"], FakeHost(statuses=[dirty, missing]), capsys).splitlines()
    assert rows[0].startswith("repository  state")
    assert f"{COMMIT[:12]}+" in rows[1]
    assert rows[2].startswith("new         missing  -")
    assert rows[3] == "new: never indexed"


def test_repositories_are_added_and_removed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    host = FakeHost()
    assert "next: strata index" in shown(["repos", "add", "other", str(tmp_path)], host, capsys)
    added = document(["repos", "add", "other", str(tmp_path), "--rev", "main"], host, capsys)["repository"]
    assert (added["repo"], added["rev"], added["generation"], added["encoder"]) == ("other", "main", None, None)
    assert shown(["repos", "remove", "other"], host, capsys) == "removed other\n"
    assert host.asked == ["other"]
    assert "working tree" in shown(["repos", "list"], host, capsys)


def test_checks_are_marked_and_failures_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"], FakeHost(checks=[PASSED, WARNED, FAILED])) == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "✓ row_order of chunks",
        f"! bit_balance of binary_codes: {WARNED.message}",
        f"✗ checksums of binary_codes: {FAILED.message}",
        "1 passed, 1 warned, 1 failed",
    ]
    assert "strata index --full" in captured.err
    several = [PASSED, replace(PASSED, repo="other")]
    assert shown(["check"], FakeHost(checks=several), capsys).splitlines()[1:] == [
        "✓ other: row_order of chunks",
        "2 passed, 0 failed",
    ]
    assert document(["check"], FakeHost(checks=[PASSED, FAILED]), capsys)["passed"] is False


def test_garbage_is_told_in_units(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(["gc"], FakeHost(), capsys).startswith("removed: generations 2, artifacts 31, run records 5, 1.2 MB")
    assert shown(["gc", "--dry-run"], FakeHost(), capsys).startswith("would remove")
    assert [size(count) for count in (0, 999, 1000, 5 * 10**15)] == ["0 bytes", "999 bytes", "1.0 kB", "5000.0 TB"]
