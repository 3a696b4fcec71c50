"""Which files, which symbols, who calls whom. In: a folder or commit. Out: symbols and graph_snapshot."""
