from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.discover import open_tree, preview_files
from pipelines.errors import SourceMoved, Unreadable
from pipelines.plan import Inputs, Plan, make_plan
from pipelines.progress import Silent
from pipelines.records import ListedFile, SkipReason, SourceTree
from pipelines.settings import Settings
from pipelines.store import ArtifactStore
from tests.discover.git_repository import indexed, listing_of, make_repository, skipped, write

FILES: dict[str, str | bytes] = {
    "good.py": "def good(): pass\n",
    "nul.py": "x = '\0'\n",
    "blank.py": "\n",
    "odd.py": b"\xff\xfeabc",
    "bundle.js": "a=1;" * 10_000,
    "data.json": '{"a": "' + "b" * 40_000 + '"}',
    "picture.png": b"\x89PNG",
}


def plan_of(root: Path, rev: str = "") -> Plan:
    return make_plan(listing_of(root, rev=rev), Inputs(Settings(), "encoder", "grammars"))


def test_what_only_a_look_inside_tells_is_decided(tmp_path: Path) -> None:
    root, store = make_repository(tmp_path / "r", FILES), ArtifactStore(tmp_path / "none")
    for rev in ("", "HEAD"):
        plan = plan_of(root, rev)
        with open_tree(root, plan.listing, rev=rev) as tree:
            listing = preview_files(plan, store, tree, Silent(), full=False)
        assert indexed(listing) == {"good.py", "data.json"}
        assert skipped(listing) == {
            "nul.py": SkipReason.BINARY,
            "blank.py": SkipReason.EMPTY,
            "odd.py": SkipReason.UNDECODABLE,
            "bundle.js": SkipReason.GENERATED,
            "picture.png": SkipReason.UNSUPPORTED,
        }
        assert [file.path for file in listing.files] == [file.path for file in plan.listing.files]
        assert replace(listing, files=()) == replace(plan.listing, files=())
    assert not store.root.exists()


class Closed:
    """A tree of which one file may not be read."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def read(self, file: ListedFile) -> bytes:
        if file.path == "good.py":
            raise Unreadable("cannot read good.py") from PermissionError(13, "Permission denied")
        return self._tree.read(file)


def test_a_file_that_may_not_be_read_is_told_as_a_run_tells_it(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "r", FILES)
    plan = plan_of(root)
    with open_tree(root, plan.listing) as tree:
        listing = preview_files(plan, ArtifactStore(tmp_path / "none"), Closed(tree), Silent(), full=True)
    (file,) = (file for file in listing.files if file.path == "good.py")
    assert (file.skip_reason, file.skip_detail) == (SkipReason.UNREADABLE, "Permission denied")


def test_a_source_that_moves_is_an_error(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "r", FILES)
    plan = plan_of(root)
    write(root, {"good.py": "def changed(): pass\n"})
    with open_tree(root, plan.listing) as tree, pytest.raises(SourceMoved, match=r"good\.py"):
        preview_files(plan, ArtifactStore(tmp_path / "none"), tree, Silent(), full=False)


NOTEBOOK = '{"cells": [{"cell_type": "code", "id": "%s", "source": "x = 1", "outputs": [%s]}], "metadata": %s}'
HOSTILE: dict[str, str | bytes] = {
    "digits.ipynb": NOTEBOOK % ("a", "7" * 5_000, "{}"),
    "kernel.ipynb": NOTEBOOK % ("a", "", r'{"kernelspec": {"language": "\ud800"}}'),
    "name.ipynb": NOTEBOOK % (r"\ud800", "", "{}"),
    "lists.ipynb": NOTEBOOK % ("a", "[]," * 1_000_000 + "[]", "{}"),
    "cells.ipynb": '{"cells": [' + "7," * 1_000_000 + "7]}",
}


def test_notebooks_that_are_made_to_break_a_reader_are_decided(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "r", HOSTILE)
    plan = plan_of(root)
    with open_tree(root, plan.listing) as tree:
        listing = preview_files(plan, ArtifactStore(tmp_path / "none"), tree, Silent(), full=False)
    assert indexed(listing) == {"digits.ipynb", "kernel.ipynb", "name.ipynb"}
    assert set(skipped(listing).values()) == {SkipReason.TOO_LARGE}
