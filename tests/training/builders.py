"""Tiny packages as registries serve them: a wheel, an npm tarball, Debian sources and a Debian package."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

COPYRIGHT = "Format: x\n\nFiles: *\nCopyright: someone\nLicense: Expat\n\nFiles: debian/*\nLicense: GPL-2\n"


def make_wheel(folder: Path, name: str, files: Mapping[str, str], licence: str = "MIT") -> None:
    metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nLicense-Expression: {licence}\n"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, text in {**files, f"{name}-1.0.dist-info/METADATA": metadata}.items():
            wheel.writestr(zipfile.ZipInfo(path), text)


def make_tar(path: Path, files: Mapping[str, str], mode: str = "w:gz") -> None:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


def make_npm(folder: Path, name: str, files: Mapping[str, str]) -> None:
    manifest = f'{{"name": "{name}", "version": "2.0", "license": "ISC"}}'
    contents = {"package/package.json": manifest, **{f"package/{path}": text for path, text in files.items()}}
    make_tar(folder / f"{name.replace('/', '-').removeprefix('@')}-2.0.tgz", contents)


def make_debian_source(folder: Path, name: str, files: Mapping[str, str], copyright_text: str = COPYRIGHT) -> None:
    make_tar(folder / f"{name}_1.2.orig.tar.xz", {f"{name}-1.2/{path}": text for path, text in files.items()}, "w:xz")
    make_tar(folder / f"{name}_1.2-3.debian.tar.xz", {"debian/copyright": copyright_text}, "w:xz")
    (folder / f"{name}_1.2-3.dsc").write_text(f"Format: 3.0 (quilt)\nSource: {name}\nVersion: 1:1.2-3\n")


def make_debian_binary(folder: Path, name: str, files: Mapping[str, str]) -> None:
    data = folder / "data.tar.gz"
    make_tar(data, {f"./usr/share/doc/{name}/copyright": COPYRIGHT, **files})
    content = data.read_bytes()
    data.unlink()
    member = f"{'data.tar.gz':16}{0:<12}{0:<6}{0:<6}{'100644':8}{len(content):<10}`\n".encode()
    (folder / f"{name}_0.3_amd64.deb").write_bytes(b"!<arch>\n" + member + content)
