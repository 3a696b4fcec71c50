"""Where one idea ends, and which words it holds. In: symbols, file contents. Out: chunks, lexical_segments."""

from pipelines.chunking.build import build_chunks
from pipelines.chunking.postings import FIELD_WEIGHTS, build_segment

__all__ = ["FIELD_WEIGHTS", "build_chunks", "build_segment"]
