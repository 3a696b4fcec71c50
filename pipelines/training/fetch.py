"""Download what the manifest names, by the registries' own clients: python -m pipelines.training.fetch FOLDER.

Goes to the network, with the mirrors and credentials that pip, npm and apt-get are configured for. What lies in
FOLDER/packages already, byte for byte, is not downloaded again; what comes with other bytes than the manifest says is
removed and told. The manifest is FOLDER/packages.json, else that of the shipped encoder.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from pipelines.training.__main__ import BUNDLED, tell
from pipelines.training.manifest import Row, digest, read_manifest
from pipelines.training.steps import TrainingFolder

#: Seconds that one package may take.
_TIMEOUT_S = 900
#: Runs a command in a folder; raises OSError or SubprocessError.
Run = Callable[[Sequence[str], Path], None]


def fetch(folder: TrainingFolder, run: Run, told: Callable[[str], None]) -> Counter[str]:
    """Download every package that is not there; return how many were there, came, and failed."""
    folder.packages.mkdir(parents=True, exist_ok=True)
    counts = Counter[str]()
    for row in read_manifest(folder.manifest):
        if _fault(row, folder.packages):
            fault = _download(row, folder.packages, run)
            counts["failed" if fault else "downloaded"] += 1
            told(f"{row.key} {row.version}: {fault or 'downloaded'}")
        else:
            counts["present"] += 1
    return counts


def command_for(row: Row) -> list[str]:
    """Return the command that downloads a package into the working folder."""
    archive = next(iter(row.files))
    if row.registry == "npm":
        return ["npm", "pack", "--silent", "--ignore-scripts", f"{row.name}@{row.version}"]
    if row.registry == "debian":
        what = ["download"] if archive.endswith(".deb") else ["source", "--download-only"]
        return ["apt-get", *what, "-q", f"{row.name}={row.version}"]
    # The tags of the wheel that the manifest names, which need not be those of this machine.
    python, abi, platform = archive.removesuffix(".whl").split("-")[-3:]
    tags = [part for name in platform.split(".") for part in ("--platform", name)] if platform != "any" else []
    tags += ["--abi", abi] if tags else []
    version = python.split(".")[0].removeprefix("cp").removeprefix("py")
    tags += ["--python-version", version] if tags and len(version) > 1 else []
    given = ["--no-deps", "--only-binary", ":all:", *tags]
    return [sys.executable, "-m", "pip", "download", "--quiet", *given, f"{row.name}=={row.version}"]


def run_command(command: Sequence[str], folder: Path) -> None:
    """Run a command to its end."""
    subprocess.run(command, cwd=folder, check=True, timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL, capture_output=True)


def _download(row: Row, folder: Path, run: Run) -> str:
    """Bring the files of a package into a folder; return what failed, "" if nothing did."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as place:
        try:
            run(command_for(row), Path(place))
        except (OSError, subprocess.SubprocessError) as error:
            said = (getattr(error, "stderr", b"") or b"").decode("utf-8", "replace").strip()
            return f"cannot be downloaded: {said.splitlines()[-1] if said else error}"
        fault = _fault(row, Path(place))
        if not fault:
            for name in row.files:
                shutil.move(Path(place) / name, folder / name)
    return fault


def _fault(row: Row, folder: Path) -> str:
    for name, wanted in row.files.items():
        if not (folder / name).is_file():
            return f"{name} is missing"
        if digest(folder / name) != wanted:
            return f"{name} is not the file that the manifest names"
    return ""


def main(arguments: Sequence[str]) -> int:
    """Download into the packages of a training folder; 1 if something is missing afterwards."""
    parser = argparse.ArgumentParser(prog="fetch", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    counts = fetch(TrainingFolder(given.folder.resolve(), BUNDLED), run_command, tell)
    tell(", ".join(f"{counts[name]} {name}" for name in ("present", "downloaded", "failed")))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
