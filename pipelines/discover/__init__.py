"""Which files, which symbols, who calls whom. In: a folder or commit. Out: symbols and graph_snapshot."""

from __future__ import annotations

from pipelines.discover.files import list_files
from pipelines.discover.grammars import grammar_versions
from pipelines.discover.graph import build_graph
from pipelines.discover.tables import build_symbols
from pipelines.discover.tree import open_tree
from pipelines.discover.workers import ParserPool

__all__ = ["ParserPool", "build_graph", "build_symbols", "grammar_versions", "list_files", "open_tree"]
