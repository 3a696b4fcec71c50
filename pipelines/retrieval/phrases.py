"""Runs of words that stand in a text as the query has them: a message that was pasted, in the code that has it.

In: a query's text, rows. Out: how many of its runs each row holds. What a message tells about, a path or a number,
stands elsewhere, so no text holds all of it; what is left between are runs of a few words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.fusion import Values
from pipelines.retrieval.rows import Rows

#: Words of a run, and of those that must be more than the commonest: "is set to" stands anywhere.
RUN_WORDS, _MIN_TELLING = 3, 2
#: Runs that are looked for, those of a long text at even distances, and bytes of one.
_MAX_RUNS, _MAX_RUN_CHARS = 24, 120
#: Held runs that are as good as any more: one alone may be chance. On the benchmark 3 gains nothing, 2 loses .0004.
_ENOUGH = 3
_EDGES = "\"'`“”‘’.,:;!?()[]{}<>*"
_SPACE = re.compile(r"\s+")


def runs_of(text: str, common: frozenset[str]) -> tuple[str, ...]:
    """Return the runs of words of a text, as they are spelt.

    :param common: folded words that tell nothing.
    """
    words = _SPACE.split(text.strip())
    runs = dict[str, None]()
    for start in range(len(words) - RUN_WORDS + 1):
        part = words[start : start + RUN_WORDS]
        run = " ".join(part).strip(_EDGES)
        telling = [word for word in part if word.strip(_EDGES) and word.strip(_EDGES).casefold() not in common]
        if len(telling) >= _MIN_TELLING and len(run) <= _MAX_RUN_CHARS and run.count(" ") == RUN_WORDS - 1:
            runs[run] = None
    step = -(-len(runs) // _MAX_RUNS) or 1
    return tuple(runs)[::step]


def held_runs(corpus: Corpus, rows: Rows, runs: Sequence[str]) -> Values:
    """Return the share of the most runs that any of the rows holds, 1 for the row that holds them."""
    found: Values = np.zeros(len(rows), np.float64)
    needles = [run.encode() for run in runs]
    for generation, places, local in corpus.split(rows) if needles else ():
        found[places] = [generation.rows.texts.count_held(row, needles) for row in local.tolist()]
    return found / max(_ENOUGH, float(found.max(initial=0.0)))


def line_of_runs(lines: Sequence[str], runs: Sequence[str]) -> int | None:
    """Return the first of the lines that hold most of the runs; None if none holds two of them, or all."""
    counts = [sum(run in line for run in runs) for line in lines] if runs else []
    most = max(counts, default=0)
    return counts.index(most) if most >= min(2, len(runs)) and most else None
