"""Where one idea ends, and which words it holds. In: symbols, file contents. Out: chunks, lexical_segments."""
