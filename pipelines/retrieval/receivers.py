"""How near what a name stands on is to what a row belongs to: `c` in `c.JSON` to Context. In: rows. Out: numbers.

A query gives a variable where the index knows a type. What a variable is called mostly tells of its type, or of the
file that makes it: it is the name in another case, its last word, its initials, or how it begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pipelines.retrieval.corpus import Corpus
from pipelines.retrieval.generation import Generation
from pipelines.retrieval.paths import bare, place_of
from pipelines.retrieval.rows import Rows
from pipelines.tokens import words

#: It is called like the container; it is the last word, or the initials of it, or called like the file or the folder;
#: it is short for the container, or its last word; there is a container.
_SAME, _LIKE, _SHORT, _MEMBER = 4, 3, 2, 1


def nearness(corpus: Corpus, rows: Rows, receiver: str, name: str) -> npt.NDArray[np.float64]:
    """Return for each row that has, or declares, the name how near its container is to the receiver; 0 is unknown."""
    found = np.zeros(len(rows), np.float64)
    for generation, places, local in corpus.split(rows) if receiver else ():
        found[places] = nearness_in(generation, local.tolist(), receiver, name)
    return found


def nearness_in(generation: Generation, rows: Sequence[int], receiver: str, name: str) -> list[int]:
    """Return the same for rows of one generation."""
    table = generation.rows
    qualified, names, paths = table.strings("qualified_name", rows), table.strings("name", rows), table.labels["path"]
    found = []
    for row, full, own in zip(rows, qualified, names, strict=True):
        has_name = own.casefold() == name.casefold()
        container = (full.rpartition(".")[0] if has_name else full).rpartition(".")[2]
        found.append(max(_to_container(receiver, container), _to_file(receiver, paths[row])))
    return found


@lru_cache(maxsize=1 << 12)
def _to_container(receiver: str, container: str) -> int:
    if not container:
        return 0
    asked, parts = bare(receiver), list(words(container))
    if asked == bare(container):
        return _SAME
    if parts and asked in (parts[-1], "".join(part[0] for part in parts)):
        return _LIKE
    # one letter is a letter of any word: it stands for the name as a whole
    full_names = (bare(container), *(parts[-1:] if len(asked) > 1 else ()))
    return _SHORT if any(_is_short_for(asked, name) for name in full_names) else _MEMBER


@lru_cache(maxsize=1 << 12)
def _to_file(receiver: str, path: str) -> int:
    place = place_of(path)
    return _LIKE if bare(receiver) in (place.name, *place.folder) else 0


def _is_short_for(short: str, name: str) -> bool:
    """Tell whether a name begins like the short one and has the rest of its letters in their order: ctx for Context."""
    letters = iter(name)
    return name[:1] == short[:1] and all(letter in letters for letter in short)
