"""All hostile inputs of sections A to E in one repository: each costs itself alone, each is told with its reason."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pipelines.discover import open_tree, preview_files
from pipelines.progress import Silent
from pipelines.records import CheckResult
from pipelines.serving.checks import CHECKS, CheckScope, run_checks
from pipelines.settings import Settings, override, parse_settings
from tests.assets_defs.builders import DAGSTER_S_OWN, index_path
from tests.cases.builders import CONFIG, Built, chunks_of, index, make_case, make_files
from tests.cases.test_calls import ENVELOPE, MAILBOX
from tests.cases.test_parsing import BISON, MACROS, SVELTE, VUE
from tests.discover.git_repository import commit, git, make_repository, write
from tests.discover.test_workers import COMMAND
from tests.serving.builds import SETTINGS, document_of

pytestmark = pytest.mark.filterwarnings(*DAGSTER_S_OWN)
COUNT = 300
#: Hostile contents with what becomes of them: None is indexed, "" is not listed at all.
HOSTILE: dict[str, tuple[str | bytes, str | None]] = {
    # A: bytes
    "a/wide.py": ('def box():\n    """' + "x" * 99 + "\u2500" * 50 + '"""\n', None),
    "a/nul.py": ("def before(): pass\nx='\0'\ndef after(): return 1\n", "binary"),
    "a/far_nul.py": ("#" * 70_000 + "\nx='\0'\n", "binary"),
    "a/u16le.py": (b"\xff\xfe" + "def wide(): pass\n".encode("utf-16-le"), None),
    "a/u16be.py": (b"\xfe\xff" + "def wide(): pass\n".encode("utf-16-be"), None),
    "a/u16bare.py": ("def wide(): pass\n".encode("utf-16-le"), "binary"),
    "a/u16odd.py": (b"\xff\xfeabc", "undecodable"),
    "a/latin.py": (b"# caf\xe9\ndef latin_fn():\n    return '\xff'\n", None),
    "a/marked.py": (b"\xef\xbb\xbfdef marked(): pass\n", None),
    "a/.gitignore": (b"*.log\n\xff\xfe\x00caf\xe9/\n", "binary"),
    "a/x.log": ("ignored\n", ""),
    "a/cr.py": ("def a():\r    return 1\r\rdef b():\r    return 2\r", None),
    "a/mixed.py": ("def one():\r\n    return 1\ndef two():\n    return 2\r\n", None),
    "a/fits.py": ("# a word and another\n" * 24_966 + "def tail_fits(): pass\n", None),
    "a/large.py": ("#" * (4 << 20) + "\n", "too_large"),
    "a/.keep": ("", "unsupported"),
    "a/ws.py": ("\n \t\n", "empty"),
    "a/__init__.py": ("", "empty"),
    "a/c.md": ("<!-- -->\n", None),
    "a/app.min.js": ("a=function(){return 1};" * 100, "generated"),
    "a/bundle.mjs": ("a=function(){return 1};" * 40_000, "generated"),
    "a/icon.md": ("# Icon\n\n```yaml\nicon: data:image/svg+xml;base64," + "QUJD" * 3_000 + "\n```\n", None),
    # B: paths
    "b/\u4e2d\u6587\u76ee\u5f55/Bar.py": ("def Bar(): pass\n", None),
    "b/caf\u00e9.py": ("def composed(): pass\n", None),
    "b/cafe\u0301.py": ("def decomposed(): pass\n", None),
    "b/Util.py": ("def one(): pass\n", None),
    "b/util.py": ("def two(): pass\n", None),
    "b/dir\\x.py": ("def in_name(): pass\n", None),
    "b/new\nline.py": ("def lines(): pass\n", None),
    "b/-rf.py": ("def dashed(): pass\n", None),
    "b/:(top)x.py": ("def magic(): pass\n", None),
    os.fsdecode(b"b/caf\xe9.py"): ("def lost(): pass\n", "path_not_utf8"),
    "b/gone.py": ("def gone(): pass\n", "missing"),
    # C: ignore rules
    "c/.gitignore": ("/**/[a-\n*.tmp.py\nfoo{\nsecret/\n", None),
    "c/x.tmp.py": ("x = 1\n", ""),
    "c/secret/s.py": ("s = 1\n", ""),
    "c/.strataignore": ("gen/\n[\n", "unsupported"),
    "c/gen/g.py": ("g = 1\n", "strataignore"),
    # D: parsing
    "d/w.js": ("class W{ render(a){ function h(v){return v} return h(a) } h(a){return a+1} }\n", None),
    "d/m.c": (MACROS, None),
    "d/bison.c": (BISON, None),
    "d/C.vue": (b"\xef\xbb\xbf" + VUE.replace("\n", "\r\n").encode(), None),
    "d/S.svelte": (SVELTE, None),
    "d/b.ts": ("const a = <string>b; function q(){ return a }\n", None),
    "d/deep.py": ("x = " + "(" * 3_000 + "1" + ")" * 3_000 + "\n", None),
    "d/chain.js": ("a" + ".b()" * 2_000 + "\n", None),
    "d/deep.json": ("[" * 5_000 + "\n", None),
    "d/slow.py": ("def slow(): pass\n", "timed_out"),
    "d/boom.go": ("package boom\n", "crashed"),
    "d/broken.py": ("def broken(:\n    return ((\n", None),
    "d/s.swift": ("func swift() -> Int { return 1 }\n", None),
    "d/script": ("#!/usr/bin/env python3\ndef scripted(): pass\n", None),
    "d/notes": ("no first line\n", "unsupported"),
    "d/bad.ipynb": ('{"cells": [', "malformed"),
    # E: calls
    "e/fixture.py": ("def get(k): return k\ndef other(d): return d.get('x')\n", None),
    "e/Envelope.java": (ENVELOPE, None),
    "e/Mailbox.java": (MAILBOX, None),
}
LINKS = {"b/man": ".", "b/out": "/etc/hostname", "b/dangling": "missing", "b/alias.py": "util.py", "b/loop": "loop"}
GOOD = make_files(COUNT - len(HOSTILE) - len(LINKS))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The repository, indexed with a parser that one file kills and another keeps busy."""
    root = make_case(tmp_path_factory.mktemp("corpus"), GOOD)
    write(root, {path: content for path, (content, _) in HOSTILE.items()})
    for path, target in LINKS.items():
        (root / path).symlink_to(target)
    commit(root)
    (root / "b/gone.py").unlink()
    make_repository(root / "b/nested", {"n.py": "n = 1\n"})
    git(root, "worktree", "add", "-q", ".worktrees/f1")
    return index(root, override(SETTINGS, "index", file_timeout_s=2.0), parser=COMMAND)


def expected() -> dict[str, str | None]:
    hostile = {
        path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"): reason
        for path, (_, reason) in HOSTILE.items()
    }
    hostile = {path: reason for path, reason in hostile.items() if reason != ""}
    nested = dict.fromkeys(("b/nested", ".worktrees/f1"), "nested_repository")
    return {"strata.toml": None, **dict.fromkeys(GOOD), **hostile, **dict.fromkeys(LINKS, "symlink"), **nested}


def test_the_good_files_are_indexed_and_each_hostile_one_has_its_reason(corpus: Built) -> None:
    """97"""
    assert len(GOOD) + len(HOSTILE) + len(LINKS) == COUNT
    assert corpus.reasons() == expected()
    indexed = {path for path, reason in expected().items() if reason is None}
    assert {row["path"] for row in corpus.chunks} == indexed
    assert chunks_of(corpus.store, corpus.plan).num_rows == len(corpus.chunks)
    assert len([row for row in corpus.symbols if row["path"] in GOOD]) == len(GOOD)
    details = {row["path"]: row["skip_detail"] for row in corpus.files.values() if row["skip_reason"]}
    assert not [
        path
        for path, detail in details.items()
        if not detail and expected()[path] not in ("symlink", "empty", "path_not_utf8", "missing")
    ]


def test_its_ignore_files_are_told(corpus: Built) -> None:
    """6, 33, 97"""
    assert [warning.partition(":")[0] for warning in corpus.plan.listing.warnings] == [
        "a/.gitignore, line 2",
        "c/.gitignore, line 1",
        "c/.strataignore, line 2",
    ]


def test_a_dry_run_tells_what_the_run_did(corpus: Built, tmp_path: Path) -> None:
    """97: before the run all but the crash and the hang, after it these as well."""
    listing = corpus.plan.listing
    told = {}
    for full in (True, False):
        with open_tree(corpus.root, listing) as tree:
            preview = preview_files(corpus.plan, corpus.store, tree, Silent(), full=full)
        told[full] = {file.path: (file.skip_reason, file.skip_detail) for file in preview.files}
    done = {path: (row["skip_reason"], row["skip_detail"] or "") for path, row in corpus.files.items()}
    assert told[False] == done
    foretold = {path for path in done if told[True][path] != done[path]}
    assert foretold == {"d/slow.py", "d/boom.go"}


def failed(corpus: Built, share: float) -> dict[str, CheckResult]:
    settings = override(Settings(), "index", max_failed_share=share)
    scope = CheckScope.of(corpus.store, document_of(corpus.plan), settings)
    return {item.name: item for item in run_checks(scope, CHECKS) if not item.passed}


def test_too_large_a_share_of_lost_files_fails(corpus: Built) -> None:
    """97: 4 of some 290 files are lost to a fault; what is left out on purpose does not count."""
    reasons = list(expected().values())
    lost = [reason for reason in reasons if reason in ("undecodable", "malformed", "timed_out", "crashed")]
    wanted = len(lost) + reasons.count(None)
    assert len(lost) == 4
    assert not {"failed_files", "few_failed_files"} & failed(corpus, len(lost) / wanted).keys()
    result = failed(corpus, 0.01)["failed_files"]
    assert result.message == (
        f"4 of {wanted} files were lost to faults (1 crashed, 1 malformed, 1 timed_out, 1 undecodable), "
        "more than the 1% that index.max_failed_share allows"
    )


def test_a_repository_of_lost_files_is_not_published(tmp_path: Path) -> None:
    """97"""
    broken = {f"u{number}.py": b"\xff\xfeabc" for number in range(4)}
    root = make_repository(tmp_path / "parcels", {**broken, "ok.py": "def fine(): pass\n", "strata.toml": CONFIG})
    outcome = index_path(root)
    assert (outcome.published, outcome.files_skipped) == (False, {"undecodable": 4})
    assert [item.name for item in outcome.checks if not item.passed] == ["failed_files"]
    write(root, {"strata.toml": CONFIG.replace("[embedder]", "max_failed_share = 0.7\n[embedder]")})
    commit(root)
    outcome = index_path(root)
    assert outcome.published
    assert [item.name for item in outcome.checks if not item.passed] == ["few_failed_files"]


def test_a_share_is_a_share() -> None:
    """97"""
    for value in ("-0.1", "1.5"):
        with pytest.raises(Exception, match=rf"index\.max_failed_share = {value} is not allowed"):
            parse_settings(f"[index]\nmax_failed_share = {value}\n", "strata.toml")


def test_the_counts_of_a_run_add_up(corpus: Built) -> None:
    """60, 97"""
    counts = [corpus.store.open(bucket.targets["symbols"].ref).counts for bucket in corpus.plan.buckets.values()]
    skipped = sum(sum(item["files_skipped"].values()) for item in counts)
    assert sum(item["files_indexed"] for item in counts) + skipped == len(corpus.files)
    assert json.dumps(counts)
