"""Take the functions that encoders are measured on from projects that no training has seen. A command.

    python -m tests.bench.held_out SOURCES PAIRS [--list FILE]

SOURCES holds what `tests/bench/held_out.json` names, at the versions that stand there: a wheel NAME-VERSION-*.whl of a
project of PyPI (`pip download --no-deps NAME==VERSION`), a clone NAME of one of GitHub, whose listed commit is read
whatever is checked out. PAIRS gets one `pipelines.training.pairs` table a project, of functions and methods only; a
project whose table is there already is passed over. A project that `data/encoder/held-out.txt` does not keep out of
training, or that stands in the manifest of a bundled table all the same, stops the command.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.errors import InputError
from pipelines.records import CALLABLE_KINDS
from pipelines.training.packages import Package, refuse_held_out
from pipelines.training.pairs import SCHEMA, SUFFIXES, Pair, harvest
from resources.bundled import encoder_folder

LIST = Path(__file__).with_name("held_out.json")
#: What the bundled tables were made from.
MANIFESTS = ("code.json", "vocab-idf.json")
HELD_OUT = "held-out.txt"


@dataclass(frozen=True, slots=True)
class Project:
    """A project as it is measured: PyPI's name and version, or GitHub's owner/name and a commit."""

    name: str  # as it stands in held-out.txt
    registry: str  # pypi, github
    source: str
    version: str
    folder: str = ""  # what is taken of a clone: all of it, or the folder of its sources

    @contextmanager
    def package(self, sources: Path) -> Iterator[Package]:
        """Give the archive of the listed version.

        :raises InputError: if it is not below `sources`.
        """
        if self.registry == "pypi":
            pattern = f"{self.source.replace('-', '_')}-{self.version}-*.whl"
            found = sorted(sources.rglob(pattern))
            if not found:
                raise InputError(f"{sources} has no {pattern}", hint=f"pip download {self.source}=={self.version}")
            yield Package(self.registry, self.name, self.version, "", found[0])
            return
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder) / f"{self.name.replace('/', '-')}.tar"
            clone = sources / self.name.replace("/", "-")
            command = ["git", "-C", str(clone), "archive", "--format=tar", f"--output={archive}", self.version]
            taken = [self.folder] if self.folder else []
            done = subprocess.run([*command, *taken], capture_output=True, text=True, check=False)
            if done.returncode:
                raise InputError(
                    f"{clone} has no commit {self.version}: {done.stderr.strip()}",
                    hint=f"git clone https://github.com/{self.source} {clone}",
                )
            yield Package(self.registry, self.name, self.version, "", archive)


def read_projects(path: Path) -> list[Project]:
    """Read a list of projects."""
    return [Project(**row) for row in json.loads(path.read_text("utf-8"))]


def refuse_seen(projects: Sequence[Project], data: Path) -> None:
    """Raise InputError if training may have seen a project: by rule, or by what the manifests say.

    :param data: the folder of the bundled encoder.
    """
    kept_out = {line.strip() for line in (data / HELD_OUT).read_text("utf-8").splitlines()}
    for project in projects:
        if project.name not in kept_out:
            raise InputError(f"{project.name} is not kept out of training", hint=f"add it to {data / HELD_OUT}")
    for manifest in MANIFESTS:
        packages = json.loads((data / manifest).read_text("utf-8"))["packages"]
        seen = [Package(row["registry"], row["name"], row["version"], "", Path(row["name"])) for row in packages]
        refuse_held_out(seen, data / HELD_OUT)


def take(project: Project, sources: Path, table: Path) -> Counter[str]:
    """Write the pairs of one project; return how many each language has."""
    with project.package(sources) as package:
        pairs: list[Pair] = harvest(package, SUFFIXES, frozenset(map(str, CALLABLE_KINDS)))
    pq.write_table(pa.Table.from_pylist([asdict(pair) for pair in pairs], SCHEMA), table, compression="zstd")
    return Counter(pair.language for pair in pairs)


def main(arguments: Sequence[str]) -> int:
    """Read the arguments and take all projects, one after the other."""
    parser = argparse.ArgumentParser(prog="held_out", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sources", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--list", type=Path, default=LIST)
    given = parser.parse_args(arguments)
    projects = read_projects(given.list)
    refuse_seen(projects, encoder_folder())
    given.pairs.mkdir(parents=True, exist_ok=True)
    for project in projects:
        table = given.pairs / f"{project.name.replace('/', '-')}.parquet"
        if not table.exists():
            counts = take(project, given.sources, table)
            told = ", ".join(f"{language} {count}" for language, count in counts.most_common())
            sys.stdout.write(f"{project.name} {project.version[:12]}: {told}\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
