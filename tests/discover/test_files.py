from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pipelines.discover import list_files
from pipelines.errors import InputError
from pipelines.identity import path_hash
from pipelines.records import Content, SkipReason
from pipelines.settings import IndexSettings
from tests.discover.git_repository import (
    commit,
    file_of,
    git,
    indexed,
    listing_of,
    make_repository,
    skipped,
    write,
)


def git_says(root: Path) -> set[str]:
    return set(filter(None, git(root, "ls-files", "-z", "-co", "--exclude-standard").split("\0")))


def test_a_clean_tree_has_the_ids_of_git_and_the_order_of_path_hashes(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {f"d{i % 3}/f{i}.py": f"x = {i}\n" for i in range(40)})
    listing = listing_of(root)
    assert listing.repo == "repo"
    assert listing.commit == git(root, "rev-parse", "HEAD")
    assert not listing.dirty
    assert [path_hash(file.path) for file in listing.files] == sorted(path_hash(file.path) for file in listing.files)
    assert {file.path: file.blob_id for file in listing.files} == {
        path: git(root, "rev-parse", f"HEAD:{path}") for path in git_says(root)
    }
    assert file_of(listing, "d0/f0.py").size == 6
    assert file_of(listing, "d0/f0.py").language == "python"
    assert file_of(listing, "d0/f0.py").content is Content.CODE


def test_a_revision_and_a_bare_clone_list_what_the_clean_tree_lists(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.py": "a\n",
        "sub/b.md": "b\n",
        "sub/.strataignore": "gen\n",
        "sub/gen/c.py": "c\n",
        "empty.py": "",
        "picture.png": b"\x89PNG",
        "run": "#!/usr/bin/env python3\n",
        "notes": "no first line\n",
        "big.txt": "x" * 200,
        "packages/web/d.ts": "d\n",
    }
    root = make_repository(tmp_path / "work", files)
    (root / "link.py").symlink_to("a.py")
    (root / ".env").write_text("A=1\n")
    commit(root)
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(root), str(bare))
    options: dict[str, Any] = {"max_text_bytes": 100, "scopes": ("packages/*",), "exclude": ("picture*",)}
    tree = listing_of(root, deny=(".env",), **options)
    assert tree.files == listing_of(root, rev="HEAD", deny=(".env",), **options).files
    assert tree == listing_of(bare, deny=(".env",), **options)
    assert skipped(tree) == {
        "sub/.strataignore": SkipReason.UNSUPPORTED,
        "sub/gen/c.py": SkipReason.STRATAIGNORE,
        "empty.py": SkipReason.EMPTY,
        "picture.png": SkipReason.EXCLUDED,
        "notes": SkipReason.UNSUPPORTED,
        "big.txt": SkipReason.TOO_LARGE,
        "link.py": SkipReason.SYMLINK,
        ".env": SkipReason.DENIED,
    }
    assert file_of(tree, "run").language == "python"
    assert file_of(tree, "run").content is Content.CODE
    assert file_of(tree, "packages/web/d.ts").scope == "packages/web"


def test_an_older_revision_is_listed_as_it_was(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": "1\n"})
    first = git(root, "rev-parse", "HEAD")
    git(root, "tag", "v1")
    write(root, {"a.py": "2\n", "b.py": "2\n"})
    commit(root)
    listing = listing_of(root, rev="v1")
    assert (listing.commit, listing.dirty, indexed(listing)) == (first, False, {"a.py"})
    assert file_of(listing, "a.py").blob_id == git(root, "rev-parse", "v1:a.py")


def test_changed_staged_untracked_and_deleted_files(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {name: f"{name}\n" for name in ("same.py", "edited.py", "staged.py", "gone.py")})
    write(root, {"edited.py": "edited now\n", "staged.py": "staged now\n", "new/un tracked.py": "n\n"})
    git(root, "add", "staged.py")
    (root / "gone.py").unlink()
    listing = listing_of(root)
    assert listing.dirty
    assert indexed(listing) == {"same.py", "edited.py", "staged.py", "new/un tracked.py"}
    assert skipped(listing) == {"gone.py": SkipReason.MISSING}
    for path in indexed(listing):
        assert file_of(listing, path).blob_id == git(root, "hash-object", path)
    assert file_of(listing, "gone.py").blob_id == ""


def test_a_staged_change_alone_makes_the_tree_dirty_and_a_touched_file_does_not(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": "a\n", "b.py": "b\n"})
    os.utime(root / "a.py", (1, 1))
    assert not listing_of(root).dirty
    write(root, {"a.py": "c\n"})
    git(root, "add", "a.py")
    assert listing_of(root).dirty


def test_listing_leaves_the_index_of_the_user_alone(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": "a\n"})
    os.utime(root / "a.py", (1, 1))
    before = (root / ".git" / "index").read_bytes(), sorted(os.listdir(root / ".git"))
    listing_of(root)
    assert before == ((root / ".git" / "index").read_bytes(), sorted(os.listdir(root / ".git")))


def test_a_checkout_that_only_changed_line_ends_is_unchanged(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {f"f{i}.py": f"x = {i}\ny = 2\n" for i in range(50)})
    before = {file.path: file.blob_id for file in listing_of(root).files}
    git(root, "config", "core.autocrlf", "true")
    for path in before:
        (root / path).unlink()
    git(root, "checkout", "-q", ".")
    assert b"\r\n" in (root / "f1.py").read_bytes()
    listing = listing_of(root)
    assert {file.path: file.blob_id for file in listing.files} == before
    assert not listing.dirty
    for path in before:  # and so it stays when git has to compare the contents
        os.utime(root / path, (1, 1))
    assert {file.path: file.blob_id for file in listing_of(root).files} == before


def test_paths_in_other_scripts_with_quotes_newlines_and_magic_signs(tmp_path: Path) -> None:
    names = [
        "src/中文目录/Bar.py",
        'quo"te.py',
        "new\nline.py",
        ":top.py",
        ":(glob)x.py",
        "-rf.py",
        "dir\\x.py",
        "dir/x.py",
    ]
    names += [
        "caf\u00e9.py",
        "cafe\u0301.py",
        "Util.py",
        "util.py",
        " lead.py",
        "tab\t.py",
        "trail.py ",
        "*.py",
        "[a].py",
    ]
    root = make_repository(tmp_path, {name: f"{number}\n" for number, name in enumerate(names)})
    listing = listing_of(root, exclude=("nothing",), include=("**",), deny=("nothing",))
    assert {file.path for file in listing.files} == set(names)
    assert indexed(listing) == set(names) - {"trail.py "}
    assert listing.files == listing_of(root, rev="HEAD", exclude=("nothing",), include=("**",), deny=("nothing",)).files


def test_a_path_that_is_not_utf8_is_listed_as_skipped_under_a_name_of_its_own(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"caf\\xe9.py": "a\n"})
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("b\n")
    commit(root)
    for rev in ("", "HEAD"):
        listing = listing_of(root, rev=rev)
        assert indexed(listing) == {"caf\\xe9.py"}
        assert skipped(listing) == {"caf\\xe9.py?": SkipReason.PATH_NOT_UTF8}


def test_links_are_never_followed(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"real.py": "r\n", "folder/a.py": "a\n"})
    (tmp_path / "outside.py").write_text("o\n")
    for name, target in {
        "man": ".",
        "out.py": str(tmp_path / "outside.py"),
        "dangling.py": "missing",
        "alias.py": "real.py",
        "py/lib/pyroot": "../pyroot",
        "py/pyroot/lib": "../lib",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target)
    for _ in range(2):  # untracked, then tracked
        listing = listing_of(root)
        assert indexed(listing) == {"real.py", "folder/a.py"}
        assert set(skipped(listing).values()) == {SkipReason.SYMLINK}
        assert len(listing.files) == 8
        commit(root)


def test_a_tracked_folder_that_became_a_link_is_not_read_through_it(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"folder/sub/a.py": "a\n"})
    write(tmp_path, {"elsewhere/sub/a.py": "stolen\n"})
    (root / "folder" / "sub" / "a.py").unlink()
    (root / "folder" / "sub").rmdir()
    (root / "folder").rmdir()
    (root / "folder").symlink_to("../elsewhere")
    listing = listing_of(root)
    assert file_of(listing, "folder/sub/a.py").skip_reason is SkipReason.SYMLINK
    assert listing.dirty


def test_a_fifo_and_a_folder_in_the_place_of_a_file(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"pipe.py": "p\n", "folder.py": "f\n"})
    for name in ("pipe.py", "folder.py"):
        (root / name).unlink()
    os.mkfifo(root / "pipe.py")
    (root / "folder.py").mkdir()
    assert skipped(listing_of(root)) == {"pipe.py": SkipReason.NOT_A_FILE, "folder.py": SkipReason.NOT_A_FILE}


def test_worktrees_and_repositories_inside_are_boundaries(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"a.py": "1\n"})
    for number in range(2):
        write(root, {"a.py": f"{number}\n"})
        commit(root)
    git(root, "worktree", "add", "-q", ".worktrees/f1", "HEAD~1")
    git(root, "worktree", "add", "-q", ".worktrees/f2")
    make_repository(root / "workspace" / "app", {"b.py": "b\n"})
    make_repository(root / "fresh", {"c.py": "c\n"})
    listing = listing_of(root)
    assert indexed(listing) == {"a.py"}
    nested = {".worktrees/f1", ".worktrees/f2", "workspace/app", "fresh"}
    assert skipped(listing) == dict.fromkeys(nested, SkipReason.NESTED_REPOSITORY)
    assert indexed(listing_of(root / "workspace" / "app")) == {"b.py"}
    assert indexed(listing_of(root / ".worktrees" / "f1")) == {"a.py"}


def test_a_submodule_is_skipped_even_if_gitmodules_begins_with_a_byte_order_mark(tmp_path: Path) -> None:
    library = make_repository(tmp_path / "library", {"l.py": "l\n"})
    root = make_repository(tmp_path / "repo", {"a.py": "a\n"})
    git(root, "submodule", "--quiet", "add", str(library), "lib")
    (root / ".gitmodules").write_bytes(b"\xef\xbb\xbf" + (root / ".gitmodules").read_bytes())
    commit(root)
    for rev in ("", "HEAD"):
        listing = listing_of(root, rev=rev)
        assert file_of(listing, "lib").skip_reason is SkipReason.SUBMODULE
        assert indexed(listing) == {"a.py", ".gitmodules"}


def test_a_linked_worktree_has_the_excludes_of_its_repository(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"a.py": "a\n"})
    (root / ".git" / "info" / "exclude").write_text("ignored.py\n")
    linked = tmp_path / "w"
    git(root, "worktree", "add", "-q", str(linked))
    write(linked, {"ignored.py": "i\n", "ok.py": "o\n"})
    assert indexed(listing_of(linked)) == git_says(linked) == {"a.py", "ok.py"}


def test_a_sub_folder_is_never_widened_to_its_repository(tmp_path: Path) -> None:
    files = {
        "COOLIO/a.py": "a\n",
        "OTHER/b.py": "b\n",
        "top.py": "t\n",
        ".gitignore": "*.log\n",
        "COOLIO/.strataignore": "z*\n",
    }
    root = make_repository(tmp_path, files)
    write(root, {"COOLIO/new.py": "n\n", "COOLIO/x.log": "l\n", "COOLIO/z.py": "z\n", "OTHER/c.py": "c\n"})
    listing = listing_of(root / "COOLIO")
    assert indexed(listing) == {"a.py", "new.py"}
    assert listing.commit == git(root, "rev-parse", "HEAD")
    assert indexed(listing_of(root / "COOLIO", rev="HEAD")) == {"a.py"}
    git(root, "add", "COOLIO")
    git(root, "commit", "-qm", "folder")
    assert not listing_of(root / "COOLIO").dirty
    assert listing_of(root).dirty
    (root / "later").mkdir()
    with pytest.raises(InputError, match="has no folder later"):
        listing_of(root / "later", rev="HEAD")


def test_a_folder_that_its_repository_ignores_is_listed_when_it_is_given(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {".gitignore": "venv/\n"})
    write(root, {"venv/lib/m.py": "m\n", "venv/lib/.gitignore": "*.txt\n", "venv/lib/no.txt": "n\n"})
    assert indexed(listing_of(root / "venv" / "lib")) == {"m.py", ".gitignore"}
    assert "venv/lib/m.py" not in {file.path for file in listing_of(root).files}


def test_repositories_without_a_usable_head(tmp_path: Path) -> None:
    unborn = tmp_path / "unborn"
    unborn.mkdir()
    git(unborn, "init", "-q")
    broken = make_repository(tmp_path / "broken", {"a.py": "a\n"})
    (broken / ".git" / "HEAD").write_text("ref: refs/heads/none\n")
    garbage = make_repository(tmp_path / "garbage", {"a.py": "a\n"})
    (garbage / ".git" / "HEAD").write_text("what?\n")
    empty = tmp_path / "empty"
    (empty / ".git").mkdir(parents=True)
    for root in (unborn, broken, garbage, empty):
        write(root, {"a.py": "a\n"})
        listing = listing_of(root)
        assert (listing.commit, indexed(listing)) == ("", {"a.py"}), root
    bare = tmp_path / "bare"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    with pytest.raises(InputError, match="no commit yet"):
        listing_of(bare)


def test_a_shallow_clone_and_a_detached_head_are_listed_as_themselves(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", {"a.py": "1\n"})
    write(origin, {"a.py": "2\n"})
    commit(origin)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{origin}", "shallow")
    assert listing_of(tmp_path / "shallow").commit == git(origin, "rev-parse", "HEAD")
    git(origin, "checkout", "-q", "--detach", "HEAD~1")
    assert listing_of(origin).commit == git(origin, "rev-parse", "HEAD")


def test_a_plain_folder_has_the_ignore_rules_of_git(tmp_path: Path) -> None:
    deep = "a/b/c/d/e/f/g/h.py"
    files = {deep: "h\n", ".gitignore": "*.log\n", "x.log": "x\n", "a/.gitignore": "skip/\n", "a/skip/s.py": "s\n"}
    write(tmp_path, files)
    make_repository(tmp_path / "nested", {"n.py": "n\n"})
    listing = listing_of(tmp_path)
    assert (listing.commit, listing.dirty) == ("", False)
    assert indexed(listing) == {deep, ".gitignore", "a/.gitignore"}
    assert skipped(listing) == {"nested": SkipReason.NESTED_REPOSITORY}
    assert file_of(listing, deep).blob_id == git(tmp_path, "hash-object", deep)


def test_sparse_checkout_and_skip_worktree(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"x/a.py": "a\n", "y/b.py": "b\n", "z.py": "z\n"})
    whole = listing_of(root)
    git(root, "sparse-checkout", "set", "x")
    listing = listing_of(root)
    assert indexed(listing) == {"x/a.py", "z.py"}
    assert file_of(listing, "y/b.py").skip_reason is SkipReason.MISSING
    assert file_of(listing, "y/b.py").skip_detail == "not checked out"
    assert not listing.dirty
    git(root, "sparse-checkout", "disable")
    assert listing_of(root) == whole
    git(root, "update-index", "--skip-worktree", "z.py")
    (root / "z.py").unlink()
    assert skipped(listing_of(root)) == {"z.py": SkipReason.MISSING}


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_a_file_that_git_was_told_not_to_look_at_is_hashed(tmp_path: Path, flag: str) -> None:
    root = make_repository(tmp_path, {"a.py": "a\n"})
    git(root, "update-index", flag, "a.py")
    write(root, {"a.py": "other\n"})
    assert file_of(listing_of(root), "a.py").blob_id == git(root, "hash-object", "a.py")


def test_conflicts_and_intent_to_add_are_listed_once(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": "base\n"})
    git(root, "checkout", "-q", "-b", "other")
    write(root, {"a.py": "theirs\n"})
    commit(root)
    git(root, "checkout", "-q", "main")
    write(root, {"a.py": "ours\n"})
    commit(root)
    with pytest.raises(subprocess.CalledProcessError):
        git(root, "merge", "other")
    write(root, {"later.py": "l\n"})
    git(root, "add", "-N", "later.py")
    listing = listing_of(root)
    assert [file.path for file in listing.files if file.path == "a.py"] == ["a.py"]
    assert indexed(listing) == {"a.py", "later.py"}
    assert file_of(listing, "a.py").blob_id == git(root, "hash-object", "a.py")


def test_ignore_files_nested_odd_and_broken(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        ".gitignore": b"\xef\xbb\xbfsecret.py\ndist/\n*.log\n\xff\xfe\x00caf\xe9/\n/**/[a-\n*.tmp.py\nfoo{\nsecret/\n",
        "webapp/.gitignore": ".output\n",
        "cap/.gitignore": "/deps/\n",
    }
    root = make_repository(tmp_path, files)
    names = "a.py secret.py x.log dist/d.js webapp/.output/o.js cap/deps/c.js deps/d.js x.tmp.py secret/s.py ok.py"
    write(root, dict.fromkeys(names.split(), "x\n"))
    assert {file.path for file in listing_of(root).files} == git_says(root)
    assert {"a.py", "ok.py", "deps/d.js"} <= indexed(listing_of(root))
    assert not {"secret.py", "x.log", "secret/s.py", "x.tmp.py", "cap/deps/c.js"} & indexed(listing_of(root))


def test_tracked_files_count_although_a_pattern_ignores_them(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {".gitignore": "*.txt\n/*\n!/*/\n"})
    write(root, {"keep.txt": "k\n", "README.md": "r\n", "other.txt": "o\n"})
    git(root, "add", "-f", "keep.txt", "README.md")
    git(root, "commit", "-qm", "forced")
    assert {file.path for file in listing_of(root).files} == {"keep.txt", "README.md"}


def test_global_excludes_count_as_they_do_for_git_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    write(
        home,
        {
            ".gitconfig": "[include]\npath=inc\n",
            "inc": "[core]\nexcludesFile=~/gx\n",
            "gx": "*.sql\n",
            ".gitignore": "*.py\n",
        },
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    for root in (make_repository(tmp_path / "repo", {}), tmp_path / "plain"):
        write(root, {"a.py": "a\n", "b.sql": "b\n"})
        assert indexed(listing_of(root)) == {"a.py"}


def test_a_nested_ignore_file_that_changes_changes_the_listing(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": "a\n"})
    write(root, {"sub/x.py": "x\n"})
    assert "sub/x.py" in indexed(listing_of(root))
    write(root, {"sub/.gitignore": "x.py\n"})
    assert "sub/x.py" not in indexed(listing_of(root))
    write(root, {"sub/.gitignore": "\n"})
    assert "sub/x.py" in indexed(listing_of(root))


def test_strataignore_files_hold_back_tracked_files_and_name_themselves(tmp_path: Path) -> None:
    files = {".strataignore": "gen/\n*.pb.py\n", "sub/.strataignore": "!keep.pb.py\n/local.py\n", "gen/g.py": "g\n"}
    files |= dict.fromkeys(("a.pb.py", "sub/keep.pb.py", "sub/local.py", "sub/deep/local.py", "ok.py"), "x\n")
    root = make_repository(tmp_path, files)
    listing = listing_of(root)
    assert indexed(listing) == {"sub/keep.pb.py", "sub/deep/local.py", "ok.py"}
    details = {f.path: f.skip_detail for f in listing.files if f.skip_reason is SkipReason.STRATAIGNORE}
    assert details == {
        "gen/g.py": ".strataignore: gen/",
        "a.pb.py": ".strataignore: *.pb.py",
        "sub/local.py": "sub/.strataignore: /local.py",
    }
    assert listing_of(root, rev="HEAD").files == listing.files


def test_a_root_strataignore_counts_even_if_git_ignores_it_and_a_link_never_does(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {".gitignore": ".strataignore\n", "a.py": "a\n", "sub/b.py": "b\n"})
    write(root, {".strataignore": "a.py\n"})
    (root / "sub" / ".strataignore").symlink_to("/etc/hostname")
    assert skipped(listing_of(root))["a.py"] is SkipReason.STRATAIGNORE
    (root / ".strataignore").unlink()
    (root / ".strataignore").symlink_to("/etc/hostname")
    assert "a.py" in indexed(listing_of(root))


def test_include_and_exclude(tmp_path: Path) -> None:
    names = ["node_modules/m.js", "public/a/p.js", "src/s.js", "src/node_modules/n.js", "lib/l.py", "top.js"]
    root = make_repository(tmp_path, dict.fromkeys(names, "x\n"))
    listing = listing_of(root, exclude=("node_modules", "public/**"))
    assert indexed(listing) == {"src/s.js", "lib/l.py", "top.js"}
    assert file_of(listing, "src/node_modules/n.js").skip_detail == "exclude: node_modules"
    assert indexed(listing_of(root, include=("src/", "*.py"), exclude=("node_modules",))) == {"src/s.js", "lib/l.py"}
    assert listing_of(root, exclude=("lib",)).files == listing_of(root, exclude=("lib",), rev="HEAD").files


def test_content_setting(tmp_path: Path) -> None:
    root = make_repository(tmp_path, dict.fromkeys(("a.py", "b.md", "c.rst", "d.toml", "e.txt"), "x\n"))
    assert indexed(listing_of(root, content="code")) == {"a.py", "d.toml"}
    assert indexed(listing_of(root, content="docs")) == {"b.md", "c.rst", "e.txt"}
    assert file_of(listing_of(root, content="docs"), "a.py").skip_reason is SkipReason.CONTENT


def test_size_limits_by_kind_and_empty_files(tmp_path: Path) -> None:
    files = {
        "fits.py": "x" * 50,
        "over.py": "x" * 51,
        "fits.txt": "x" * 20,
        "over.txt": "x" * 21,
        "over.md": "x" * 51,
        ".keep.py": "",
    }
    root = make_repository(tmp_path, files)
    listing = listing_of(root, max_file_bytes=50, max_text_bytes=20)
    assert indexed(listing) == {"fits.py", "fits.txt"}
    over = file_of(listing, "over.py")
    assert (over.skip_reason, over.skip_detail, over.size) == (SkipReason.TOO_LARGE, "51 bytes, limit 50", 51)
    assert skipped(listing)[".keep.py"] is SkipReason.EMPTY


def test_a_store_inside_the_repository_is_never_listed(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"a.py": "a\n", ".strata/x.py": "x\n"})
    write(tmp_path / "plain", {"sub/.strata/y.py": "y\n", "b.py": "b\n"})
    assert [file.path for file in listing_of(root).files] == ["a.py"]
    assert [file.path for file in listing_of(root, rev="HEAD").files] == ["a.py"]
    assert [file.path for file in listing_of(tmp_path / "plain").files] == ["b.py"]


def test_an_edit_of_a_skipped_file_changes_nothing_in_its_entry(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"picture.png": "1", "a.py": "a\n"})
    before = listing_of(root)
    write(root, {"picture.png": "another picture"})
    assert listing_of(root).files == before.files


def test_a_sha256_repository(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": "a\n", "b.py": "b\n"}, "--object-format=sha256")
    write(root, {"b.py": "c\n"})
    listing = listing_of(root)
    assert file_of(listing, "a.py").blob_id == git(root, "rev-parse", "HEAD:a.py")
    assert file_of(listing, "b.py").blob_id == git(root, "hash-object", "b.py")
    assert len(listing.commit) == 64


def test_unusable_inputs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repository(tmp_path / "repo", {"a.py": "a\n"})
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(root), str(bare))
    for path, rev, message in (
        (tmp_path / "nowhere", "", "does not exist"),
        (root / "a.py", "", "not a folder"),
        (root, "v9", "no revision 'v9'"),
        (root, "--all", "no revision '--all'"),
        (root, "a\0b", "no revision"),
        (root, "HEAD:a.py", "no revision"),
        (root / ".git", "", "not part of a git working tree"),
        (bare / "refs", "", "inside the bare repository"),
        (tmp_path, "HEAD", "not in a git repository"),
    ):
        with pytest.raises(InputError, match=message):
            listing_of(path, rev=rev)
    (root / ".git" / "index").write_bytes(b"DIRC")
    with pytest.raises(InputError, match="index file"):
        listing_of(root)
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(InputError, match="git is not installed"):
        listing_of(bare)
    (tools / "env").symlink_to("/usr/bin/env")
    with pytest.raises(InputError, match="git is not installed"):
        listing_of(bare)


def test_listing_is_equal_whatever_the_order_of_the_disk(tmp_path: Path) -> None:
    names = [f"f{number}.py" for number in range(60)]
    listings = []
    for seed in (1, 2):
        random.Random(seed).shuffle(names)
        root = tmp_path / str(seed)
        write(root, {name: f"{name}\n" for name in names})
        listings.append(list_files(root, "r", IndexSettings()))
    assert listings[0] == listings[1]
