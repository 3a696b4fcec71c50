"""Source packages as they are downloaded: names, licences and files, read from the archives themselves.

In: wheels (`pip download --no-deps`), npm tarballs (`npm pack`), Debian sources (`apt-get source --download-only`) and
Debian packages that hold sources (`apt-get download`) in one folder. Out: for each its name, version, licence and
readable source files. Nothing of a package is run, and a package is refused unless its own metadata names a permissive
licence only.
"""

from __future__ import annotations

import email
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath

from pipelines.errors import InputError

#: Licences that let anyone use the text for anything with attribution at most.
_PERMISSIVE = re.compile(
    r"\b(mit|expat|x11|apache|bsd\d?|isc|0bsd|zlib|unlicense|boost|bsl|postgresql|blueoak)\b", re.I
)
_RESTRICTED = re.compile(
    r"\b(a?gpl|lgpl|gnu|mpl|mozilla|epl|eclipse|cddl|cc-by-nc|sspl|proprietary|commercial)\b", re.I
)
#: Folders of other projects' code inside a package, which have licences, and exclusions, of their own; and those that
#: projects of a free core keep their enterprise edition in.
_FOREIGN = re.compile(
    r"_?vendor(ed)?|third[_-]?party|3rdparty|node_modules|deps|externals?|extern|contrib|static|testdata|ee|enterprise"
)
#: What a Debian archive has above the paths that its copyright file speaks of.
_SOURCE_ROOT = re.compile(r"(?:\./)?usr/share/cargo/registry/[^/]+/|(?:\./)?[^/]+/")
#: Paths of Debian's copyright file, and whether their licence is permissive.
#: Names of projects, each as its parts.
Names = frozenset[tuple[str, ...]]
_VERSION = re.compile(r"[-_.]?v?\d[\d.]*$")
_Stanza = tuple[re.Pattern[str], bool]
_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60


@dataclass(frozen=True, slots=True)
class Package:
    """One downloaded package."""

    registry: str  # pypi, npm, debian
    name: str
    version: str
    licence: str
    archive: Path  # with the code
    others: tuple[Path, ...] = ()  # with what is said of it
    stanzas: tuple[_Stanza, ...] = ()  # Debian: which of its files have which licence

    @property
    def key(self) -> str:
        """Return registry and name."""
        return f"{self.registry}/{self.name}"

    def files(self, suffixes: frozenset[str], held_out: Names = frozenset()) -> Iterator[tuple[str, str]]:
        """Yield path and text of the package's own UTF-8 files with one of the suffixes, in order of path.

        :param held_out: projects of which a folder or a file may be a copy, by its name.
        """
        for path, data in sorted(_members(self.archive, suffixes)):
            if not self._is_free(path) or _is_copy(path, held_out):
                continue
            try:
                yield path, data.decode("utf-8")
            except UnicodeDecodeError:
                continue  # of no language that is counted here

    def _is_free(self, path: str) -> bool:
        inside = _SOURCE_ROOT.sub("", path, count=1)
        said = (free for pattern, free in reversed(self.stanzas) if pattern.fullmatch(inside))
        return next(said, True)


def find_packages(folder: Path) -> list[Package]:
    """Read every archive of a folder, in order of registry and name.

    :raises InputError: if a licence is missing, or not permissive only, or if there are two archives of one package.
    """
    readers = {"*.whl": _wheel, "*.tgz": _npm, "*.orig.tar.[gbx]z*": _debian_source, "*.deb": _debian_binary}
    found = [read(path) for pattern, read in readers.items() for path in sorted(folder.rglob(pattern))]
    for package in found:
        if not is_permissive(package.licence):
            raise InputError(
                f"{package.archive} has licence {package.licence!r}, which is not known to be permissive",
                hint="leave the package out",
            )
    found.sort(key=lambda package: (package.registry, package.name))
    for package, following in pairwise(found):
        if package.key == following.key:
            raise InputError(f"{package.archive} and {following.archive} are one package", hint="leave one out")
    return found


def held_out_names(path: Path) -> Names:
    """Read the names of projects that evaluation uses."""
    return frozenset(_parts(line) for line in path.read_text("utf-8").splitlines() if line[:1] not in ("", "#"))


def refuse_held_out(packages: Iterable[Package], held_out: Path) -> None:
    """Raise InputError if a package is one that evaluation uses, whatever registry it came from."""
    names = held_out_names(held_out)
    for package in packages:
        if is_held_out(package.name, names):
            raise InputError(f"{package.archive} is held out for evaluation", hint="leave the package out")


def is_held_out(package: str, names: Names) -> bool:
    """Tell whether a name is part of a package's: `tokio` in librust-tokio-dev, `commons-io` in libcommons-io-java."""
    for parts in (_parts(package), _parts(package.lower().removeprefix("lib"))):
        runs = {parts[start:end] for start in range(len(parts)) for end in range(start + 1, len(parts) + 1)}
        if runs & names:
            return True
    return False


def _is_copy(path: str, names: Names) -> bool:
    """Tell whether folders or the file have one of the names: zlib-1.2/, sqlite3.c, nlohmann/json.hpp."""
    if not names:
        return False
    found = [_parts(_VERSION.sub("", part)) for part in PurePosixPath(path).with_suffix("").parts]
    return any(part in names for part in found) or any(left + right in names for left, right in pairwise(found))


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[-_./@]", name.strip().lower()) if part)


def _wheel(path: Path) -> Package:
    with zipfile.ZipFile(path) as archive:
        name = next(item for item in archive.namelist() if item.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    classifiers = [
        item.split(" :: ")[-1] for item in metadata.get_all("Classifier", []) if item.startswith("License ::")
    ]
    stated = metadata["License-Expression"] or "; ".join(classifiers) or (metadata["License"] or "").split("\n")[0]
    return Package("pypi", metadata["Name"].lower(), metadata["Version"], stated, path)


def _npm(path: Path) -> Package:
    with tarfile.open(path) as archive:
        manifests = [item for item in archive.getmembers() if item.name.count("/") == 1]
        member = next(item for item in manifests if item.name.endswith("/package.json"))
        manifest = json.loads(_read(archive, member))
    licence = manifest.get("license", "")
    return Package("npm", manifest["name"], manifest["version"], licence if isinstance(licence, str) else "", path)


def _debian_source(path: Path) -> Package:
    name, version = path.name.split(".orig.tar")[0].split("_", 1)
    packaging = _beside(path, f"{name}_{version}-*.debian.tar.*[xz2]")
    description = _beside(path, f"{name}_{version}-*.dsc")
    with tarfile.open(packaging) as archive:
        copyright_file = _read(archive, archive.getmember("debian/copyright"))
    stated = re.search(r"^Version: (\S+)$", description.read_text("utf-8"), re.M)
    full = stated[1] if stated else version
    licence, stanzas = _debian_licence(copyright_file)
    return Package("debian", name, full, licence, path, (packaging, description), stanzas)


def _beside(path: Path, pattern: str) -> Path:
    found = sorted(path.parent.glob(pattern))
    if not found:
        raise InputError(f"beside {path} is no {pattern}", hint="download the whole source package")
    return found[-1]


def _debian_binary(path: Path) -> Package:
    name, version = path.name.replace("%3a", ":").split("_")[:2]
    with _open_tar(path) as archive:
        member = next(item for item in archive if item.name.endswith("/copyright"))
        copyright_file = _read(archive, member)
    licence, stanzas = _debian_licence(copyright_file)
    return Package("debian", name, version, licence, path, stanzas=stanzas)


def _debian_licence(copyright_file: bytes) -> tuple[str, tuple[_Stanza, ...]]:
    """Return what a machine-readable copyright file says of `Files: *`, and its other stanzas: the last one counts."""
    text = copyright_file.decode("utf-8", "replace")
    main, stanzas = "", list[_Stanza]()
    for paragraph in re.split(r"\n\s*\n", text):
        files = re.search(r"^Files:(.*(?:\n[ \t].*)*)", paragraph, re.M)
        licence = re.search(r"^License:[ \t]*([^\n]+)", paragraph, re.M)
        if not files or not licence:
            continue
        globs = files[1].split()
        main = main or (licence[1].strip() if "*" in globs else "")
        shapes = [re.escape(glob).replace(r"\*", ".*").replace(r"\?", ".") for glob in globs]
        stanzas.append((re.compile("|".join(shapes)), is_permissive(licence[1])))
    return main, tuple(stanzas)


def is_permissive(licence: str) -> bool:
    """Tell whether a licence lets anyone use the text for anything, with attribution at most."""
    return bool(_PERMISSIVE.search(licence)) and not _RESTRICTED.search(licence)


def _members(path: Path, suffixes: frozenset[str]) -> Iterator[tuple[str, bytes]]:
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            for name in filter(lambda item: _wanted(item, suffixes), wheel.namelist()):
                yield name, wheel.read(name)
        return
    with _open_tar(path) as archive:
        for member in archive:
            if member.isfile() and _wanted(member.name, suffixes):
                yield member.name, _read(archive, member)


def _open_tar(path: Path) -> tarfile.TarFile:
    """Open a tar archive, or the one that a .deb holds as its member data.tar.*."""
    if path.suffix != ".deb":
        return tarfile.open(path)
    content, place = path.read_bytes(), len(_AR_MAGIC)
    while place < len(content):  # ar: a 60-byte header with name and decimal size, then the data, padded to even
        header = content[place : place + _AR_HEADER]
        size = int(header[48:58])
        start = place + _AR_HEADER
        if header.startswith(b"data.tar"):
            return tarfile.open(fileobj=io.BytesIO(content[start : start + size]))
        place = start + size + size % 2
    raise InputError(f"{path} is not a Debian package")


def _wanted(name: str, suffixes: frozenset[str]) -> bool:
    path = PurePosixPath(name)
    return path.suffix in suffixes and ".min." not in path.name and not any(map(_FOREIGN.fullmatch, path.parts))


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    if stream is None:
        raise InputError(f"{archive.name!r} has no readable file {member.name}")
    return stream.read()
