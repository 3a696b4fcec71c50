"""One module of asset checks per stage."""
