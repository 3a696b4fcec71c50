"""What of a score is worth telling a person. In: a hit. Out: its terms, without those that change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.records import Hit

#: What a term is called that is a place in a branch, not an amount.
_PLACE = ("lexical_rank", "semantic_rank", "symbol_rank")
#: Terms that put a hit where it stands, however much or little of the query it holds: they tell no hits apart.
_PLACING = ("definition", "held")


def placing_terms(hit: Hit) -> dict[str, float]:
    """Return the terms of a hit that only place it; what is left of its score without them can be compared."""
    return {name: hit.terms[name] for name in _PLACING if hit.terms.get(name)}


def telling_terms(hit: Hit, fusion: str) -> Iterator[tuple[str, str]]:
    """Yield the terms of a hit as they are shown, then its distance.

    :param fusion: how the branches were merged; only with rrf does a term of 0 say nothing.
    """
    for name, value in hit.terms.items():
        if fusion == "rrf" and value == 0:
            continue
        yield name, f"{value:.0f}" if name.endswith(_PLACE) else f"{value:.4f}"
    if hit.distance is not None:
        yield "distance in bits", str(hit.distance)
