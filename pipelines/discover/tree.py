"""Reading the listed files: from a working tree or from a commit, always the very content that was listed.

In: a folder and its listing. Out: a SourceTree; its `read` returns bytes whose git blob id is the listed one, or fails.
No link is followed and no program of the repository runs; contents of a commit come from one `git cat-file --batch`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.discover.listing.blobs import Blobs
from pipelines.discover.listing.disk import read_file
from pipelines.discover.listing.files import require_folder
from pipelines.discover.listing.git import Repository, blob_id, find_repository
from pipelines.errors import InputError, SourceMoved
from pipelines.records import ListedFile, Listing, SourceTree

_OBJECT_FORMATS = {40: "sha1", 64: "sha256"}


@contextmanager
def open_tree(root: Path, listing: Listing, *, rev: str = "") -> Iterator[SourceTree]:
    """Open the files of a listing for reading.

    :param root: the folder that was listed. :param listing: what was listed. :param rev: the revision that was listed.
    :raises InputError: if the folder or the commit is gone.
    """
    root = require_folder(root)
    repository = find_repository(root)
    with Blobs(repository) as blobs:
        if rev or (repository is not None and repository.bare):
            if repository is None or not repository.commit(listing.commit or "HEAD"):
                raise InputError(f"{root} no longer has commit {listing.commit}", hint="fetch it, then run again")
            yield _CommitTree(listing, blobs)
        else:
            yield _WorkingTree(root, repository, blobs)


class _CommitTree:
    """A commit: its blobs are found by their ids alone."""

    def __init__(self, listing: Listing, blobs: Blobs) -> None:
        self._commit = listing.commit
        self._blobs = blobs

    def read(self, file: ListedFile) -> bytes:
        """Return the content of a listed file."""
        content = self._blobs.get(file.blob_id)
        if content is None or not _is(content, file.blob_id):
            raise SourceMoved(
                f"{file.path} is no longer in commit {self._commit}", hint="run `git fsck`, then run again"
            )
        return content


class _WorkingTree:
    """A folder. Where git converts a file on checkout, its blob is returned, after comparing the two."""

    def __init__(self, root: Path, repository: Repository | None, blobs: Blobs) -> None:
        self._root = root
        self._repository = repository
        self._blobs = blobs

    def read(self, file: ListedFile) -> bytes:
        """Return the content of a listed file."""
        path = file.path.encode("utf-8")
        data = read_file(self._root, path, file.size)
        if _is(data, file.blob_id):
            return data
        stored = self._blobs.get(file.blob_id)
        if stored is None or not self._converts_to(path, data, stored, file.blob_id):
            hint = "run again; if that does not help, run `git status` to refresh git's index"
            raise SourceMoved(f"{file.path} changed while it was being indexed", hint=hint)
        return stored

    def _converts_to(self, path: bytes, data: bytes, stored: bytes, identity: str) -> bool:
        """Tell whether git would store `data` as the blob `stored`."""
        if not _is(stored, identity):
            return False
        if data.replace(b"\r\n", b"\n") == stored:
            return True
        if self._repository is None:
            return False
        answer = self._repository.git.run("hash-object", "--stdin", b"--path=" + path, data=data)
        return answer.strip().decode("ascii") == identity


def _is(content: bytes, identity: str) -> bool:
    return blob_id(content, _OBJECT_FORMATS[len(identity)]) == identity
