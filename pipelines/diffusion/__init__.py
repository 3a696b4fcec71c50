"""What its neighbours add. In: chunk_vectors, graph_snapshot. Out: diffused_vectors."""

from pipelines.diffusion.stage import build_diffused

__all__ = ["build_diffused"]
