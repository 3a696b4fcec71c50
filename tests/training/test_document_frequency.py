from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from pipelines.embedding import make_encoder
from pipelines.errors import InputError
from pipelines.settings import EmbedderSettings
from pipelines.training.document_frequency import main
from pipelines.training.packages import Package, find_packages, refuse_held_out

ROOT = Path(__file__).parents[2]
CODE = "def parsing(tree):\n    return tree.inode\n"


def make_wheel(folder: Path, name: str, files: Mapping[str, str], licence: str = "MIT") -> None:
    metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nLicense-Expression: {licence}\n"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, text in {**files, f"{name}-1.0.dist-info/METADATA": metadata}.items():
            wheel.writestr(path, text)


def make_tar(path: Path, files: Mapping[str, str], mode: str = "w:gz") -> None:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


def make_packages(folder: Path) -> None:
    for index in range(4):
        make_wheel(folder, f"pkg{index}", {"a.py": CODE, "vendor/b.py": "foreignword", "c.min.py": "foreignword"})
    make_tar(
        folder / "tool-2.0.tgz",
        {"package/package.json": '{"name": "@x/tool", "version": "2.0", "license": "ISC"}', "package/a.js": "let tree"},
    )
    copyright_text = "Format: x\n\nFiles: *\nCopyright: someone\nLicense: Expat\n\nFiles: debian/*\nLicense: GPL-2\n"
    make_tar(folder / "lib_1.2.orig.tar.xz", {"lib-1.2/a.c": "int inode;"}, "w:xz")
    make_tar(folder / "lib_1.2-3.debian.tar.xz", {"debian/copyright": copyright_text}, "w:xz")
    make_tar(
        folder / "data.tar.gz",
        {"./usr/share/doc/librust-x-dev/copyright": copyright_text, "./usr/share/cargo/a.rs": "fn tree() {}"},
    )
    data = (folder / "data.tar.gz").read_bytes()
    member = f"{'data.tar.gz':16}{0:<12}{0:<6}{0:<6}{'100644':8}{len(data):<10}`\n".encode()
    (folder / "librust-x-dev_0.3_amd64.deb").write_bytes(b"!<arch>\n" + member + data)


def test_every_kind_of_archive_gives_name_licence_and_its_own_files(tmp_path: Path) -> None:
    make_packages(tmp_path)
    found = find_packages(tmp_path)
    assert [(item.registry, item.name, item.version, item.licence) for item in found if "pkg" not in item.name] == [
        ("debian", "lib", "1.2", "Expat"),
        ("debian", "librust-x-dev", "0.3", "Expat"),
        ("npm", "@x/tool", "2.0", "ISC"),
    ]
    suffixes = frozenset({".py", ".js", ".c", ".rs"})
    assert [path.rpartition("/")[2] for item in found for path, _ in item.files(suffixes)] == [
        "a.c", "a.rs", "a.js", *["a.py"] * 4
    ]  # fmt: skip


def test_the_table_holds_what_several_packages_share_and_an_encoder_reads_it(tmp_path: Path) -> None:
    packages, out = tmp_path / "packages", tmp_path / "out"
    packages.mkdir()
    out.mkdir()
    make_packages(packages)
    (out / "held-out.txt").write_text("# none\n")
    assert main([str(packages), str(out)]) == 0
    manifest = json.loads((out / "vocab-idf.json").read_text())
    assert manifest["documents"] == {"c": 1, "javascript": 1, "python": 4, "rust": 1}
    assert manifest["tokens"] == 5  # def, parse, tree, return, inode: each in four packages at least
    before = (out / "vocab-idf.tsv.gz").read_bytes()
    assert main([str(packages), str(out)]) == 0
    assert (out / "vocab-idf.tsv.gz").read_bytes() == before
    assert make_encoder(EmbedderSettings(name="vocab"), out).encode_query("parse").any()


@pytest.mark.parametrize("licence", ["GPL-3.0-only", "MIT OR GPL-2.0", "Proprietary", ""])
def test_a_licence_that_is_not_permissive_is_refused(tmp_path: Path, licence: str) -> None:
    make_wheel(tmp_path, "bad", {"a.py": CODE}, licence)
    with pytest.raises(InputError, match=r"bad-1\.0"):
        find_packages(tmp_path)


@pytest.mark.parametrize("name", ["librust-tokio-dev", "@rails/ujs", "Flask", "libcommons-io-java", "socket.io-client"])
def test_projects_of_the_evaluation_are_refused_under_any_name(name: str) -> None:
    with pytest.raises(InputError, match="held out"):
        refuse_held_out([Package("x", name, "1", "MIT", Path(name))], ROOT / "data" / "encoder" / "held-out.txt")


def test_the_shipped_table_counts_no_project_of_the_evaluation() -> None:
    folder = ROOT / "data" / "encoder"
    rows = json.loads((folder / "vocab-idf.json").read_text())["packages"]
    assert all(row["licence"] and row["version"] for row in rows)
    refuse_held_out(
        [Package(row["registry"], row["name"], row["version"], row["licence"], folder) for row in rows],
        folder / "held-out.txt",
    )
