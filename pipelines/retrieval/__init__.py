"""Which chunks answer. In: a generation, a query. Out: ranked hits.

The names are loaded when they are asked for: a query reads no chunk by its id and tries no variant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.rooms import on_demand

if TYPE_CHECKING:
    from pipelines.retrieval.expansion import Expansion
    from pipelines.retrieval.generation import Generation, open_generation
    from pipelines.retrieval.query import Answer, Query
    from pipelines.retrieval.reading import ChunkReader, StoredChunk
    from pipelines.retrieval.searcher import Searcher
    from pipelines.retrieval.variants import Variant

__all__ = [
    "Answer",
    "ChunkReader",
    "Expansion",
    "Generation",
    "Query",
    "Searcher",
    "StoredChunk",
    "Variant",
    "open_generation",
]
__getattr__ = on_demand(
    __name__,
    {
        "Answer": "query",
        "ChunkReader": "reading",
        "Expansion": "expansion",
        "Generation": "generation",
        "Query": "query",
        "Searcher": "searcher",
        "StoredChunk": "reading",
        "Variant": "variants",
        "open_generation": "generation",
    },
)
