from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import InputError
from pipelines.training.manifest import main, named_packages, read_manifest
from tests.training.builders import make_debian_source, make_wheel

ROW = {"registry": "pypi", "name": "carts", "version": "1.0", "licence": "MIT", "files": {"carts.whl": "00"}}


def written(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps({"packages": [{**ROW, **changes}]}))
    return path


def test_a_manifest_names_what_a_folder_holds_and_nothing_else_is_taken(tmp_path: Path) -> None:
    folder, path = tmp_path / "packages", tmp_path / "packages.json"
    folder.mkdir()
    make_wheel(folder, "carts", {"a.py": "x"})
    make_debian_source(folder, "lib", {"a.c": "int x;"})
    assert main([str(folder), str(path)]) == 0
    rows = read_manifest(path)
    assert [(row.key, row.version, len(row.files)) for row in rows] == [
        ("debian/lib", "1:1.2-3", 3),
        ("pypi/carts", "1.0", 1),
    ]
    assert [package.key for package in named_packages(folder, path)] == ["debian/lib", "pypi/carts"]
    make_wheel(folder, "carts", {"a.py": "another"})
    with pytest.raises(InputError, match="pypi/carts: is not what the manifest names"):
        named_packages(folder, path)
    (folder / "carts-1.0-py3-none-any.whl").unlink()
    with pytest.raises(InputError, match="pypi/carts: is missing"):
        named_packages(folder, path)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"licence": "GPL-3.0"}, "not known to be permissive"),
        ({"registry": "elsewhere"}, "not from one of"),
        ({"files": {"../carts.whl": "00"}}, "its files are no names"),
        ({"version": "--index-url=x"}, "no names"),
        ({"name": "--index-url=x"}, "no names"),
        ({"files": []}, "not a manifest"),
        ({"name": 1}, "not a manifest"),
    ],
)
def test_rows_that_nothing_may_be_downloaded_for_are_refused(tmp_path: Path, changes: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_manifest(written(tmp_path / "m.json", **changes))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"packages": [1]}', '{"packages": [{"name": "x"}]}'])
def test_another_file_is_no_manifest(tmp_path: Path, content: str) -> None:
    (tmp_path / "m.json").write_text(content)
    with pytest.raises(InputError, match="not a manifest"):
        read_manifest(tmp_path / "m.json")


def test_a_package_stands_once(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"packages": [ROW, {**ROW, "version": "2.0"}]}))
    with pytest.raises(InputError, match="twice"):
        read_manifest(path)
