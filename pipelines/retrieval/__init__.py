"""Which chunks answer. In: a generation, a query. Out: ranked hits."""
