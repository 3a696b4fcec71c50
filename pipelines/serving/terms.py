"""What of a score is worth telling a person. In: a hit. Out: its terms, without those that change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.records import Hit

#: Terms of a score that change nothing where they have this value: factors and bonuses.
_NEUTRAL = {
    **dict.fromkeys(("name", "path", "place", "test", "kind", "part", "centrality", "blast", "repeat"), 1.0),
    **dict.fromkeys(("file", "definition"), 0.0),
}


def telling_terms(hit: Hit, fusion: str) -> Iterator[tuple[str, str]]:
    """Yield the terms of a hit as they are shown, then its distance.

    :param fusion: how the branches were merged; only with rrf are there values that are neutral.
    """
    for name, value in hit.terms.items():
        if fusion == "rrf" and value == _NEUTRAL.get(name):
            continue
        yield name, f"{value:.4f}"
    if hit.distance is not None:
        yield "distance in bits", str(hit.distance)
