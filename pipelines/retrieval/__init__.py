"""Which chunks answer. In: a generation, a query. Out: ranked hits."""

from pipelines.retrieval.expansion import Expansion
from pipelines.retrieval.generation import Generation, open_generation
from pipelines.retrieval.query import ALLOWED, Answer, Query
from pipelines.retrieval.reading import ChunkReader, StoredChunk
from pipelines.retrieval.searcher import Searcher

__all__ = [
    "ALLOWED",
    "Answer",
    "ChunkReader",
    "Expansion",
    "Generation",
    "Query",
    "Searcher",
    "StoredChunk",
    "open_generation",
]
