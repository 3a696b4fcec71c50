"""What a chunk means. In: chunks, an encoder. Out: chunk_vectors.

The names are loaded when they are asked for: a query encodes one line, and must not wait for what a build needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.rooms import on_demand

if TYPE_CHECKING:
    from pipelines.embedding.code_files import CodeNumbers, write_code
    from pipelines.embedding.composition import compose_rows
    from pipelines.embedding.encoders import make_encoder
    from pipelines.embedding.pieces import Pieces
    from pipelines.embedding.recipe import fields
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
__getattr__ = on_demand(
    __name__,
    {
        "CodeNumbers": "code_files",
        "Pieces": "pieces",
        "build_vectors": "vectors",
        "compose_rows": "composition",
        "features": "stems",
        "fields": "recipe",
        "make_encoder": "encoders",
        "write_code": "code_files",
        "write_table": "vocab",
    },
)
