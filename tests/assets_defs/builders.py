"""A small indexed repository for the tests of this room: three files, four buckets, the sign-hash encoder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assets_defs.building import index
from pipelines.progress import Silent
from pipelines.serving.cli.host import IndexOutcome, IndexRequest
from resources.deployment import deployment_to_query
from resources.environment import Environment, variables_for_child
from resources.workspace import Workspace

#: Dagster 1.13.27 warns of a property that it reads itself, and of tags that it sets itself.
DAGSTER_S_OWN = (
    "ignore:Property `OpDefinition.version` is deprecated:DeprecationWarning",
    r"ignore:Non-compliant tag keys like \['dagster/partition/bucket:DeprecationWarning",
)
CODE = Path(__file__).parents[2]
CONFIG = """\
[index]
buckets = 4
[embedder]
name = "hash"
[evaluation]
known_items = 3
"""
FILES = {
    "strata.toml": CONFIG,
    "pricing.py": 'def apply_discount(net):\n    """Reduce the net price for bulk senders."""\n    return net * 0.9\n',
    "stock.py": "from pricing import apply_discount\n\n\ndef reserve(item):\n    return apply_discount(item.price)\n",
    "README.md": "# Parcels\n\nHow parcels are priced and reserved.\n",
}


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "change")


def make_repository(root: Path, files: Mapping[str, str] = FILES) -> Path:
    root.mkdir(parents=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(root, "init", "-q")
    commit(root)
    return root


def index_path(root: Path, folder: Path | None = None, **request: Any) -> IndexOutcome:
    """Do what `strata index ROOT` does in a folder, by default in the root."""
    return index(Environment(folder or root), IndexRequest(root, **request), Silent())


def workspace_of(root: Path) -> Workspace:
    return Workspace(deployment_to_query(Environment(root)))


def store_files(root: Path) -> dict[str, tuple[int, int]]:
    """Return inode and modification time of everything in the store, to tell whether anything was written."""
    store = root / ".strata"
    found = {path: path.stat() for path in store.rglob("*")}
    return {str(path.relative_to(store)): (stat.st_ino, stat.st_mtime_ns) for path, stat in sorted(found.items())}


def strata(root: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start `strata` in a folder, in a process of its own."""
    return start(root, ["-m", "assets_defs.command", *arguments])


def start(root: Path, arguments: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=root,
        env=variables_for_child(
            {"PYTHONPATH": str(CODE), "STRATA_HOME": None, "STRATA_CONFIG": None, "DAGSTER_HOME": None}
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
