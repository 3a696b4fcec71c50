"""Section B of the reported faults: paths, shapes of repositories. Each test builds the input, states what is right."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from assets_defs import upkeep
from pipelines.errors import InputError
from pipelines.records import SkipReason
from resources.deployment import deployment_to_query
from resources.environment import Environment
from resources.registry import Entry, Registered, Registry
from resources.repositories import key_for
from resources.workspace import Workspace
from tests.assets_defs.builders import DAGSTER_S_OWN, index_path, workspace_of
from tests.cases.builders import CONFIG, Built, Counting, index, make_case, paths_in
from tests.discover.git_repository import commit, git, indexed, listing_of, make_repository, skipped, write
from tests.serving.builds import SETTINGS, build

pytestmark = pytest.mark.filterwarnings(*DAGSTER_S_OWN)
Capture = pytest.CaptureFixture[str]


def git_says(root: Path) -> set[str]:
    return set(filter(None, git(root, "ls-files", "-z", "-co", "--exclude-standard").split("\0")))


def replace_by(registered: Registered) -> Callable[[Registered], Registered]:
    return lambda _: registered


def state_of(root: Path) -> str:
    (status,) = upkeep.status(Environment(root), ())
    return status.state


def test_paths_in_other_scripts_are_found_and_open_as_they_are_told(tmp_path: Path, capsys: Capture) -> None:
    """15"""
    case = index(
        make_case(
            tmp_path,
            {"src/english/Foo.py": "def Foo(): pass\n", "src/\u4e2d\u6587\u76ee\u5f55/Bar.py": "def Bar(): pass\n"},
        )
    )
    for name in ("Foo", "Bar"):
        path = case.hits(capsys, name)[0]["path"]
        assert (case.root / path).read_text() == f"def {name}(): pass\n"


def test_equal_looking_names_are_files_of_their_own(tmp_path: Path, capsys: Capture) -> None:
    """17: paths are compared byte for byte, as git compares them; docs/cli.md says so of --path."""
    composed, decomposed = "caf\u00e9.py", "cafe\u0301.py"
    root = make_case(tmp_path, {composed: "def composed(): pass\n", decomposed: "def decomposed(): pass\n"})
    case = index(root)
    assert {composed, decomposed} <= case.files.keys()
    for path, name in ((composed, "composed"), (decomposed, "decomposed")):
        assert [hit["symbol"] for hit in case.hits(capsys, name, "--path", path)] == [name]
    (root / decomposed).unlink()
    assert index(root).reasons() == {"strata.toml": None, composed: None, decomposed: "missing"}
    git(root, "rm", "-q", "--cached", decomposed)
    again = index(root)
    assert again.files.keys() == {"strata.toml", composed}
    assert {row["path"] for row in again.chunks} == {"strata.toml", composed}


def test_paths_that_differ_in_case_are_told_apart(tmp_path: Path, capsys: Capture) -> None:
    """18"""
    names = {"Util.py": "one", "util.py": "two", "stra\u00dfe.py": "three", "STRASSE.py": "four"}
    case = index(make_case(tmp_path, {path: f"def {name}(): pass\n" for path, name in names.items()}))
    ids = {row["symbol_id"] for row in case.symbols}
    assert len(ids) == len(case.symbols) == len(names)
    for path, name in names.items():
        assert case.hits(capsys, name)[0]["path"] == path
    made = {part.casefold() for file in case.store.root.rglob("*") for part in file.parts[len(case.store.root.parts) :]}
    assert not {"util", "util.py", "strasse", "strasse.py"} & made


def test_links_end_nowhere_and_double_nothing(tmp_path: Path, capsys: Capture) -> None:
    """19"""
    root = make_case(tmp_path, {"real.py": "def real(): pass\n"})
    (root / "py/lib").mkdir(parents=True)
    (root / "py/pyroot").mkdir()
    links = {
        "man": ".",
        "py/lib/pyroot": "../pyroot",
        "py/pyroot/lib": "../lib",
        "out": "/etc/hostname",
        "dangling": "missing",
        "alias.py": "real.py",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    case = index(root)
    assert {path: reason for path, reason in case.reasons().items() if reason} == dict.fromkeys(links, "symlink")
    assert [hit["path"] for hit in case.hits(capsys, "real", "--mode", "symbol")] == ["real.py"]


def test_linked_worktrees_inside_are_not_indexed_twice(tmp_path: Path, capsys: Capture) -> None:
    """20"""
    root = make_case(tmp_path, {"a.py": "def only_once(): return 0\n"})
    for number in range(2):
        write(root, {"a.py": f"def only_once(): return {number + 1}\n"})
        commit(root)
    git(root, "worktree", "add", "-q", ".worktrees/f1", "HEAD~1")
    git(root, "worktree", "add", "-q", ".worktrees/f2")
    case = index(root)
    assert {path for path, reason in case.reasons().items() if reason == "nested_repository"} == {
        ".worktrees/f1",
        ".worktrees/f2",
    }
    assert [hit["path"] for hit in case.hits(capsys, "only_once", "--mode", "symbol")] == ["a.py"]


def test_a_worktree_has_the_excludes_of_its_repository(tmp_path: Path) -> None:
    """21"""
    root = make_repository(tmp_path / "r", {"a.py": "a = 1\n"})
    (root / ".git/info/exclude").write_text("ignored.py\n")
    git(root, "worktree", "add", "-q", str(tmp_path / "w"))
    write(tmp_path / "w", {"ignored.py": "i = 1\n", "ok.py": "o = 1\n"})
    assert {file.path for file in listing_of(tmp_path / "w").files} == git_says(tmp_path / "w") == {"a.py", "ok.py"}


def test_a_sub_folder_is_never_widened(tmp_path: Path) -> None:
    """23"""
    outer = make_repository(tmp_path / "Dev", {"COOLIO/a.py": "def a(): pass\n", "OTHER/b.py": "def b(): pass\n"})
    write(outer, {"node_modules/m.js": "m\n", "COOLIO/strata.toml": CONFIG})
    outcome = index_path(outer / "COOLIO")
    assert (outcome.files_indexed, outcome.path) == (2, str(outer / "COOLIO"))
    assert paths_in(workspace_of(outer / "COOLIO").store, outcome.repo) == {"a.py", "strata.toml"}


def test_folders_of_one_name_are_repositories_of_their_own(tmp_path: Path) -> None:
    """24"""
    deploy = tmp_path / "deploy"
    write(deploy, {"strata.toml": CONFIG})
    first = make_repository(tmp_path / "r/a/app", {"a.py": "def first(): pass\n"})
    second = make_repository(tmp_path / "r/b/app", {"b.py": "def second(): pass\n"})
    git(first, "worktree", "add", "-q", str(tmp_path / "r/morse-34"))
    keys = []
    for root in (first, second, tmp_path / "r/morse-34"):
        workspace = Workspace(deployment_to_query(Environment(deploy)))
        keys.append(key_for(root, workspace.repositories))
        registered = workspace.registry.read().with_entry(keys[-1], Entry(root))
        workspace.registry.update(replace_by(registered))
    assert (keys[0], keys[2], len(set(keys))) == ("app", "morse-34", 3)
    assert keys[1].startswith("app-")
    again = Workspace(deployment_to_query(Environment(deploy)))
    assert [key_for(root, again.repositories) for root in (first, second, tmp_path / "r/morse-34")] == keys


def test_a_repository_that_is_moved_keeps_every_id(tmp_path: Path) -> None:
    """24: ids are made of the key and of paths below the root, never of where the root is."""
    case = index(make_case(tmp_path, {"a.py": "def a(): pass\n"}))
    moved = Path(shutil.move(case.root, tmp_path / "elsewhere"))
    assert index(moved).plan.generation == case.plan.generation


def test_a_repository_inside_is_a_boundary_with_its_own_ignore_rules(tmp_path: Path) -> None:
    """24"""
    outer = make_repository(tmp_path / "workspace", {"w.py": "w = 1\n"})
    app = make_repository(outer / "app", {".gitignore": "public/generated/\n", "a.py": "a = 1\n"})
    write(app, {"public/generated/g.py": "g = 1\n"})
    for root in (outer, tmp_path):
        assert not {path for path in indexed(listing_of(root)) if "app/" in path}
    assert skipped(listing_of(outer)) == {"app": SkipReason.NESTED_REPOSITORY}
    assert skipped(listing_of(tmp_path)) == {"workspace": SkipReason.NESTED_REPOSITORY}
    assert indexed(listing_of(app)) == {".gitignore", "a.py"}


def test_repositories_without_a_commit_cost_the_others_nothing(tmp_path: Path) -> None:
    """25"""
    unborn, lost, empty = tmp_path / "unborn", tmp_path / "lost", tmp_path / "empty"
    for root in (unborn, lost, empty):
        write(root, {"a.py": "def a(): pass\n"})
    git(unborn, "init", "-q")
    make_repository(lost, {})
    (lost / ".git/HEAD").write_text("ref: refs/heads/none\n")
    git(tmp_path, "init", "-q", "--bare", "bare")
    (empty / ".git").mkdir()
    make_repository(tmp_path / "healthy", {"h.py": "def h(): pass\n"})
    names = ("unborn", "lost", "bare", "empty", "healthy")
    lines = [f'[[repositories]]\nkey = "{name}"\npath = "{name}"\n' for name in names]
    write(tmp_path, {"strata.toml": CONFIG + "".join(lines)})
    outcomes = {}
    for name in names:
        try:
            outcome = index_path(tmp_path / name, tmp_path)
            outcomes[name] = f"{outcome.files_indexed} published" if outcome.published else "failed"
        except InputError as error:
            outcomes[name] = error.message.removeprefix(str(tmp_path))
    assert outcomes == {
        "unborn": "1 published",
        "lost": "1 published",
        "bare": "/bare has no commit yet",
        "empty": "1 published",
        "healthy": "1 published",
    }
    states = {item.repo: item.state for item in upkeep.status(Environment(tmp_path), ())}
    assert states == dict.fromkeys(names, "ready") | {"bare": "missing"}


def test_a_history_that_was_replaced_is_stale_never_fresh(tmp_path: Path) -> None:
    """26"""
    origin = make_repository(tmp_path / "origin", {"a.py": "def a(): pass\n", "strata.toml": CONFIG})
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{origin}", "parcels")
    root = tmp_path / "parcels"
    case = index(root)
    assert state_of(root) == "ready"
    write(origin, {"a.py": "def replaced(): pass\n"})
    git(origin, "commit", "-qa", "--amend", "-m", "another history")
    git(root, "fetch", "-q", "--depth", "1")
    git(root, "reset", "-q", "--hard", "FETCH_HEAD")
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "-q", "--prune=now")
    pointer = case.store.pointer("parcels")
    assert pointer is not None
    assert pointer.commit
    assert state_of(root) == "stale"
    git(root, "checkout", "-q", "--detach", "HEAD~0")
    assert listing_of(root).commit == git(root, "rev-parse", "HEAD")
    assert index(root).plan.generation != case.plan.generation
    assert state_of(root) == "ready"
    Registry(case.store.root).update(lambda content: content.with_entry("parcels", Entry(root, "no-such-branch")))
    assert state_of(root) == "unknown"


def test_a_folder_without_git_is_indexed_at_any_depth(tmp_path: Path, capsys: Capture) -> None:
    """27"""
    root = tmp_path / "plain"
    deep = "a/b/c/d/e/f/g/h.py"
    write(root, {deep: "def deep_one(): pass\n", "strata.toml": CONFIG})
    case = index(root)
    assert case.reasons() == {deep: None, "strata.toml": None}
    assert case.hits(capsys, "deep_one")[0]["path"] == deep


def test_what_is_not_checked_out_is_missing_and_comes_once(tmp_path: Path) -> None:
    """28"""
    root = make_case(tmp_path, {"x/a.py": "def a(): pass\n", "y/b.py": "def b(): pass\n", "f.py": "def f(): pass\n"})
    git(root, "sparse-checkout", "set", "x")
    case = index(root)
    assert {path: reason for path, reason in case.reasons().items() if reason} == {"y/b.py": "missing"}
    assert case.files["y/b.py"]["skip_detail"] == "not checked out"
    assert not case.plan.listing.dirty
    git(root, "sparse-checkout", "disable")
    counting = Counting()
    plan = build(root, case.store, SETTINGS, "parcels", progress=counting)
    assert counting.work["parsing"] == 1
    assert [row["path"] for row in Built(root, case.store, plan).symbols].count("y/b.py") == 1
    git(root, "update-index", "--skip-worktree", "f.py")
    (root / "f.py").unlink()
    listing = listing_of(root)
    assert (skipped(listing), listing.dirty) == ({"f.py": SkipReason.MISSING}, False)


def test_a_backslash_is_a_letter_of_a_name(tmp_path: Path, capsys: Capture) -> None:
    """29: a path filter is a glob over '/'-separated paths below the root, in which nothing is rewritten."""
    case = index(make_case(tmp_path, {"dir\\x.py": "def in_name(): pass\n", "dir/x.py": "def in_folder(): pass\n"}))
    assert {"dir\\x.py", "dir/x.py"} <= case.files.keys()
    for path in ("dir/x.py", "dir\\x.py"):
        assert {hit["path"] for hit in case.hits(capsys, "in_name in_folder", "--path", path)} == {path}


def test_names_that_mean_something_elsewhere_are_only_names(tmp_path: Path, capsys: Capture) -> None:
    """15, 29"""
    names = [
        "-rf.py",
        ":(top)x.py",
        "*.py",
        "[a].py",
        "new\nline.py",
        'quo"te.py',
        "a b .py",
        "~.py",
        "$HOME.py",
        "%s.py",
    ]
    case = index(make_case(tmp_path, {name: f"def odd_{place}(): pass\n" for place, name in enumerate(names)}))
    for place, name in enumerate(names):
        assert case.hits(capsys, f"odd_{place}")[0]["path"] == name


def test_a_path_that_is_no_text_is_told(tmp_path: Path) -> None:
    """15"""
    root = make_case(tmp_path, {"a.py": "def a(): pass\n"})
    (tmp_path / "parcels" / os.fsdecode(b"caf\xe9.py")).write_text("def lost(): pass\n")
    case = index(root)
    assert case.reasons()["caf\\xe9.py"] == "path_not_utf8"
