"""Real git repositories for tests: made in a temporary folder, with git itself."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipelines.discover import list_files
from pipelines.records import ListedFile, Listing, SkipReason
from pipelines.settings import IndexSettings

_USER = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "protocol.file.allow=always")


def git(folder: Path, *arguments: str | bytes, data: bytes = b"") -> str:
    done = subprocess.run(["git", *_USER, *arguments], cwd=folder, input=data, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def make_repository(root: Path, files: Mapping[str, str | bytes], *init: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main", *init)
    write(root, files)
    commit(root)
    return root


def commit(root: Path, message: str = "change") -> str:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")


def listing_of(root: Path, *, rev: str = "", deny: tuple[str, ...] = (), **settings: Any) -> Listing:
    return list_files(root, "repo", IndexSettings(**settings), rev=rev, deny=deny)


def indexed(listing: Listing) -> set[str]:
    return {file.path for file in listing.files if file.skip_reason is None}


def skipped(listing: Listing) -> dict[str, SkipReason]:
    return {file.path: file.skip_reason for file in listing.files if file.skip_reason is not None}


def file_of(listing: Listing, path: str) -> ListedFile:
    (found,) = (file for file in listing.files if file.path == path)
    return found
