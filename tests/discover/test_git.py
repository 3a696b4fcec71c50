"""A repository is untrusted: nothing that it configures may run, be written, or reach outside."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from pipelines.discover import list_files, open_tree
from pipelines.discover.listing.git import find_repository
from pipelines.errors import InputError
from pipelines.settings import IndexSettings
from tests.discover.git_repository import commit, file_of, git, indexed, listing_of, make_repository, write


def hostile_repository(tmp_path: Path) -> tuple[Path, Path]:
    """Make a repository whose own configuration would create a marker file by every program that git might start."""
    root = make_repository(
        tmp_path / "repo", {"a.py": "a\n", "b.py": "b\n", ".gitattributes": "*.py filter=evil diff=evil\n"}
    )
    marker = tmp_path / "marker"
    script = tmp_path / "evil.sh"
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {marker}\ncat\n')
    script.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.pager",
        "core.sshCommand",
        "core.askPass",
        "core.editor",
        'filter.od=d " name.clean',
        "alias.ls-files",
        "core.alternateRefsCommand",
        "uploadpack.packObjectsHook",
    ):
        git(root, "config", key, str(script))
    git(root, "config", "filter.evil.required", "true")
    hooks = root / "evil-hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "reference-transaction", "pre-commit", "fsmonitor-watchman"):
        (hooks / name).symlink_to(script)
    git(root, "config", "core.hooksPath", str(hooks))
    for name in ("a.py", "b.py"):  # stat data differ, so that git has to compare the contents
        os.utime(root / name, (1, 1))
    write(root, {"b.py": "changed\n", "c.py": "new\n", ".strataignore": "evil-hooks\n"})
    marker.unlink(missing_ok=True)
    return root, marker


def test_no_program_of_the_repository_runs(tmp_path: Path) -> None:
    root, marker = hostile_repository(tmp_path)
    for rev in ("", "HEAD"):
        listing = list_files(root, "r", IndexSettings(), rev=rev)
        with open_tree(root, listing, rev=rev) as tree:
            contents = {file.path: tree.read(file) for file in listing.files if file.skip_reason is None}
        assert contents["b.py"] == (b"b\n" if rev else b"changed\n")
    assert not marker.exists()
    git(root, "-c", "filter.evil.required=false", "status")
    assert marker.exists()  # they do run when git is asked without care


def test_a_file_under_a_filter_is_indexed_as_it_is_on_disk(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {".gitattributes": "*.json filter=swap\n", "a.py": "a\n"})
    git(root, "config", "filter.swap.clean", "tr a-z A-Z")
    write(root, {"big.json": '{"x": "stored"}\n'})
    commit(root)
    assert git(root, "show", "HEAD:big.json") == '{"X": "STORED"}'
    listing = listing_of(root)
    with open_tree(root, listing) as tree:
        assert tree.read(file_of(listing, "big.json")) == b'{"x": "stored"}\n'
        assert tree.read(file_of(listing, "a.py")) == b"a\n"
    listing = listing_of(root, rev="HEAD")
    with open_tree(root, listing, rev="HEAD") as tree:
        assert tree.read(file_of(listing, "big.json")) == b'{"X": "STORED"}\n'


def test_variables_of_a_surrounding_git_command_have_no_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repository(tmp_path / "repo", {"a.py": "a\n"})
    other = make_repository(tmp_path / "other", {"stranger.py": "s\n"})
    for name, value in {
        "GIT_DIR": other / ".git",
        "GIT_WORK_TREE": other,
        "GIT_INDEX_FILE": other / ".git" / "index",
        "GIT_OBJECT_DIRECTORY": other / ".git" / "objects",
        "GIT_PREFIX": "x/",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_CONFIG_PARAMETERS": "'core.excludesfile=/nowhere'",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
    }.items():
        monkeypatch.setenv(name, str(value))
    assert {file.path for file in list_files(root, "r", IndexSettings(), deny=("x",)).files} == {"a.py"}
    assert len(list_files(root, "r", IndexSettings(), rev="HEAD").files) == 1


def test_a_work_tree_that_the_configuration_puts_elsewhere_is_refused(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"a.py": "a\n"})
    write(tmp_path / "private", {"p.py": "p\n"})
    git(root, "config", "core.worktree", str(tmp_path / "private"))
    with pytest.raises(InputError, match="not part of a git working tree"):
        listing_of(root)


def test_a_missing_object_of_a_partial_clone_is_not_fetched(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", {"a.py": "a\n", "b.py": "bb\n"})
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{origin}", "partial")
    partial = tmp_path / "partial"
    objects = sorted(path.name for path in (partial / ".git" / "objects").rglob("*"))
    with suppress(InputError):  # git before 2.44 gives up where it may not fetch
        assert not indexed(listing_of(partial, rev="HEAD"))
    assert sorted(path.name for path in (partial / ".git" / "objects").rglob("*")) == objects


def test_a_folder_of_another_owner_is_refused_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repository(tmp_path / "repo", {"a.py": "a\n"})
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own switch for this
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(InputError, match="belongs to another user") as caught:
        listing_of(root)
    assert "safe.directory" in caught.value.hint


def test_find_repository(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "re\npo", {"sub/a.py": "a\n"})
    assert find_repository(tmp_path) is None
    found = find_repository(root / "sub")
    assert found is not None
    assert (found.bare, found.object_format, found.prefix) == (False, "sha1", b"sub/")
    assert found.commit("HEAD") == git(root, "rev-parse", "HEAD")
    assert found.commit("nothing") == ""
