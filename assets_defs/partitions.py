"""The partitions: one key per repository and bucket, and one per repository.

In a key of two dimensions Dagster orders the dimensions by name and joins their keys by '|': "b03|orders". A repository
key never holds a '|' (see identity.require_repo_key), so the key splits back without doubt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import dagster as dg

from pipelines.identity import bucket_keys

#: Name of the dynamic partitions, one per registered repository.
REPOS = "repos"
RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions of a deployment, and the mapping from the first to the second."""

    repo_bucket: dg.MultiPartitionsDefinition
    repo: dg.DynamicPartitionsDefinition
    all_buckets: dg.MultiToSingleDimensionPartitionMapping


def make_partitions(buckets: int) -> Partitions:
    """Return the partitions for a number of buckets."""
    repo = dg.DynamicPartitionsDefinition(name=REPOS)
    by_bucket = dg.StaticPartitionsDefinition(list(bucket_keys(buckets)))
    return Partitions(
        dg.MultiPartitionsDefinition({"bucket": by_bucket, "repo": repo}),
        repo,
        dg.MultiToSingleDimensionPartitionMapping("repo"),
    )


def partition_key(repo: str, bucket: str) -> str:
    """Return the partition key of a bucket."""
    return f"{bucket}|{repo}"


def split_keys(keys: Iterable[str]) -> dict[str, list[str]]:
    """Return the buckets of each repository that partition keys name."""
    found: dict[str, list[str]] = {}
    for key in keys:
        bucket, _, repo = key.partition("|")
        found.setdefault(repo, []).append(bucket)
    return found


def range_tags(repo: str, buckets: int) -> dict[str, str]:
    """Return the tags of a run over all buckets of a repository."""
    keys = bucket_keys(buckets)
    return {RANGE_START: partition_key(repo, keys[0]), RANGE_END: partition_key(repo, keys[-1])}
