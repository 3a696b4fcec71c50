"""Identities: repository keys, buckets, chunk and symbol ids. One order for everything: the order of path hashes.

A bucket is a contiguous range of path hashes and an id starts with the path hash, so rows sorted by id inside each
bucket, buckets one after the other, are sorted by id over the whole repository: whatever the number of buckets, and in
that order ties by row number are ties by id.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePosixPath

from pipelines.errors import InputError
from pipelines.fingerprint import length_prefixed

#: Sixteen buckets by default. Dagster stops computing staleness at 100 upstream partitions, hence 64 at most.
DEFAULT_BUCKETS = 16
MAX_BUCKETS = 64
_KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
_PATH_PREFIX_BYTES = 4


def require_repo_key(key: str) -> str:
    """Return `key` if it is a valid repository key, else raise InputError."""
    if not _KEY.match(key) or ".." in key:
        raise InputError(
            f"repository key {key!r} is not valid",
            hint="use lower-case letters, digits, '.', '_' and '-', starting with a letter or digit, at most 64",
        )
    return key


def slug(name: str) -> str:
    """Return a valid repository key for any name; one that had to be changed gets a hash, so no two collide."""
    plain = re.sub(r"\.{2,}", ".", re.sub(r"[^a-z0-9._-]+", "-", name.lower())).strip("-._")[:48].strip("-._")
    if plain and plain == name:
        return plain
    suffix = hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"{plain}-{suffix}" if plain else f"repo-{suffix}"


def path_hash(path: str) -> bytes:
    """Return the 16-byte hash that buckets and row order are taken from."""
    return hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def bucket_keys(count: int) -> tuple[str, ...]:
    """Return the bucket keys in order: b00, b01, .. in hexadecimal. `count` is a power of two up to 64."""
    return tuple(f"b{index:02x}" for index in range(count))


def bucket_of(path: str, count: int) -> str:
    """Return the bucket of a path: the leading bits of its hash, so 16 buckets split cleanly into 64."""
    return f"b{path_hash(path)[0] >> (8 - (count.bit_length() - 1)):02x}"


def make_id(repo: str, path: str, kind: str, qualified_name: str, ordinal: int, part: int = 0) -> bytes:
    """Return the 16-byte id of a symbol or chunk.

    Four bytes of path hash, then twelve of blake2b over what names the thing. It holds neither lines nor text, so it
    survives edits of the body and of lines above; `ordinal` tells equal names apart, `part` the pieces of a long unit.
    A chunk with part 0 that shows a symbol has the symbol's id.
    """
    return FileIds(repo, path).make(kind, qualified_name, ordinal, part)


class FileIds:
    """Makes the ids of one file; what they have in common is hashed once."""

    def __init__(self, repo: str, path: str) -> None:
        self._prefix = path_hash(path)[:_PATH_PREFIX_BYTES]
        self._hasher = hashlib.blake2b(length_prefixed(_encoded(repo), _encoded(path)), digest_size=16)

    def make(self, kind: str, qualified_name: str, ordinal: int, part: int = 0) -> bytes:
        """Return the id of a symbol or chunk of the file, as `make_id` does."""
        hasher = self._hasher.copy()
        numbers = ordinal.to_bytes(4, "little"), part.to_bytes(4, "little")
        hasher.update(length_prefixed(_encoded(kind), _encoded(qualified_name), *numbers))
        return self._prefix + hasher.digest()[: 16 - _PATH_PREFIX_BYTES]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def default_repo_key(root_name: str) -> str:
    """Return the key of a repository that was given by path alone: the slug of its folder's name."""
    return slug(PurePosixPath(root_name).name or "repository")
