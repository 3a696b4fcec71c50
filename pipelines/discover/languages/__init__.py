"""One declarative table per language: grammar, node kinds, names, docs, calls, imports."""
