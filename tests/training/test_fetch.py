from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipelines.training.fetch import command_for, fetch
from pipelines.training.manifest import Row, named_packages, row_of, write_manifest
from pipelines.training.packages import find_packages
from pipelines.training.steps import TrainingFolder
from tests.training.builders import make_debian_source, make_npm, make_wheel


def make_registry(root: Path) -> tuple[TrainingFolder, Path]:
    """Make a registry of three packages, and a training folder whose manifest names them."""
    registry, folder = root / "registry", TrainingFolder(root / "training", root / "bundled")
    for made in (registry, folder.root):
        made.mkdir()
    make_wheel(registry, "carts", {"a.py": "x"})
    make_npm(registry, "@x/tool", {"a.js": "x"})
    make_debian_source(registry, "lib", {"a.c": "int x;"})
    write_manifest(folder.root / "packages.json", map(row_of, find_packages(registry)))
    return folder, registry


def test_what_the_manifest_names_is_downloaded_once(tmp_path: Path) -> None:
    folder, registry = make_registry(tmp_path)
    asked: list[str] = []

    def run(command: Sequence[str], place: Path) -> None:
        asked.append(command[-1])
        for file in registry.iterdir():  # a client that brings more than was asked for
            (place / file.name).write_bytes(file.read_bytes())

    told: list[str] = []
    assert fetch(folder, run, told.append) == {"downloaded": 3}
    assert asked == ["lib=1:1.2-3", "@x/tool@2.0", "carts==1.0"]
    assert told[0] == "debian/lib 1:1.2-3: downloaded"
    assert len(named_packages(folder.packages, folder.manifest)) == 3
    assert len(list(folder.packages.iterdir())) == 5
    assert fetch(folder, run, told.append) == {"present": 3}


def test_other_bytes_and_failing_clients_are_told_and_leave_nothing(tmp_path: Path) -> None:
    folder, _ = make_registry(tmp_path)

    def run(command: Sequence[str], place: Path) -> None:
        if command[0] == "apt-get":
            raise subprocess.CalledProcessError(100, command)
        if command[0] != "npm":
            make_wheel(place, "carts", {"a.py": "changed"})

    told: list[str] = []
    assert fetch(folder, run, told.append) == {"failed": 3}
    assert "cannot be downloaded" in told[0]
    assert "x-tool-2.0.tgz is missing" in told[1]
    assert "carts-1.0-py3-none-any.whl is not the file that the manifest names" in told[2]
    assert list(folder.packages.iterdir()) == []


@pytest.mark.parametrize(
    ("registry", "file", "ends"),
    [
        ("pypi", "a-1-py3-none-any.whl", ["--only-binary", ":all:", "a==1"]),
        (
            "pypi",
            "a-1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
            [
                "--platform",
                "manylinux_2_27_x86_64",
                "--platform",
                "manylinux_2_28_x86_64",
                "--abi",
                "cp311",
                "--python-version",
                "311",
                "a==1",
            ],
        ),
        ("pypi", "a-1-py3-none-manylinux1_x86_64.whl", ["--platform", "manylinux1_x86_64", "--abi", "none", "a==1"]),
        ("npm", "a-1.tgz", ["npm", "pack", "--silent", "--ignore-scripts", "a@1"]),
        ("debian", "a_1.orig.tar.xz", ["apt-get", "source", "--download-only", "-q", "a=1"]),
        ("debian", "a_1_amd64.deb", ["apt-get", "download", "-q", "a=1"]),
    ],
)
def test_each_registry_is_asked_by_its_own_client(registry: str, file: str, ends: list[str]) -> None:
    command = command_for(Row(registry, "a", "1", "MIT", {file: "00"}))
    assert command[-len(ends) :] == ends
