"""Which chunks answer. In: a generation, a query. Out: ranked hits."""

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
