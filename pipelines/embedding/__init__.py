"""What a chunk means. In: chunks, an encoder. Out: chunk_vectors."""
