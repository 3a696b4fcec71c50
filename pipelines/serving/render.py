"""What leaves Strata as JSON: one function per document, the same for the command line and for HTTP.

In: outcomes and answers. Out: plain values with the fields that docs/cli.md describes, in its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pipelines.formats import JSON_SCHEMA_VERSION
from pipelines.records import CheckResult, Hit, Listing, Severity, Staleness
from pipelines.serving.cli.host import INDEXED

if TYPE_CHECKING:
    from pipelines.generation import EncoderInfo
    from pipelines.retrieval import Answer
    from pipelines.serving.cli.host import (
        Benchmarked,
        GarbageReport,
        IndexOutcome,
        Preview,
        Quarantine,
        RepositoryStatus,
    )
    from pipelines.store import Pointer

#: Decimals of scores and terms: what is left out is below any difference that ranks two hits.
_SCORE_DECIMALS = 6
#: From best to worst: several repositories together are as stale as the stalest of them.
_STALENESS_ORDER = (Staleness.FRESH, Staleness.UNKNOWN, Staleness.STALE)


def index_document(outcome: IndexOutcome) -> dict[str, Any]:
    """Return the document of `strata index --json`."""
    return {
        "schema_version": JSON_SCHEMA_VERSION,
        "repo": outcome.repo,
        "path": outcome.path,
        "store": outcome.store,
        "commit": outcome.commit,
        "generation": outcome.generation,
        "published": outcome.published,
        "files": {"indexed": outcome.files_indexed, "skipped": dict(sorted(outcome.files_skipped.items()))},
        "encodings": dict(sorted(outcome.encodings.items())),
        "quarantined": {"pieces": outcome.quarantined_pieces, "files": outcome.quarantined_files},
        "symbols": outcome.symbols,
        "chunks": outcome.chunks,
        "vectors": {
            "total": outcome.vectors_total,
            "reused": outcome.vectors_reused,
            "embedded": outcome.vectors_embedded,
        },
        "buckets": {
            "total": outcome.buckets_total,
            "computed": outcome.buckets_computed,
            "reused": outcome.buckets_reused,
        },
        "checks": [{"name": item.name, "passed": item.passed, "severity": item.severity} for item in outcome.checks],
        "duration_s": round(outcome.duration_s, 3),
        "encoder": _encoder(outcome.encoder),
        "warnings": list(outcome.warnings),
    }


def preview_document(preview: Preview, reasons: Collection[str] = ()) -> dict[str, Any]:
    """Return the document of `strata index --dry-run --json`; its files are sorted by path.

    :param preview: what would become of the files. :param reasons: list only the files that are left out for these.
    """
    plan, listing = preview.plan, preview.listing
    files = sorted(listing.files, key=lambda item: item.path)
    skipped = skip_counts(listing)
    return {
        "schema_version": JSON_SCHEMA_VERSION,
        "repo": listing.repo,
        "commit": listing.commit,
        "dirty": listing.dirty,
        "generation": plan.generation,
        "recipes": plan.inputs.recipes(),
        "files": {"indexed": len(files) - skipped.total(), "skipped": dict(sorted(skipped.items()))},
        "listing": [
            {
                "path": item.path,
                "size": item.size,
                "language": item.language,
                "scope": item.scope,
                "content": item.content,
                "skip_reason": item.skip_reason,
                "skip_detail": item.skip_detail,
            }
            for item in files
            if not reasons or (item.skip_reason or INDEXED) in reasons
        ],
        "warnings": list(listing.warnings),
    }


def skip_counts(listing: Listing) -> Counter[str]:
    """Count the files of a listing that are left out, by reason."""
    return Counter(str(item.skip_reason) for item in listing.files if item.skip_reason)


def query_document(
    answer: Answer, pointers: Mapping[str, Pointer], staleness: Mapping[str, Staleness], encoder: EncoderInfo
) -> dict[str, Any]:
    """Return the document of `strata query --json`.

    :param answer: what was found. :param pointers: what was searched, by repository; :param staleness: likewise.
    :param encoder: what encoded the query.
    """
    repositories = [
        {"repo": repo, "generation": item.generation, "commit": item.commit, "staleness": staleness[repo]}
        for repo, item in sorted(pointers.items())
    ]
    several = len(repositories) > 1
    document: dict[str, Any] = {
        "schema_version": JSON_SCHEMA_VERSION,
        "query": answer.query.text,
        "mode": answer.query.mode,
        "fusion": answer.query.fusion,
        "generation": None if several else repositories[0]["generation"],
        "commit": None if several else repositories[0]["commit"],
        "staleness": worst(staleness.values()),
        "encoder": _encoder(encoder),
        "counts": dict(answer.counts),
        "timing_ms": {step: round(spent, 3) for step, spent in answer.timing_ms.items()},
        "hits": [hit_document(hit) for hit in answer.hits],
        "notes": list(answer.notes),
        "expansion": None if answer.expansion is None else asdict(answer.expansion),
    }
    if several:
        document["repositories"] = repositories
    if answer.query.explain:
        document |= {"inactive": dict(answer.inactive), "analysis": dict(answer.analysis)}
    return document


def hit_document(hit: Hit) -> dict[str, Any]:
    """Return one hit."""
    return {
        "rank": hit.rank,
        "chunk_id": hit.chunk_id,
        "repo": hit.repo,
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "line": hit.line,
        "language": hit.language,
        "kind": hit.kind,
        "symbol": hit.symbol,
        "scope": hit.scope,
        "score": round(float(hit.score), _SCORE_DECIMALS),
        "distance": hit.distance,
        "terms": {name: round(float(value), _SCORE_DECIMALS) for name, value in hit.terms.items()},
        "excerpt": hit.excerpt,
    }


def status_document(repositories: Sequence[RepositoryStatus]) -> dict[str, Any]:
    """Return the document of `strata status --json` and `strata repos list --json`."""
    return {"schema_version": JSON_SCHEMA_VERSION, "repositories": [_status(item) for item in repositories]}


def quarantine_document(found: Sequence[Quarantine]) -> dict[str, Any]:
    """Return the document of `strata status --quarantine --json`."""
    return {
        "schema_version": JSON_SCHEMA_VERSION,
        "repositories": [
            {
                "repo": item.repo,
                "reasons": dict(item.reasons),
                "places": [asdict(place) for place in item.places],
                "omitted": item.omitted,
            }
            for item in found
        ],
    }


def repository_document(status: RepositoryStatus) -> dict[str, Any]:
    """Return the document of `strata repos add --json`."""
    return {"schema_version": JSON_SCHEMA_VERSION, "repository": _status(status)}


def removal_document(repo: str) -> dict[str, Any]:
    """Return the document of `strata repos remove --json`."""
    return {"schema_version": JSON_SCHEMA_VERSION, "removed": repo}


def checks_document(checks: Sequence[CheckResult]) -> dict[str, Any]:
    """Return the document of `strata check --json`."""
    return {
        "schema_version": JSON_SCHEMA_VERSION,
        "passed": not failed(checks),
        "checks": [asdict(item) for item in checks],
    }


def evaluation_document(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the document of `strata eval --json`."""
    return {"schema_version": JSON_SCHEMA_VERSION, "runs": [dict(row) for row in rows]}


def benchmark_document(found: Benchmarked) -> dict[str, Any]:
    """Return the document of `strata eval --benchmark --json`."""
    figures = [dict(row) for row in found.figures]
    return {"schema_version": JSON_SCHEMA_VERSION, "notes": list(found.notes), "figures": figures}


def garbage_document(report: GarbageReport) -> dict[str, Any]:
    """Return the document of `strata gc --json`."""
    return {"schema_version": JSON_SCHEMA_VERSION, **asdict(report)}


def failed(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """Return the checks whose failure is an error; a failed warning is shown, and fails nothing."""
    return [item for item in checks if not item.passed and item.severity == Severity.ERROR]


def worst(states: Iterable[Staleness]) -> Staleness:
    """Return the staleness of several repositories together."""
    return max(states, key=_STALENESS_ORDER.index)


def _status(status: RepositoryStatus) -> dict[str, Any]:
    pointer = status.pointer
    return {
        "repo": status.repo,
        "path": status.path,
        "rev": status.rev,
        "state": status.state,
        "generation": pointer and pointer.generation,
        "commit": pointer and pointer.commit,
        "dirty": pointer and pointer.dirty,
        "published_at": pointer and pointer.published_at,
        "counts": dict(status.counts),
        "encoder": status.encoder and _encoder(status.encoder),
        "store": status.store,
        "message": status.message,
    }


def _encoder(encoder: EncoderInfo) -> dict[str, Any]:
    return {"name": encoder.name, "digest": encoder.digest, "dimensions": encoder.dimensions}
