"""Who calls whom, and what hangs on it. In: the rows of all files. Out: nodes, resolved edges, metrics."""
