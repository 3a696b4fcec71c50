"""Is the one chunk that holds a word the first hit for it? A command: python -m tests.bench.rare_words STORE REPO.

Words are drawn by a seed from the texts of a published index, among those that one chunk of all holds. Each is asked as
it is written, in mode hybrid. Words of a path are no rare words: all chunks of the file hold them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.embedding import make_encoder
from pipelines.retrieval import Generation, Query, Searcher, open_generation
from pipelines.settings import EmbedderSettings
from pipelines.store import ArtifactStore
from pipelines.tokens import normalise, term_hash
from resources.bundled import encoder_folder
from tests.bench.measure import circumstances, show

WORDS = 100
SEED = 11
#: Identifiers and words; shorter ones are letters.
_WORD = re.compile(r"[^\W\d]\w{3,39}")


def rare_terms(generation: Generation) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return the hashes of the terms that one row of all holds, ascending, and that row."""
    hashes, rows = [], []
    for segment in generation.segments:
        single = np.diff(segment.offsets) == 1
        hashes.append(segment.terms[single])
        rows.append(segment.rows[segment.offsets[:-1][single]].astype(np.int64) + segment.base)
    known, row_of = np.concatenate(hashes), np.concatenate(rows)
    every, counts = np.unique(np.concatenate([segment.terms for segment in generation.segments]), return_counts=True)
    alone = np.isin(known, every[counts == 1])
    order = np.argsort(known[alone])
    return known[alone][order], row_of[alone][order]


def draw(generation: Generation, count: int) -> Iterator[tuple[str, int]]:
    """Yield words that stand in one row alone, as they are written there, with the row."""
    hashes, rows = rare_terms(generation)
    left = count
    for place in np.random.default_rng(SEED).permutation(len(hashes)).tolist():
        row = int(rows[place])
        written = {term_hash(normalise(word).casefold()): word for word in _WORD.findall(generation.rows.text(row))}
        word = written.get(int(hashes[place]))
        if word is not None:
            yield word, row
            left -= 1
        if not left:
            return


def measure(generation: Generation, searcher: Searcher, drawn: Sequence[tuple[str, int]]) -> dict[str, object]:
    """Ask for every word and return the ranks of the rows that hold them."""
    ranks: Counter[int] = Counter()
    missed = []
    for word, row in drawn:
        wanted = generation.rows.ids[row].tobytes().hex()
        rank = next((hit.rank for hit in searcher.search(Query(word)).hits if hit.chunk_id == wanted), 0)
        ranks[rank] += 1
        if rank != 1:
            missed.append({"word": word, "path": generation.rows.labels["path"][row], "rank": rank or None})
    return {"chunks": generation.count, "words": len(drawn), "first": ranks[1], "not_first": missed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("repo")
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("--out", type=Path, help="write a result file")
    options = parser.parse_args()
    store = ArtifactStore(options.store)
    pointer = store.pointer(options.repo)
    if pointer is None:
        raise SystemExit(f"{options.store} has no published index of {options.repo}")
    with open_generation(store, options.repo, pointer.generation) as generation:
        info = generation.document.encoder
        searcher = Searcher([generation], make_encoder(EmbedderSettings(info.name), encoder_folder()))
        figures = measure(generation, searcher, list(draw(generation, options.words)))
    method = "words that one chunk of all holds, asked as they are written; see tests/bench/rare_words.py"
    result = {"method": method, **circumstances(), "figures": figures}
    if options.out:
        options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    show(result)


if __name__ == "__main__":
    main()
