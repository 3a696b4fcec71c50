"""What a score is made of, as a person can take it in at a glance. In: a hit's terms. Out: a few shares, in order.

The terms themselves are shown beside it, so the shares need not be exact to the last digit: what raises a score is
divided by where it comes from, and what lowers it shortens all of them alike. What only places a hit is left out: a
definition's bonus, or what a hit is held at, would squash every other bar.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipelines.records import Hit
from pipelines.serving.terms import placing_terms

#: Name of a share -> what it is called for people; the page has a colour for each.
LABELS: Mapping[str, str] = {
    "lexical": "words",
    "semantic": "meaning",
    "symbol": "name",
    "place": "structure",
}
#: The terms of a weighted sum, by the share that each belongs to; the others are no part of a sum, or lower it.
_SUMMED: Mapping[str, str] = {
    **dict.fromkeys(("lexical", "words", "exact", "phrase", "file_words", "sketch"), "lexical"),
    **dict.fromkeys(("semantic", "meaning", "file_meaning"), "semantic"),
    **dict.fromkeys(("named", "name"), "symbol"),
    **dict.fromkeys(("file_rows", "file_name", "folder_name", "same_name", "length", "blast", "centrality"), "place"),
}


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a bar: where it begins and how long it is, in hundredths of the longest bar."""

    name: str
    start: float
    width: float

    @property
    def label(self) -> str:
        """What it is called for people."""
        return LABELS[self.name]


def bars(hits: Sequence[Hit]) -> list[tuple[Share, ...]]:
    """Return the bar of each hit, without what only places it; the longest is 100 long."""
    parts = [_parts(hit) for hit in hits]
    longest = max((sum(item.values()) for item in parts), default=0.0)
    return [tuple(_stacked(item, 100 / longest)) if longest > 0 else () for item in parts]


def is_definition(hit: Hit) -> bool:
    """Tell whether a hit is the definition that the whole query names."""
    return hit.terms.get("definition", 0.0) > 0


def _stacked(parts: Mapping[str, float], scale: float) -> Iterable[Share]:
    start = 0.0
    for name in LABELS:
        width = parts.get(name, 0.0) * scale
        if width >= 0.5:  # less would not be seen
            yield Share(name, round(start, 2), round(width, 2))
            start += width


def _parts(hit: Hit) -> dict[str, float]:
    terms = hit.terms
    own = max(0.0, hit.score - sum(placing_terms(hit).values()))
    summed: dict[str, float] = {}
    for term, share in _SUMMED.items():
        if term in terms:
            summed[share] = summed.get(share, 0.0) + max(0.0, terms[term])
    total = sum(summed.values())
    if total <= 0:
        return {"symbol" if "tier" in terms else "lexical" if "bm25" in terms else "semantic": own}
    return {name: value / total * own for name, value in summed.items()}
