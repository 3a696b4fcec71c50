"""Texts that a grammar cannot read as they are: macros, cut blocks, errors, tangles. In: bytes. Out: readable ones."""
