"""One generation, opened for search. In: the store and a generation's id or document. Out: mapped arrays.

Row r is the same chunk in every array; types and lengths are compared at open, from the manifests, so no array is read
for it. A published generation is leased while it is open: retention does not remove it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pipelines.artifacts import Artifact
from pipelines.errors import ArtifactMismatch
from pipelines.formats import BINARY_CODES, GRAPH_SNAPSHOT, LEXICAL_SEGMENTS, ROWS_TABLE, SEARCH_ROWS, TEXTS_TABLE
from pipelines.generation import GenerationDocument, read_generation
from pipelines.locks import lease_generation
from pipelines.quantization import BitMap
from pipelines.records import CallStrategy
from pipelines.retrieval.layout import require_layout
from pipelines.retrieval.rows import RowTable
from pipelines.retrieval.segments import Segment, documents
from pipelines.store import ArtifactStore


@dataclass(frozen=True)
class Codes:
    """The arrays of the semantic branch: packed sign bits, int8 rows, their scales, and which rows have a vector."""

    codes: npt.NDArray[np.uint8]
    rescoring: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]
    valid: npt.NDArray[np.bool_]


@dataclass
class Generation:
    """An open generation. Use as a context manager, or close it."""

    document: GenerationDocument
    rows: RowTable
    segments: tuple[Segment, ...]
    graph: Artifact
    _search_rows: Artifact
    _codes: Artifact
    _lease: int | None = field(default=None)

    @property
    def repo(self) -> str:
        """Key of the repository."""
        return self.document.repo

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.rows.count

    @cached_property
    def codes(self) -> Codes:
        """The arrays of the semantic branch, mapped when first used."""
        found = Codes(*(self._codes.array(f"{name}.npy") for name in _CODE_ARRAYS))
        finite = bool(np.isfinite(found.scales).all())
        self._codes.require(finite, "scales.npy", "a scale is no number")
        return found

    @cached_property
    def bit_map(self) -> BitMap:
        """How a query's vector becomes a code that is comparable with these."""
        facts = self._codes.facts
        return BitMap(*(int(facts[name]) for name in ("dimensions", "bits", "seed")))

    @cached_property
    def names(self) -> npt.NDArray[np.uint64]:
        """Sorted hashes of folded names and qualified names (K,)."""
        return self._search_rows.array("names.npy")

    @cached_property
    def name_rows(self) -> npt.NDArray[np.uint32]:
        """The row that each name hash belongs to (K,)."""
        found: npt.NDArray[np.uint32] = self._search_rows.array("name_rows.npy")
        self._search_rows.require(_within(found, self.count), "name_rows.npy", f"it names rows beyond {self.count}")
        return found

    @cached_property
    def calls(self) -> Mapping[str, npt.NDArray[Any]]:
        """The call graph in CSR form, rows being callers: indptr, indices, confidence, strategy."""
        found = {name: self.graph.array(f"{name}.npy") for name in _GRAPH_ARRAYS}
        ends, edges = found["indptr"], len(found["indices"])
        ascending = ends[0] == 0 and ends[-1] == edges and bool((ends[1:] >= ends[:-1]).all())
        self.graph.require(ascending, "indptr.npy", f"it does not divide {edges} edges")
        self.graph.require(_within(found["indices"], len(ends) - 1), "indices.npy", "an edge leads to no node")
        self.graph.require(set(np.unique(found["strategy"]).tolist()) <= _STRATEGIES, "strategy.npy", "it names no way")
        return found

    @cached_property
    def inactive_ranks(self) -> frozenset[str]:
        """Structural ranks that are one value for every row, and so tell nothing: a repository without calls."""
        ranks = ("pagerank_rank", "blast_rank")
        return frozenset(name for name in ranks if not self.count or np.ptp(self.rows.numbers[name]) == 0)

    def close(self) -> None:
        """Give up the lease; closing twice is allowed."""
        if self._lease is not None:
            os.close(self._lease)
            self._lease = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_CODE_ARRAYS = ("codes", "rescoring", "scales", "valid")
_GRAPH_ARRAYS = ("indptr", "indices", "confidence", "strategy")
_STRATEGIES = {int(item) for item in CallStrategy}


def open_generation(store: ArtifactStore, repo: str, generation: str | GenerationDocument) -> Generation:
    """Open a generation for search.

    :param store: where it is. :param repo: the repository key.
    :param generation: its id, or its document where it may not be published yet.
    :raises ArtifactMissing: if it, or one of its artifacts, is gone.
    :raises ArtifactMismatch: if its artifacts have different numbers of rows, or its codes are of another encoder.
    """
    name = generation if isinstance(generation, str) else generation.generation
    leased = isinstance(generation, str) or store.generation_file(repo, name).exists()
    lease = lease_generation(store, repo, name) if leased else None
    try:
        document = read_generation(store, repo, generation) if isinstance(generation, str) else generation
        return _open(store, document, lease)
    except BaseException:
        if lease is not None:
            os.close(lease)
        raise


def _open(store: ArtifactStore, document: GenerationDocument, lease: int | None) -> Generation:
    search_rows = store.open(document.ref(SEARCH_ROWS.name))
    codes = store.open(document.ref(BINARY_CODES.name))
    graph = store.open(document.ref(GRAPH_SNAPSHOT.name))
    buckets = [store.open(ref) for ref in document.buckets(LEXICAL_SEGMENTS.name)]
    for artifact in (search_rows, codes, graph, *buckets):
        require_layout(artifact)
    table = RowTable(
        search_rows.mapped_table("rows.arrow", ROWS_TABLE), search_rows.mapped_table("texts.arrow", TEXTS_TABLE)
    )
    sizes = [documents(bucket) for bucket in buckets]
    bases = np.concatenate([[0], np.cumsum(sizes)])
    _require_equal(
        document,
        {
            "rows.arrow": table.count,
            "texts.arrow": len(table.texts),
            "codes.npy": codes.layout("codes.npy")[1][0],
            "lexical_segments": int(bases[-1]),
        },
    )
    _require_encoder(document, codes.facts.get("encoder", {}))
    segments = tuple(Segment(bucket, int(base)) for bucket, base in zip(buckets, bases, strict=False))
    return Generation(document, table, segments, graph, search_rows, codes, lease)


def _within(values: npt.NDArray[np.integer], count: int) -> bool:
    """Tell whether all values are places of a list of so many."""
    return not len(values) or (int(values.min()) >= 0 and int(values.max()) < count)


def _require_encoder(document: GenerationDocument, found: Mapping[str, Any]) -> None:
    """Refuse codes that the encoder of the generation did not make: a question's vector would mean nothing to them."""
    wanted = asdict(document.encoder)
    if found != wanted:
        raise ArtifactMismatch(
            f"generation {document.generation} of {document.repo} is of encoder {wanted}, its codes are of {found}",
            hint="run `strata index --full`",
        )


def _require_equal(document: GenerationDocument, lengths: Mapping[str, int]) -> None:
    if len(set(lengths.values())) > 1:
        described = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ArtifactMismatch(
            f"generation {document.generation} of {document.repo} does not have one row order: {described}",
            hint="run `strata index --full`",
        )
