"""`strata query`. In: a text and the options that were given. Out: ranked hits."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.records import Staleness
from pipelines.retrieval import Query
from pipelines.serving.cli.hits import answer_lines
from pipelines.serving.cli.host import Host
from pipelines.serving.cli.output import Output
from pipelines.serving.render import query_document


def run_query(text: str, where: Sequence[str], given: Mapping[str, Any], host: Host, output: Output) -> int:
    """Search the published index. 0: something was found; 1: nothing was.

    :param text: what is searched. :param where: repositories, by key or path; none = all at hand.
    :param given: fields of Query that were given as options; the others keep their defaults.
    """
    query = Query(text, **given)  # before the index is opened: a wrong value need not wait for it
    began = time.perf_counter()
    opened = host.open(where)
    open_ms = (time.perf_counter() - began) * 1e3
    answer = opened.searcher.search(query)
    answer = dataclasses.replace(answer, timing_ms={"open": open_ms, **answer.timing_ms})
    if output.as_json:
        encoder = opened.searcher.generations[0].document.encoder
        output.answer(query_document(answer, opened.pointers, opened.staleness, encoder), ())
    else:
        output.lines(answer_lines(answer))  # first: how it stands to its source may be known later
        for note in answer.notes:
            output.note(("note: ", "bold"), note)
        _tell_staleness(opened.staleness, output)
        if not answer.hits:
            output.note("nothing found")
    return 0 if answer.hits else 1


def _tell_staleness(staleness: Mapping[str, Staleness], output: Output) -> None:
    for state, meaning in (
        (Staleness.STALE, "index is stale: run `strata index`"),
        (Staleness.UNKNOWN, "index cannot be compared with its source: run `strata index` to be sure"),
    ):
        repos = sorted(repo for repo, found in staleness.items() if found == state)
        if repos:
            output.note(("hint: ", "bold"), f"{meaning} ({', '.join(repos)})" if len(staleness) > 1 else meaning)
