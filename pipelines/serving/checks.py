"""What must hold of the artifacts: one list of checks for the Dagster UI, for publication and for `strata check`.

In: the artifacts of some buckets, or of a whole generation. Out: check results. An artifact that cannot be opened fails
the check that needed it, with the artifact's name in the message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines import formats
from pipelines.artifacts import Artifact, ArtifactRef
from pipelines.errors import ArtifactError
from pipelines.generation import GenerationDocument
from pipelines.records import CheckResult, SearchMode, Severity, SkipReason
from pipelines.settings import Settings
from pipelines.store import ArtifactStore

#: More than this share of a repository's files lost to a fault deserves a look, where it is still published.
_NOTABLE_FAULT_SHARE = 0.1
#: Why a file was lost, where others are left out on purpose.
_FAULTS = (
    SkipReason.UNDECODABLE,
    SkipReason.MALFORMED,
    SkipReason.UNREADABLE,
    SkipReason.TIMED_OUT,
    SkipReason.CRASHED,
)
#: So many bits may be nearly constant: a repository is of one language and one subject, which some bits tell.
_MAX_POOR_BITS = 1 / 16
#: Rows of codes that are unpacked at a time: 64 MB at 1,024 bits.
_BLOCK_ROWS = 65_536
#: A bit that is nearly constant tells nothing; below this many valid rows the share is chance.
_MIN_BIT_SHARE, _MIN_ROWS_FOR_BALANCE = 0.02, 256
#: Fewer known items than this say nothing about the floor.
_MIN_KNOWN_ITEMS = 10


@dataclass(frozen=True, slots=True)
class CheckScope:
    """The artifacts that a check may look at, by asset in bucket order, and the settings it needs."""

    store: ArtifactStore
    refs: Mapping[str, Sequence[ArtifactRef]]
    settings: Settings

    def opened(self, asset: str) -> Iterator[Artifact]:
        """Open the artifacts of an asset in bucket order."""
        return (self.store.open(ref) for ref in self.refs[asset])

    @classmethod
    def of(cls, store: ArtifactStore, document: GenerationDocument, settings: Settings) -> CheckScope:
        """Return the scope of a whole generation."""
        refs: dict[str, list[ArtifactRef]] = {}
        for ref in document.refs:
            refs.setdefault(ref.asset, []).append(ref)
        return cls(store, refs, settings)


@dataclass(frozen=True, slots=True)
class Check:
    """One check of one asset. `find` returns what is wrong, "" if nothing; `needs` names further assets it opens.

    `claim` is what holds where the check passes, for people.
    """

    name: str
    asset: str
    severity: Severity
    find: Callable[[CheckScope], str]
    claim: str
    needs: tuple[str, ...] = ()

    def run(self, scope: CheckScope) -> CheckResult:
        """Run the check; an artifact that cannot be used is a failure with that artifact's name."""
        try:
            fault = self.find(scope)
        except ArtifactError as error:
            fault = str(error)
        return CheckResult(self.name, self.asset, not fault, self.severity, fault or "ok")


def run_checks(scope: CheckScope, checks: Iterable[Check]) -> list[CheckResult]:
    """Run the checks whose artifacts are in the scope."""
    return [check.run(scope) for check in checks if {check.asset, *check.needs} <= scope.refs.keys()]


def _files_accounted(scope: CheckScope) -> str:
    for artifact in scope.opened("symbols"):
        files = artifact.table("files.parquet", columns=["path", "skip_reason"])
        doubled = files.num_rows - pc.count_distinct(files["path"]).as_py()
        if doubled:
            return f"{doubled} paths stand twice in files.parquet of {artifact.ref}"
        indexed = files["skip_reason"].null_count
        if artifact.counts["files_indexed"] != indexed:
            return f"{artifact.ref} counts {artifact.counts['files_indexed']} indexed files and lists {indexed}"
    return ""


def _failed_files(scope: CheckScope) -> str:
    allowed = scope.settings.index.max_failed_share
    fault = _too_many_faults(scope, allowed)
    return f"{fault} that index.max_failed_share allows" if fault else ""


def _few_failed_files(scope: CheckScope) -> str:
    fault = _too_many_faults(scope, _NOTABLE_FAULT_SHARE)
    return f"{fault} that go without a look" if fault else ""


def _too_many_faults(scope: CheckScope, allowed: float) -> str:
    """Say how many of the files that were meant to be indexed were lost, if it is more than a share of them."""
    indexed, faults = 0, Counter[str]()
    for artifact in scope.opened("symbols"):
        indexed += artifact.counts["files_indexed"]
        faults.update(
            {reason: count for reason, count in artifact.counts["files_skipped"].items() if reason in _FAULTS}
        )
    wanted = indexed + faults.total()
    if not wanted or faults.total() / wanted <= allowed:
        return ""
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(faults.items()))
    return f"{faults.total()} of {wanted} files were lost to faults ({reasons}), more than the {allowed:.0%}"


def _symbol_ids(scope: CheckScope) -> str:
    return _ids_fault(scope, "symbols", "symbols.parquet", "symbol_id")


def _chunk_ids(scope: CheckScope) -> str:
    return _ids_fault(scope, "chunks", "chunks.parquet", "chunk_id")


def _ids_fault(scope: CheckScope, asset: str, file: str, column: str) -> str:
    """Say where ids are not strictly ascending, which is where rows are doubled or out of order."""
    last = b""
    for artifact in scope.opened(asset):
        ids = artifact.table(file, columns=[column])[column].to_pylist()
        for before, after in zip([last, *ids], ids, strict=False):
            if not before < after:
                return f"id {after.hex()} of {artifact.ref} is doubled or out of order"
        last = ids[-1] if ids else last
    return ""


def _references(scope: CheckScope) -> str:
    for symbols, chunks in zip(scope.opened("symbols"), scope.opened("chunks"), strict=True):
        rows = chunks.table("chunks.parquet", columns=["path", "symbol_id"])
        files = symbols.table("files.parquet", columns=["path", "skip_reason"])
        indexed = files.filter(pc.is_null(files["skip_reason"]))["path"]
        strangers = _unknown(rows["path"], indexed)
        if strangers:
            return f"chunks of {chunks.ref} show {strangers[0]!r}, which is not an indexed file"
        known = symbols.table("symbols.parquet", columns=["symbol_id"])["symbol_id"]
        orphans = _unknown(rows["symbol_id"].drop_null(), known)
        if orphans:
            return f"chunks of {chunks.ref} refer to symbol {orphans[0].hex()}, which does not exist"
    return ""


def _unknown(values: pa.ChunkedArray, known: pa.ChunkedArray) -> list[Any]:
    members = (
        pc.is_in(values, value_set=known.combine_chunks())
        if len(known)
        else pa.array([False] * len(values), pa.bool_())
    )
    found: list[Any] = values.filter(pc.invert(members)).slice(0, 1).to_pylist()
    return found


def _postings(scope: CheckScope) -> str:
    for chunks, segment in zip(scope.opened("chunks"), scope.opened("lexical_segments"), strict=True):
        terms, offsets, rows = (segment.array(name) for name in ("terms.npy", "offsets.npy", "rows.npy"))
        documents = chunks.counts["rows"]
        sorted_terms = bool(np.all(terms[1:] > terms[:-1]))
        spans = len(offsets) == len(terms) + 1 and bool(np.all(np.diff(offsets) > 0)) and offsets[-1] == len(rows)
        if not sorted_terms or not spans:
            return f"terms and offsets of {segment.ref} are not in order"
        if len(segment.array("lengths.npy")) != documents or (len(rows) and int(rows.max()) >= documents):
            return f"{segment.ref} has postings for other rows than the {documents} of {chunks.ref}"
    return ""


def _vectors_aligned(scope: CheckScope) -> str:
    for chunks, vectors in zip(scope.opened("chunks"), scope.opened("chunk_vectors"), strict=True):
        counts = {name: len(vectors.array(f"{name}.npy")) for name in ("vectors", "valid", "embed_keys")}
        if set(counts.values()) != {chunks.counts["rows"]}:
            return f"{vectors.ref} has {counts} rows, {chunks.ref} has {chunks.counts['rows']}"
    return ""


def _vectors_finite(scope: CheckScope) -> str:
    for artifact in scope.opened("chunk_vectors"):
        vectors, valid = artifact.array("vectors.npy"), artifact.array("valid.npy")
        if not np.isfinite(vectors).all():
            return f"{artifact.ref} holds values that are not finite"
        if np.any(valid != vectors.any(axis=1)):
            return f"valid.npy of {artifact.ref} does not tell zero vectors from others"
    return ""


def _edges(scope: CheckScope) -> str:
    (graph,) = scope.opened("graph_snapshot")
    nodes = graph.manifest["files"]["nodes.parquet"]["rows"]
    indptr, indices = graph.array("indptr.npy"), graph.array("indices.npy")
    if len(indptr) != nodes + 1 or indptr[-1] != len(indices) or np.any(np.diff(indptr) < 0):
        return f"{graph.ref} has {nodes} nodes, {len(indptr) - 1} rows of edges, {len(indices)} edges"
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < nodes:
        return f"an edge of {graph.ref} leads to a node that does not exist"
    total = pc.sum(graph.table("metrics.parquet", columns=["pagerank"])["pagerank"]).as_py() or 0.0
    return f"PageRank of {graph.ref} sums to {total}, not 1" if nodes and abs(total - 1) > 1e-6 else ""


def _row_counts(scope: CheckScope) -> str:
    (codes,) = scope.opened("binary_codes")
    (rows,) = scope.opened("search_rows")
    counts = {f"binary_codes/{name}": len(codes.array(name)) for name in ("codes.npy", "rescoring.npy", "valid.npy")}
    counts |= {f"search_rows/{name}": rows.manifest["files"][name]["rows"] for name in ("rows.arrow", "texts.arrow")}
    counts["chunks"] = sum(artifact.counts["rows"] for artifact in scope.opened("chunks"))
    return "" if len(set(counts.values())) == 1 else f"row counts differ: {counts}"


def _row_order(scope: CheckScope) -> str:
    (rows,) = scope.opened("search_rows")
    ids: npt.NDArray[np.bytes_] = np.array(rows.mapped_table("rows.arrow")["chunk_id"].to_pylist(), dtype="V16")
    halves = ids.view(">u8").reshape(-1, 2)
    high, low = halves[:, 0], halves[:, 1]
    ascending = (high[1:] > high[:-1]) | ((high[1:] == high[:-1]) & (low[1:] > low[:-1]))
    if not ascending.all():
        place = int(np.argmin(ascending)) + 1
        return f"row {place} of {rows.ref} is doubled or out of order"
    return ""


def _bits_balanced(scope: CheckScope) -> str:
    (codes,) = scope.opened("binary_codes")
    poor, total = poor_bits(codes.array("codes.npy")[codes.array("valid.npy")])
    if poor <= _MAX_POOR_BITS * total:
        return ""
    return f"{poor} of {total} bits of {codes.ref} are nearly constant"


def poor_bits(codes: npt.NDArray[np.uint8]) -> tuple[int, int]:
    """Return how many of the bits of (N, B) packed codes are nearly constant, and how many there are."""
    bits = 8 * codes.shape[1]
    if len(codes) < _MIN_ROWS_FOR_BALANCE:
        return 0, bits
    ones = np.zeros(bits, np.int64)
    for start in range(0, len(codes), _BLOCK_ROWS):
        ones += np.unpackbits(codes[start : start + _BLOCK_ROWS], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    share = ones / len(codes)
    return int(np.sum((share < _MIN_BIT_SHARE) | (share > 1 - _MIN_BIT_SHARE))), bits


def _evaluation_floor(scope: CheckScope) -> str:
    (runs,) = scope.opened("eval_runs")
    floor = scope.settings.evaluation.floor
    for row in runs.table("metrics.parquet").to_pylist():
        known = (row["fixture"], row["case_kind"], row["mode"]) == ("known-items", "symbol", SearchMode.HYBRID)
        if known and row["cases"] >= _MIN_KNOWN_ITEMS and row["hit_at_1"] < floor:
            return f"only {row['hit_at_1']:.0%} of {row['cases']} known names rank first, the floor is {floor:.0%}"
    return ""


def _checksums(asset: str) -> Callable[[CheckScope], str]:
    def find(scope: CheckScope) -> str:
        for ref in scope.refs[asset]:
            scope.store.verify(ref)
        return ""

    return find


#: The checks that the build runs: those of severity ERROR block publication.
CHECKS: tuple[Check, ...] = (
    Check(
        "files_accounted",
        "symbols",
        Severity.ERROR,
        _files_accounted,
        "Every listed file stands in files.parquet once, and the manifest counts as many indexed files.",
    ),
    Check(
        "symbol_ids_unique",
        "symbols",
        Severity.ERROR,
        _symbol_ids,
        "Symbol ids ascend strictly, over all buckets.",
    ),
    Check(
        "chunk_ids_unique",
        "chunks",
        Severity.ERROR,
        _chunk_ids,
        "Chunk ids ascend strictly, over all buckets.",
    ),
    Check(
        "references_exist",
        "chunks",
        Severity.ERROR,
        _references,
        "Every chunk shows an indexed file and, where it names a symbol, one that exists.",
        needs=("symbols",),
    ),
    Check(
        "postings_consistent",
        "lexical_segments",
        Severity.ERROR,
        _postings,
        "Terms and offsets are in order, and every posting is of a chunk of the bucket.",
        needs=("chunks",),
    ),
    Check(
        "vectors_aligned",
        "chunk_vectors",
        Severity.ERROR,
        _vectors_aligned,
        "There is one vector, one valid mark and one key for each chunk.",
        needs=("chunks",),
    ),
    Check(
        "vectors_finite",
        "chunk_vectors",
        Severity.ERROR,
        _vectors_finite,
        "All values are finite, and exactly the zero vectors are marked as not valid.",
    ),
    Check(
        "edges_within_nodes",
        "graph_snapshot",
        Severity.ERROR,
        _edges,
        "Every edge leads to a node that exists, and the PageRank of all nodes sums to 1.",
    ),
    Check(
        "row_counts_equal",
        "search_rows",
        Severity.ERROR,
        _row_counts,
        "Codes, search rows, texts and chunks have equally many rows.",
        needs=("binary_codes", "chunks"),
    ),
    Check(
        "row_order",
        "search_rows",
        Severity.ERROR,
        _row_order,
        "Chunk ids ascend strictly, so that a row number means the same chunk in every array.",
    ),
    Check(
        "failed_files",
        "search_rows",
        Severity.ERROR,
        _failed_files,
        "At most index.max_failed_share of the files were lost to faults, such as a crash of the parser.",
        needs=("symbols",),
    ),
    Check(
        "few_failed_files",
        "search_rows",
        Severity.WARN,
        _few_failed_files,
        "At most a tenth of the files were lost to faults.",
        needs=("symbols",),
    ),
    Check(
        "bits_balanced",
        "binary_codes",
        Severity.WARN,
        _bits_balanced,
        "Hardly a bit of the codes is nearly constant.",
    ),
    Check(
        "evaluation_floor",
        "eval_runs",
        Severity.ERROR,
        _evaluation_floor,
        "Enough of the repository's own names rank first when they are asked for.",
    ),
)
#: What `strata check` runs besides: the checksum of every byte of the generation.
CHECKSUMS: tuple[Check, ...] = tuple(
    Check("checksums", name, Severity.ERROR, _checksums(name), "Every byte is as it was written.")
    for name in formats.FORMATS
)
