"""The postings of one bucket, mapped. In: a lexical_segments artifact. Out: the postings of term hashes."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from pipelines.artifacts import Artifact


class Segment:
    """One bucket's postings. Its row 0 is row `base` of the generation; arrays are mapped when first used."""

    def __init__(self, artifact: Artifact, base: int) -> None:
        self._artifact = artifact
        self.base = base
        self.documents = documents(artifact)
        self.total_length = int(artifact.facts["total_length"])

    @cached_property
    def terms(self) -> npt.NDArray[np.uint64]:
        """Sorted hashes of the terms (T,)."""
        return self._artifact.array("terms.npy")

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where the postings of each term begin (T+1,)."""
        return self._artifact.array("offsets.npy")

    @cached_property
    def rows(self) -> npt.NDArray[np.uint32]:
        """Rows of the bucket, term after term (P,)."""
        return self._artifact.array("rows.npy")

    @cached_property
    def frequencies(self) -> npt.NDArray[np.uint16]:
        """Weighted occurrences of the term in the row (P,)."""
        return self._artifact.array("frequencies.npy")

    @cached_property
    def lengths(self) -> npt.NDArray[np.uint32]:
        """Terms in each row (N,)."""
        return self._artifact.array("lengths.npy")

    def spans(self, hashes: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return where the postings of each hash begin and end; an unknown one has an empty span."""
        if not len(self.terms):
            nothing = np.zeros(len(hashes), np.int64)
            return nothing, nothing
        places = np.searchsorted(self.terms, hashes)
        known = self.terms[np.minimum(places, len(self.terms) - 1)] == hashes
        starts = self.offsets[places]
        ends = np.where(known, self.offsets[np.minimum(places + 1, len(self.terms))], starts)
        self._require_whole(starts[known], ends[known])
        return starts, ends

    def _require_whole(self, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> None:
        """Raise ArtifactCorrupt unless spans are spans of the postings, and the last row of each is one of the bucket.

        The rows of a term ascend, so that its last one is enough; the others are not read for it.
        """
        spans = bool(((starts >= 0) & (starts < ends) & (ends <= len(self.rows))).all())
        self._artifact.require(spans, "offsets.npy", f"it does not divide {len(self.rows)} postings")
        rows = bool((self.rows[ends - 1] < self.documents).all())
        self._artifact.require(rows, "rows.npy", f"it names rows beyond {self.documents}")


def documents(artifact: Artifact) -> int:
    """Return the number of rows that a segment covers."""
    return int(artifact.facts["documents"])
