from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.discover import open_tree
from pipelines.discover.listing.disk import escapes, read_file
from pipelines.discover.listing.git import blob_id
from pipelines.errors import InputError, SourceMoved, Unreadable
from tests.discover.git_repository import commit, file_of, git, listing_of, make_repository, write

FILES: dict[str, str | bytes] = {
    "a.py": "a\n",
    "sub/b.py": b"\x00\xff" * 5000,
    "sub/c.txt": "\n" * 200_000,
    "z.md": "z",
}


def test_reads_what_was_listed_from_disk_commit_and_bare_clone(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", FILES)
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(root), str(bare))
    for folder, rev in ((root, ""), (root, "HEAD"), (bare, ""), (bare, "main")):
        listing = listing_of(folder, rev=rev, max_text_bytes=1_000_000)
        with open_tree(folder, listing, rev=rev) as tree:
            read = {file.path: tree.read(file) for file in listing.files}
        assert read == {path: text.encode() if isinstance(text, str) else text for path, text in FILES.items()}


def test_reads_untracked_files_and_plain_folders(tmp_path: Path) -> None:
    write(tmp_path, {"deep/er/a.py": "plain\n"})
    listing = listing_of(tmp_path)
    with open_tree(tmp_path, listing) as tree:
        assert tree.read(listing.files[0]) == b"plain\n"


def test_a_revision_is_read_after_the_branch_moved_on(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": "first\n"})
    listing = listing_of(root, rev="main")
    write(root, {"a.py": "second\n"})
    commit(root)
    with open_tree(root, listing, rev="main") as tree:
        assert tree.read(file_of(listing, "a.py")) == b"first\n"


@pytest.mark.parametrize("after", ["other\n", "longer than before\n", "", "a"])
def test_a_changed_file_is_named(tmp_path: Path, after: str) -> None:
    root = make_repository(tmp_path, {"sub/a.py": "a\n"})
    listing = listing_of(root)
    write(root, {"sub/a.py": after})
    with open_tree(root, listing) as tree, pytest.raises(SourceMoved, match=r"sub/a\.py"):
        tree.read(file_of(listing, "sub/a.py"))


def replace_by_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


def replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replace_parent_by_link(path: Path) -> None:
    path.parent.rename(path.parent.with_name("moved"))
    path.parent.symlink_to("moved")


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "change", [replace_by_link, replace_by_pipe, replace_parent_by_link, replace_by_folder, Path.unlink]
)
def test_what_is_no_regular_file_any_more_is_not_opened(tmp_path: Path, change: Callable[[Path], None]) -> None:
    root = make_repository(tmp_path, {"sub/a.py": "a\n"})
    listing = listing_of(root)
    change(root / "sub" / "a.py")
    with open_tree(root, listing) as tree, pytest.raises(SourceMoved, match=r"sub/a\.py"):
        tree.read(file_of(listing, "sub/a.py"))


def test_no_path_leads_outside(tmp_path: Path) -> None:
    write(tmp_path, {"root/a.py": "a\n", "secret.py": "s\n"})
    listing = listing_of(tmp_path / "root")
    for path in ("../secret.py", str(tmp_path / "secret.py"), "sub/../../secret.py", ".git/config", ""):
        with open_tree(tmp_path / "root", listing) as tree, pytest.raises(SourceMoved):
            tree.read(replace(listing.files[0], path=path, blob_id=blob_id(b"s\n", "sha1")))


def test_escapes() -> None:
    assert not any(escapes(path) for path in (b"a", b"a/b", b".gitignore", b"...", b"x.git", b"a/..b"))
    assert all(escapes(path) for path in (b"", b"..", b"a/..", b"../a", b"/a", b"a//b", b"a/.GIT/x", b"a/", b"./a"))


def test_converted_line_ends_are_read_as_the_blob(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": "x = 1\ny = 2\n", "id.py": "# $Id$\n", ".gitattributes": "id.py ident\n"})
    git(root, "config", "core.autocrlf", "true")
    for name in ("a.py", "id.py"):
        (root / name).unlink()
    git(root, "checkout", "-q", ".")
    assert b"\r\n" in (root / "a.py").read_bytes()
    assert b"$Id: " in (root / "id.py").read_bytes()
    listing = listing_of(root)
    with open_tree(root, listing) as tree:
        assert tree.read(file_of(listing, "a.py")) == b"x = 1\ny = 2\n"
        assert tree.read(file_of(listing, "id.py")) == b"# $Id$\n"
        (root / "a.py").write_bytes(b"x = 1\r\ny = 3\r\n")
        with pytest.raises(SourceMoved):
            tree.read(file_of(listing, "a.py"))


def test_a_file_that_may_not_be_read_is_an_error_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "a\n"})
    (tmp_path / "a.py").chmod(0)
    if os.geteuid() == 0:  # root may read everything, so another limit of the kernel stands in for permissions
        with pytest.raises(Unreadable, match="too long"):
            read_file(tmp_path, b"n" * 300, 10)
        return
    with pytest.raises(Unreadable, match=r"a\.py"):
        read_file(tmp_path, b"a.py", 10)


def test_a_commit_that_is_gone_and_a_blob_that_is_gone(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": "a\n"})
    listing = listing_of(root, rev="HEAD")
    with (
        pytest.raises(InputError, match="no longer has commit"),
        open_tree(root, replace(listing, commit="0" * 40), rev="x"),
    ):
        pass
    with open_tree(root, listing, rev="HEAD") as tree, pytest.raises(SourceMoved, match=r"a\.py"):
        tree.read(replace(listing.files[0], blob_id="1" * 40))
    tree_id = git(root, "rev-parse", "HEAD^{tree}")
    with open_tree(root, listing, rev="HEAD") as tree, pytest.raises(SourceMoved, match=r"a\.py"):
        tree.read(replace(listing.files[0], blob_id=tree_id))


def test_sha256(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": "a\n"}, "--object-format=sha256")
    for rev in ("", "HEAD"):
        listing = listing_of(root, rev=rev)
        with open_tree(root, listing, rev=rev) as tree:
            assert tree.read(file_of(listing, "a.py")) == b"a\n"
