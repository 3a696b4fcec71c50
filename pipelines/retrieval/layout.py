"""What must hold of a generation's arrays before one of them is read. In: manifests. Out: nothing, or an error.

Types and lengths are compared as the manifests tell them, which costs no reading; that a file is what its manifest
tells is seen when it is mapped (see artifacts.Artifact.array).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.artifacts import Artifact
from pipelines.described import natural, require_described
from pipelines.errors import ArtifactMismatch
from pipelines.formats import BINARY_CODES, GRAPH_SNAPSHOT, LEXICAL_SEGMENTS, SEARCH_ROWS

#: What the length of offsets into an axis has beyond that of the axis.
_ENDS = "+1"
#: Type and axes of every array that a search reads, by asset. Arrays that share an axis are of equal length on it.
_LAYOUTS: Mapping[str, Mapping[str, tuple[str, tuple[str, ...]]]] = {
    LEXICAL_SEGMENTS.name: {
        "terms.npy": ("<u8", ("terms",)),
        "offsets.npy": ("<i8", (f"terms{_ENDS}",)),
        "rows.npy": ("<u4", ("postings",)),
        "frequencies.npy": ("<u2", ("postings",)),
        "lengths.npy": ("<u4", ("rows",)),
    },
    BINARY_CODES.name: {
        "codes.npy": ("|u1", ("rows", "bytes")),
        "rescoring.npy": ("|i1", ("rows", "dimensions")),
        "scales.npy": ("<f4", ("rows",)),
        "valid.npy": ("|b1", ("rows",)),
    },
    GRAPH_SNAPSHOT.name: {
        "indptr.npy": ("<i8", (f"nodes{_ENDS}",)),
        "indices.npy": ("<i4", ("edges",)),
        "confidence.npy": ("<f4", ("edges",)),
        "strategy.npy": ("|u1", ("edges",)),
    },
    SEARCH_ROWS.name: {"names.npy": ("<u8", ("names",)), "name_rows.npy": ("<u4", ("names",))},
}


#: The facts that a search needs, by asset.
_FACTS: Mapping[str, Mapping[str, Any]] = {
    LEXICAL_SEGMENTS.name: {"documents": natural, "total_length": natural},
    BINARY_CODES.name: {"dimensions": natural, "bits": natural, "seed": natural, "encoder": dict},
}


def require_layout(artifact: Artifact) -> None:
    """Compare the arrays of an artifact with what its format tells of them, and with its facts.

    :raises ArtifactCorrupt: if a fact is lacking, or an array is not described.
    :raises ArtifactMismatch: naming an array that is of another type, or of another length than those beside it.
    """
    facts = artifact.facts
    described = _FACTS.get(artifact.ref.asset, {})
    require_described(facts, described, f"the facts of artifact {artifact.ref}", "run `strata index --full`")
    lengths: dict[str, tuple[str, int]] = {}
    if artifact.ref.asset == LEXICAL_SEGMENTS.name:
        lengths["rows"] = "documents", facts["documents"]
    elif artifact.ref.asset == BINARY_CODES.name:
        lengths |= {"dimensions": ("dimensions", facts["dimensions"]), "bytes": ("bits / 8", facts["bits"] // 8)}
    for name, (kind, axes) in _LAYOUTS[artifact.ref.asset].items():
        found, shape = artifact.layout(name)
        if found != kind or len(shape) != len(axes):
            raise _mismatch(artifact, f"{name} is {found} of {len(shape)} axes, not {kind} of {len(axes)}")
        for axis, stored in zip(axes, shape, strict=True):
            length = stored - axis.endswith(_ENDS)
            other, expected = lengths.setdefault(axis.removesuffix(_ENDS), (name, length))
            if length != expected:
                raise _mismatch(artifact, f"{name} has {length}, {other} has {expected}")


def _mismatch(artifact: Artifact, what: str) -> ArtifactMismatch:
    return ArtifactMismatch(f"arrays of artifact {artifact.ref} do not fit: {what}", hint="run `strata index --full`")
