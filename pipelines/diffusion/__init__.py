"""What its neighbours add. In: chunk_vectors, graph_snapshot. Out: diffused_vectors."""
