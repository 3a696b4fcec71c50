"""How an answer looks to people: ranked hits with their excerpts, and why each stands where it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipelines.serving.cli.lines import Line, Segment, line, table
from pipelines.serving.marking import marked
from pipelines.serving.terms import telling_terms

if TYPE_CHECKING:
    from pipelines.records import Hit
    from pipelines.retrieval import Answer

_INDENT = "    "
_MARKED = "bold yellow"


def answer_lines(answer: Answer) -> Iterator[Line]:
    """Yield the hits of an answer, then its expansion, then with --explain what could not tell rows apart."""
    wanted = answer.query.marks
    several = len({hit.repo for hit in answer.hits}) > 1
    for hit in answer.hits:
        if hit.rank > 1:
            yield line()
        yield _head(hit, several)
        for text in hit.excerpt.split("\n"):
            yield [(_INDENT, ""), *((part, _MARKED if found else "") for part, found in marked(text, wanted))]
        if answer.query.explain:
            yield from table(telling_terms(hit, answer.query.fusion), header=("term", "value"), indent=_INDENT)
    yield from _expansion_lines(answer)
    if answer.query.explain:
        yield from _explanation(answer)


def _head(hit: Hit, several: bool) -> Line:
    """Return the line that names a hit; `path:line` is what terminals and editors open on a click."""
    parts: list[str | Segment] = [(f"{hit.rank:>2}", "dim"), "  ", (f"{hit.path}:{hit.line}", "bold cyan")]
    if several:
        parts += ["  ", (f"[{hit.repo}]", "magenta")]
    if hit.symbol:
        parts += ["  ", (hit.symbol, "bold")]
    parts += ["  ", hit.kind, "  ", (f"{hit.score:.4f}", "dim")]
    return line(*parts)


def _expansion_lines(answer: Answer) -> Iterator[Line]:
    expansion = answer.expansion
    if expansion is None:
        return
    if expansion.neighbors:
        yield from (line(), line(("around the hits", "bold")))
        rows = [
            (f"{item.path}:{item.start_line}", item.symbol, item.direction, str(item.hop), f"{item.confidence:.2f}")
            for item in expansion.neighbors
        ]
        yield from table(rows, header=("where", "symbol", "is a", "calls away", "confidence"), indent=_INDENT)
    if expansion.blast:
        yield from (line(), line(("what depends on the hits", "bold")))
        reach = [
            (item.symbol, str(item.direct_callers), f"{item.impacted}{'+' if item.truncated else ''}", str(item.depth))
            for item in expansion.blast
        ]
        yield from table(reach, header=("symbol", "direct callers", "all callers", "within calls"), indent=_INDENT)
    if expansion.omitted:
        yield line(_INDENT, (f"and {expansion.omitted} more", "dim"))


def _explanation(answer: Answer) -> Iterator[Line]:
    yield line()
    for name, reason in answer.inactive.items():
        yield line((f"{name} is inactive: ", "yellow"), reason)
    yield line(("candidates: ", "bold"), ", ".join(f"{name} {count}" for name, count in answer.counts.items()))
    steps = ", ".join(f"{name} {spent:.1f}" for name, spent in answer.timing_ms.items())
    yield line(("milliseconds: ", "bold"), steps)
