"""Is it better than before. In: a generation, judgments. Out: eval_runs."""
