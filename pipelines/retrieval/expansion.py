"""What stands around the hits in the call graph. In: the best hits' rows. Out: neighbours, or what a change reaches.

Edges are read as they lie: callees from the CSR rows, callers by one pass over the edges per hop, so no reversed copy
of the graph is kept. Everything is bounded, and what a bound cut off is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.records import CallStrategy
from pipelines.retrieval.generation import Generation

#: Hits that are expanded, nodes that are shown per anchor, nodes that are counted per anchor.
MAX_ANCHORS = 5
MAX_RELATED = 20
MAX_IMPACT = 100_000
#: Edges below this are guesses, which neighbours show with their confidence and a blast radius does not count.
BLAST_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True)
class Related:
    """One symbol near an anchor. `anchor` is the anchor's chunk id; `via` the chunk one hop nearer to it."""

    anchor: str
    chunk_id: str
    repo: str
    path: str
    symbol: str
    start_line: int
    end_line: int
    hop: int
    direction: str  # "callee": the anchor's side calls it; "caller": it calls the anchor's side
    confidence: float
    strategy: str
    via: str


@dataclass(frozen=True, slots=True)
class Blast:
    """What depends on an anchor: direct callers, and all callers within `depth` hops."""

    anchor: str
    symbol: str
    direct_callers: int
    impacted: int
    depth: int
    blast_rank: float
    truncated: bool  # the count stopped at MAX_IMPACT


@dataclass(frozen=True, slots=True)
class Expansion:
    """The surroundings of the best hits. `omitted` counts what was found beyond MAX_RELATED or has no row."""

    mode: str
    neighbors: tuple[Related, ...] = ()
    blast: tuple[Blast, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class _Edges:
    """Edges from some frontier: the nodes reached, the frontier node of each, confidence, strategy."""

    reached: npt.NDArray[np.int64]
    origin: npt.NDArray[np.int64]
    confidence: npt.NDArray[np.float32]
    strategy: npt.NDArray[np.uint8]


def expand(anchors: Sequence[tuple[Generation, int]], mode: str, depth: int) -> Expansion:
    """Expand the first anchors, given as generation and row; those without a symbol have no surroundings."""
    known = [(generation, row) for generation, row in anchors[:MAX_ANCHORS] if _node(generation, row) >= 0]
    blast = tuple(_blast(generation, row, depth) for generation, row in known) if mode == "blast" else ()
    ways = _UPWARDS if mode == "blast" else _AROUND
    found: list[Related] = []
    omitted = 0
    for generation, row in known:
        related, more = _neighbors(generation, row, depth, ways, BLAST_CONFIDENCE if mode == "blast" else 0.0)
        found += related
        omitted += more
    return Expansion(mode, tuple(found), blast, omitted)


def _node(generation: Generation, row: int) -> int:
    return int(generation.rows.numbers["node"][row])


def _callees(generation: Generation, frontier: npt.NDArray[np.int64]) -> _Edges:
    calls = generation.calls
    starts, ends = calls["indptr"][frontier], calls["indptr"][frontier + 1]
    places = np.concatenate([np.arange(start, end) for start, end in zip(starts, ends, strict=True)]).astype(np.int64)
    return _edges(generation, places, calls["indices"][places], np.repeat(frontier, ends - starts))


def _callers(generation: Generation, frontier: npt.NDArray[np.int64]) -> _Edges:
    calls = generation.calls
    wanted = np.zeros(len(calls["indptr"]) - 1, np.bool_)
    wanted[frontier] = True
    places = np.flatnonzero(wanted[calls["indices"]])
    callers = np.searchsorted(calls["indptr"], places, side="right") - 1
    return _edges(generation, places, callers, calls["indices"][places])


def _edges(
    generation: Generation, places: npt.NDArray[np.int64], reached: npt.NDArray[np.int64], origin: npt.NDArray[np.int64]
) -> _Edges:
    calls = generation.calls
    return _Edges(
        reached.astype(np.int64), origin.astype(np.int64), calls["confidence"][places], calls["strategy"][places]
    )


_Step = Callable[[Generation, npt.NDArray[np.int64]], _Edges]
#: What a change of an anchor reaches, and what stands around it.
_UPWARDS: tuple[tuple[str, _Step], ...] = (("caller", _callers),)
_AROUND: tuple[tuple[str, _Step], ...] = (("callee", _callees), *_UPWARDS)


def _neighbors(
    generation: Generation, row: int, depth: int, ways: Sequence[tuple[str, _Step]], least: float
) -> tuple[list[Related], int]:
    """Return the nearest MAX_RELATED symbols around a row, surest first within a hop, and how many more there are.

    :param ways: directions, each with its step. :param least: confidence below which an edge is not followed.
    """
    found: list[tuple[int, str, float, int, int, int]] = []
    for direction, step in ways:
        seen = {_node(generation, row)}
        frontier = np.array(sorted(seen), np.int64)
        for hop in range(1, depth + 1):
            edges = step(generation, frontier)
            fresh: dict[int, tuple[float, int, int]] = {}
            for place in np.lexsort((edges.origin, edges.reached, -edges.confidence)).tolist():
                node = int(edges.reached[place])
                if node not in seen and node not in fresh and edges.confidence[place] >= least:
                    fresh[node] = (float(edges.confidence[place]), int(edges.strategy[place]), int(edges.origin[place]))
            found += [(hop, direction, -sure, node, how, via) for node, (sure, how, via) in fresh.items()]
            seen |= fresh.keys()
            frontier = np.array(sorted(fresh), np.int64)
            if not len(frontier):
                break
    found.sort()
    rows = _rows_of(generation, {node for item in found for node in (item[3], item[5])})
    related = [
        _describe(generation, row, rows, hop, direction, -negative, node, how, via)
        for hop, direction, negative, node, how, via in found
        if node in rows
    ]
    return related[:MAX_RELATED], len(found) - len(related[:MAX_RELATED])


def _rows_of(generation: Generation, nodes: set[int]) -> dict[int, int]:
    """Return the first row that shows each node; a symbol without a chunk of its own has none."""
    column = generation.rows.numbers["node"]
    if not nodes:
        return {}
    wanted = np.zeros(max(nodes) + 1, np.bool_)
    wanted[sorted(nodes)] = True
    inside = (column >= 0) & (column < len(wanted))
    rows = np.flatnonzero(inside & wanted[np.where(inside, column, 0)] & (generation.rows.numbers["part"] == 0))
    return {int(column[row]): int(row) for row in rows[::-1].tolist()}


def _describe(
    generation: Generation,
    anchor: int,
    rows: dict[int, int],
    hop: int,
    direction: str,
    sure: float,
    node: int,
    how: int,
    via: int,
) -> Related:
    table, row = generation.rows, rows[node]
    return Related(
        anchor=table.ids[anchor].tobytes().hex(),
        chunk_id=table.ids[row].tobytes().hex(),
        repo=generation.repo,
        path=table.labels["path"][row],
        symbol=table.string("qualified_name", row),
        start_line=int(table.numbers["start_line"][row]),
        end_line=int(table.numbers["end_line"][row]),
        hop=hop,
        direction=direction,
        confidence=round(sure, 4),
        strategy=CallStrategy(how).name.lower(),
        via=table.ids[rows[via]].tobytes().hex() if via in rows else "",
    )


def _blast(generation: Generation, row: int, depth: int) -> Blast:
    sizes = list(_caller_counts(generation, _node(generation, row), depth))
    table = generation.rows
    return Blast(
        anchor=table.ids[row].tobytes().hex(),
        symbol=table.string("qualified_name", row),
        direct_callers=sizes[0] if sizes else 0,
        impacted=min(sum(sizes), MAX_IMPACT),
        depth=depth,
        blast_rank=round(float(table.numbers["blast_rank"][row]), 4),
        truncated=sum(sizes) > MAX_IMPACT,
    )


def _caller_counts(generation: Generation, node: int, depth: int) -> Iterator[int]:
    """Yield the number of callers first met at each hop."""
    seen = np.zeros(len(generation.calls["indptr"]) - 1, np.bool_)
    seen[node] = True
    frontier = np.array([node], np.int64)
    total = 0
    for _ in range(depth):
        edges = _callers(generation, frontier)
        reached = np.unique(edges.reached[edges.confidence >= BLAST_CONFIDENCE])
        frontier = reached[~seen[reached]]
        seen[frontier] = True
        total += len(frontier)
        yield len(frontier)
        if not len(frontier) or total > MAX_IMPACT:
            return
