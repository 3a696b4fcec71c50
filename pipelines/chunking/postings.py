"""The lexical segment of one bucket: which term stands in which row, and how often. In: chunks. Out: flat arrays.

    terms.npy        uint64 (T)    hash of each term (tokens.term_hash), strictly ascending, for binary search
    offsets.npy      int64  (T+1)  the postings of term t are [offsets[t], offsets[t+1]); never empty
    rows.npy         uint32 (P)    row number in the bucket's chunks, strictly ascending inside a term
    frequencies.npy  uint16 (P)    weighted count of the term in the row, at least 1; 65535 means so many or more
    lengths.npy      uint32 (N)    sum of the row's weighted counts, for every row of the bucket's chunks

The document frequency of a term in the bucket is offsets[t+1] - offsets[t]. BM25 is computed when a query is asked: k1,
b, the document frequencies summed over all buckets and the mean length belong to the query, so a changed bucket changes
no other segment. facts: `documents` is N, `total_length` the sum of lengths.npy, `fields` the weights.

A row's text holds the signature of what it shows, and its doc where that stands in the source, so neither is a field.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.artifacts import ArtifactWriter, Target
from pipelines.progress import Progress, Silent
from pipelines.report import StageReport
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore
from pipelines.tokens import term_hash, terms

#: How often each field counts. Measured on 30,000 functions: counting the name three times is worth .03 MRR, the words
#: of class and module a further .015; both cost a few per cent of space.
FIELD_WEIGHTS: Mapping[str, int] = {
    "text": 1,  # the unit of the others
    "name": 3,  # a definition must stand above the calls of it
    "qualified_name": 1,  # class and heading words, and the dotted name as one term
    "path": 1,  # folder words; "package-lock.json" as one term
    "stem": 1,  # the file's name once more: it is the module's name
}
_MAX_FREQUENCY = np.iinfo(np.uint16).max
#: Rows read at once: bounds memory to a few megabytes of text.
_BATCH_ROWS = 4_096
_COLUMNS = ["text", "name", "qualified_name", "path"]


class Postings(NamedTuple):
    """The arrays of a segment; see the module's docstring."""

    terms: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]
    rows: npt.NDArray[np.uint32]
    frequencies: npt.NDArray[np.uint16]
    lengths: npt.NDArray[np.uint32]


def build_segment(store: ArtifactStore, target: Target, progress: Progress | None = None) -> StageReport:
    """Make the lexical_segments artifact of one bucket.

    :param target: its input is the bucket's chunks artifact.
    """

    def work(writer: ArtifactWriter, report: StageReport) -> None:
        chunks = store.open(target.inputs[0]).table("chunks.parquet", _COLUMNS)
        postings = make_postings(_documents(chunks, target.ref.bucket, progress or Silent()))
        for name, values in postings._asdict().items():
            writer.array(f"{name}.npy", values)
        report.rows = report.computed = chunks.num_rows
        report.extra = {"terms": len(postings.terms), "postings": len(postings.rows)}
        writer.counts.update(rows=report.rows, **report.extra)
        writer.facts.update(
            documents=chunks.num_rows,
            total_length=int(postings.lengths.sum(dtype=np.int64)),
            fields=dict(FIELD_WEIGHTS),
        )

    return run_stage(store, target, work)


def _documents(chunks: pa.Table, bucket: str, progress: Progress) -> Iterator[Counter[str]]:
    progress.begin(f"lexical {bucket}", chunks.num_rows)
    for batch in chunks.to_batches(max_chunksize=_BATCH_ROWS):
        for row in batch.to_pylist():
            yield weighted_terms(row)
        progress.advance(batch.num_rows)
    progress.end()


def weighted_terms(row: Mapping[str, Any]) -> Counter[str]:
    """Return the terms of a chunk, each with its weighted count."""
    file_name = row["path"].rpartition("/")[2]
    fields = {**row, "stem": file_name.rpartition(".")[0] or file_name}
    counts = Counter(terms(fields["text"]))
    for name, weight in FIELD_WEIGHTS.items():
        if name == "text":
            continue
        for term in _field_terms(fields[name]):
            counts[term] += weight
    return counts


@lru_cache(maxsize=1 << 12)
def _field_terms(value: str) -> tuple[str, ...]:
    """Return the terms of a short field; the rows of one file share their path."""
    return tuple(terms(value))


def make_postings(documents: Iterable[Mapping[str, int]]) -> Postings:
    """Turn the weighted terms of each row, in row order, into the arrays of a segment."""
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    ids, rows, counts, lengths = array("I"), array("I"), array("I"), array("I")
    for row, document in enumerate(documents):
        ids.extend(map(vocabulary.__getitem__, document))
        rows.extend(repeat(row, len(document)))
        counts.extend(document.values())
        lengths.append(sum(document.values()))
    hashes = np.fromiter(map(term_hash, vocabulary), np.uint64, len(vocabulary))
    return _inverted(hashes, *(np.asarray(item, np.uint32) for item in (ids, rows, counts, lengths)))


def _inverted(
    hashes: npt.NDArray[np.uint64],
    ids: npt.NDArray[np.uint32],
    rows: npt.NDArray[np.uint32],
    counts: npt.NDArray[np.uint32],
    lengths: npt.NDArray[np.uint32],
) -> Postings:
    unique, place = np.unique(hashes, return_inverse=True)
    # One number per posting, so that one sort orders by term, then row.
    keys = (place.astype(np.uint64)[ids] << np.uint64(32)) | rows
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    # Two terms of one row with equal hashes are one posting.
    first = np.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    starts = np.flatnonzero(first)
    summed = np.add.reduceat(counts[order].astype(np.uint64), starts)
    keys = keys[starts]
    bounds = np.arange(len(unique) + 1, dtype=np.uint64) << np.uint64(32)
    return Postings(
        unique,
        np.searchsorted(keys, bounds).astype(np.int64),
        keys.astype(np.uint32),
        np.minimum(summed, _MAX_FREQUENCY).astype(np.uint16),
        lengths,
    )
