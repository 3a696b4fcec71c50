"""What a chunk means. In: chunks, an encoder. Out: chunk_vectors."""

from pipelines.embedding.encoders import make_encoder
from pipelines.embedding.stems import features
from pipelines.embedding.vectors import build_vectors
from pipelines.embedding.vocab import write_table

__all__ = ["build_vectors", "features", "make_encoder", "write_table"]
