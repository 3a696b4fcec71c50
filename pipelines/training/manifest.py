"""Which packages training takes. In: a JSON file with `packages`. Out: what its rows name, checked against archives.

    python -m pipelines.training.manifest PACKAGES MANIFEST     writes what a folder of archives holds

A row names registry, name, version and licence of a package, and the SHA-256 of each file that is read of it. Only what
the manifest names is ever read, and only byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import InputError
from pipelines.training.packages import Package, find_packages, is_permissive

REGISTRIES = ("debian", "npm", "pypi")
#: How many names a message shows.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One package of the manifest. `files` has the SHA-256 of each, in hexadecimal, by its name."""

    registry: str
    name: str
    version: str
    licence: str
    files: Mapping[str, str]

    @property
    def key(self) -> str:
        """Return registry and name."""
        return f"{self.registry}/{self.name}"


def read_manifest(path: Path) -> list[Row]:
    """Read a manifest; what else its rows say, such as counts of pairs, is passed over.

    :raises InputError: if it is none, names a package twice, or one whose licence is not permissive.
    """
    try:
        rows = [_row(row) for row in json.loads(path.read_bytes())["packages"]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is not a manifest of packages: {error}") from error
    for row in rows:
        names = (row.name.removeprefix("@").replace("/", "", 1), row.version, *row.files)
        if row.registry not in REGISTRIES or not all(map(_is_name, names)):
            raise InputError(f"{path}: {row.key} is not from one of {', '.join(REGISTRIES)}, or its files are no names")
        if not is_permissive(row.licence):
            raise InputError(f"{path}: {row.key} has licence {row.licence!r}, which is not known to be permissive")
    if len({row.key for row in rows}) < len(rows):
        raise InputError(f"{path} names a package twice")
    return rows


def _row(given: Any) -> Row:
    registry, name, version, licence = (given[key] for key in ("registry", "name", "version", "licence"))
    texts = [registry, name, version, licence, *given["files"].keys(), *given["files"].values()]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("what names a package is text")
    return Row(registry, name, version, licence, dict(given["files"]))


def row_of(package: Package) -> Row:
    """Return the row of a package that lies here."""
    files = {path.name: digest(path) for path in sorted((package.archive, *package.others))}
    return Row(package.registry, package.name, package.version, package.licence, files)


def named_packages(folder: Path, manifest: Path) -> list[Package]:
    """Return the packages of a folder, after checking that they are those of the manifest.

    :raises InputError: if one is missing, is not named, or is another than the manifest says.
    """
    wanted = {row.key: row for row in read_manifest(manifest)}
    found = find_packages(folder)
    _refuse("is not in the manifest", [package.key for package in found if package.key not in wanted])
    _refuse("is missing", sorted(wanted.keys() - {package.key for package in found}), "download it: docs/training.md")
    _refuse("is not what the manifest names", [item.key for item in found if row_of(item) != wanted[item.key]])
    return found


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(path: Path, rows: Iterable[Row]) -> None:
    """Write a manifest."""
    document = {"packages": [asdict(row) for row in rows]}
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


def _is_name(text: str) -> bool:
    """Tell whether a text names a file of the folder it is looked for in, and no option of a program."""
    return bool(text) and text[0] not in ".-" and "/" not in text and "\\" not in text


def _refuse(fault: str, keys: Sequence[str], hint: str = "") -> None:
    if keys:
        more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
        raise InputError(f"{', '.join(keys[:_SHOWN])}{more}: {fault}", hint=hint or "take it out of the folder")


def main(arguments: Sequence[str]) -> int:
    """Write the manifest of a folder."""
    parser = argparse.ArgumentParser(prog="manifest", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", type=Path)
    parser.add_argument("manifest", type=Path)
    given = parser.parse_args(arguments)
    write_manifest(given.manifest, map(row_of, find_packages(given.packages)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
