"""One module of assets per stage."""
