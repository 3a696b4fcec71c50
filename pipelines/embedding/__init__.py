"""What a chunk means. In: chunks, an encoder. Out: chunk_vectors."""

from pipelines.embedding.code_files import CodeNumbers, write_code
from pipelines.embedding.encoders import make_encoder
from pipelines.embedding.pieces import Pieces
from pipelines.embedding.recipe import compose_rows, fields
from pipelines.embedding.stems import features
from pipelines.embedding.vectors import build_vectors
from pipelines.embedding.vocab import write_table

__all__ = [
    "CodeNumbers",
    "Pieces",
    "build_vectors",
    "compose_rows",
    "features",
    "fields",
    "make_encoder",
    "write_code",
    "write_table",
]
