"""Section C of the reported faults: ignore rules. Each test builds the input and states what is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from assets_defs import upkeep
from pipelines.settings import parse_settings
from resources.environment import Environment
from tests.assets_defs.builders import DAGSTER_S_OWN, index_path, workspace_of
from tests.cases.builders import CONFIG, Built, index, make_case, paths_in
from tests.cases.test_paths import git_says
from tests.discover.git_repository import commit, git, indexed, listing_of, make_repository, skipped, write
from tests.serving.builds import SETTINGS, build, publish

pytestmark = pytest.mark.filterwarnings(*DAGSTER_S_OWN)
Capture = pytest.CaptureFixture[str]


def test_a_broken_ignore_file_costs_its_broken_lines_alone(tmp_path: Path) -> None:
    """6"""
    root = make_repository(tmp_path / "r", {".gitignore": b"*.log\n\xff\xfe\x00caf\xe9/\n", "a.py": "a = 1\n"})
    write(root, {"x.log": "x\n"})
    listing = listing_of(root)
    assert {file.path for file in listing.files} == git_says(root) == {"a.py", ".gitignore"}
    assert listing.warnings == (
        ".gitignore, line 2: a NUL byte, git reads the pattern up to it; not UTF-8, it can match no path that is",
    )


def test_rules_of_nested_files_are_git_s(tmp_path: Path) -> None:
    """30"""
    files = {".gitignore": "dist/\n", "webapp/.gitignore": ".output\n", "cap/.gitignore": "/deps/\n"}
    root = make_case(tmp_path, files)
    write(root, dict.fromkeys(("webapp/.output/o.js", "cap/deps/c.js", "deps/d.js", "dist/x.js"), "x = 1\n"))
    case = index(root)
    assert set(case.files) == git_says(root)
    assert {path for path in case.files if path.endswith(".js")} == {"deps/d.js"}


def test_what_is_tracked_counts_although_a_pattern_matches_it(tmp_path: Path, capsys: Capture) -> None:
    """32"""
    root = make_repository(tmp_path / "parcels", {".gitignore": "*.txt\n/*\n!/*/\n"})
    write(root, {"keep.txt": "kept sentence\n", "README.md": "# Forced readme\n", "other.txt": "o\n"})
    git(root, "add", "-f", "keep.txt", "README.md")
    git(root, "commit", "-qm", "forced")
    write(root, {"strata.toml": CONFIG})
    case = index(root)
    assert set(case.files) == {"keep.txt", "README.md"}
    assert case.hits(capsys, "forced readme")[0]["path"] == "README.md"


def test_an_invalid_pattern_disables_itself_alone(tmp_path: Path) -> None:
    """33"""
    for name in (".gitignore", ".strataignore"):
        root = make_repository(tmp_path / name, {name: "/**/[a-\n*.tmp.py\nfoo{\nsecret/\n"})
        write(root, {"x.tmp.py": "x = 1\n", "secret/s.py": "s = 1\n", "ok.py": "o = 1\n", "foo{": "f\n"})
        listing = listing_of(root)
        assert indexed(listing) >= {"ok.py"}
        assert not {"x.tmp.py", "secret/s.py"} & indexed(listing)
        assert listing.warnings == (f"{name}, line 1: '[' is never closed, so the pattern matches nothing",)


def test_global_excludes_count_as_in_git_status_and_a_gitignore_at_home_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """34"""
    home = {".gitconfig": "[include]\npath=inc\n", "inc": "[core]\nexcludesFile=~/gx\n", "gx": "*.sql\n"}
    write(tmp_path / "home", {**home, ".gitignore": "*.py\n"})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    root = make_repository(tmp_path / "any/repo", {})
    write(root, {"a.py": "a = 1\n", "b.sql": "select 1;\n"})
    assert {file.path for file in listing_of(root).files} == git_says(root) == {"a.py"}


def test_an_edit_of_a_nested_ignore_file_alone_counts(tmp_path: Path) -> None:
    """35"""
    root = make_case(tmp_path, {"a.py": "def a(): pass\n"})
    write(root, {"sub/x.py": "def x(): return a()\n"})
    first = index(root)
    assert "sub/x.py" in paths_in(first.store, "parcels")
    write(root, {"sub/.gitignore": "x.py\n"})
    (status,) = upkeep.status(Environment(root), ())
    assert status.state == "stale"
    publish(first.store, build(root, first.store, SETTINGS, "parcels"), keep=1)
    assert "sub/x.py" not in paths_in(first.store, "parcels")
    (root / "sub/.gitignore").unlink()
    plan = build(root, first.store, SETTINGS, "parcels")
    assert plan.generation == first.plan.generation
    assert "sub/x.py" in {row["path"] for row in Built(root, first.store, plan).symbols}


def test_excludes_hold_for_every_run_and_question(tmp_path: Path) -> None:
    """36: they are settings of the repository, not flags of one run."""
    excludes = 'exclude = ["node_modules", "public/**"]\n'
    files = dict.fromkeys(("node_modules/m.js", "public/a/p.js", "src/node_modules/n.js", "src/s.js"), "x = 1\n")
    root = make_repository(
        tmp_path / "parcels", {**files, "strata.toml": CONFIG.replace("[embedder]", f"{excludes}[embedder]")}
    )
    assert index_path(root).files_skipped == {"excluded": 3}
    assert upkeep.status(Environment(root), ())[0].state == "ready"
    second = index_path(root)
    assert (second.files_skipped, second.buckets_computed) == ({"excluded": 3}, 0)


def test_flags_that_a_run_leaves_out_are_told(tmp_path: Path) -> None:
    """36"""
    root = make_repository(tmp_path / "parcels", {"a.py": "a = 1\n", "b.md": "# B\n", "strata.toml": CONFIG})
    first = index_path(root, overrides={"index": {"content": "docs"}})
    assert (first.files_skipped, first.warnings) == ({"content": 2}, ())
    assert upkeep.status(Environment(root), ())[0].state == "ready"
    second = index_path(root)
    assert second.warnings == ('the run before had index.content = "docs"; now it is "all"',)
    assert index_path(root).warnings == ()
    assert index_path(root, rev="HEAD").warnings == ()
    assert index_path(root).warnings == ("the run before was of revision HEAD; this one is of the working tree",)


def test_an_exclude_pattern_that_can_match_nothing_is_told(tmp_path: Path) -> None:
    """33"""
    root = make_repository(tmp_path / "r", {"a.py": "a = 1\n", "b.py": "b = 1\n"})
    listing = listing_of(root, exclude=("[a-", "b.py"), include=("*.py", "x\\"))
    assert indexed(listing) == {"a.py"}
    assert listing.warnings == (
        "index.include, 'x\\\\': it ends with a backslash, so the pattern matches nothing",
        "index.exclude, '[a-': '[' is never closed, so the pattern matches nothing",
    )


def test_ignore_files_of_every_kind_name_their_broken_lines(tmp_path: Path) -> None:
    """6, 33"""
    root = make_repository(tmp_path / "r", {"sub/a.py": "a = 1\n", "sub/deep/b.py": "b = 1\n"})
    (root / ".git/info/exclude").write_text("# comment [\n\nfine\nbad[\n")
    write(root, {"sub/.gitignore": ".gitignore\n!x[\r\n", "sub/deep/.strataignore": b"\xff\n"})
    assert listing_of(root).warnings == (
        ".git/info/exclude, line 4: '[' is never closed, so the pattern matches nothing",
        "sub/.gitignore, line 2: '[' is never closed, so the pattern matches nothing",
        "sub/deep/.strataignore, line 1: not UTF-8, it can match no path that is",
    )
    commit(root)
    assert listing_of(root, rev="HEAD").warnings == (
        "sub/deep/.strataignore, line 1: not UTF-8, it can match no path that is",
    )
    assert skipped(listing_of(root)) == {"sub/deep/.strataignore": "unsupported"}


def test_a_setting_of_the_wrong_kind_is_refused() -> None:
    """36"""
    with pytest.raises(Exception, match=r"index\.exclude = 'a' must be a list"):
        parse_settings('[index]\nexclude = "a"\n', "strata.toml")


def test_warnings_reach_the_summary_and_both_documents(tmp_path: Path) -> None:
    """6, 33"""
    root = make_repository(tmp_path / "parcels", {".gitignore": "bad[\n", "a.py": "a = 1\n", "strata.toml": CONFIG})
    assert index_path(root).warnings == (".gitignore, line 1: '[' is never closed, so the pattern matches nothing",)
    assert workspace_of(root).plan("parcels").listing.warnings == index_path(root).warnings
