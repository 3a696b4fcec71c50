"""Which chunks answer. In: a generation, a query. Out: ranked hits."""

from pipelines.retrieval.generation import Generation, open_generation
from pipelines.retrieval.query import Answer, Query
from pipelines.retrieval.searcher import Searcher

__all__ = ["Answer", "Generation", "Query", "Searcher", "open_generation"]
