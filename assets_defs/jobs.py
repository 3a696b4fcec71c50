"""The jobs: the chain of one bucket, what follows from all buckets, and the evaluation alone.

Assets of one job have equal partitions, so buckets and repositories have a job each.
"""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from assets_defs.assets.serving import SEARCH_INDEX
from pipelines import formats

#: A job whose assets are looked up when the definitions are complete.
Job = UnresolvedAssetJobDefinition

BUCKET_JOB = "bucket_job"
REPOSITORY_JOB = "repository_job"
EVALUATION_JOB = "evaluation_job"


def build_jobs() -> Sequence[Job]:
    """Return all jobs."""
    bucket = [item.name for item in formats.BUCKET_FORMATS]
    whole = [item.name for item in formats.REPOSITORY_FORMATS]
    return [
        _job(BUCKET_JOB, bucket, "Symbols, chunks, postings and vectors of a bucket."),
        _job(REPOSITORY_JOB, [*whole, SEARCH_INDEX], "Graph, codes, rows and evaluation of a repository; publishes."),
        _job(EVALUATION_JOB, [formats.EVAL_RUNS.name], "Evaluates what is materialised of a repository, anew."),
    ]


def _job(name: str, assets: Sequence[str], description: str) -> Job:
    return dg.define_asset_job(name, dg.AssetSelection.assets(*assets), description=description)
