"""Which files, which symbols, who calls whom. In: a folder or commit. Out: symbols and graph_snapshot.

The names are loaded when they are asked for: a query lists files to tell whether an index is fresh, and must not wait
for the parser and the matrices that only a build needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.rooms import on_demand

if TYPE_CHECKING:
    from pipelines.discover.file_types import file_type
    from pipelines.discover.graph.snapshot import build_graph
    from pipelines.discover.listing.files import list_files
    from pipelines.discover.parsing.parse import parse_file
    from pipelines.discover.parsing.versions import grammar_versions
    from pipelines.discover.preview import preview_files
    from pipelines.discover.processes.workers import ParserPool
    from pipelines.discover.tables import build_symbols
    from pipelines.discover.tree import open_tree

__all__ = [
    "ParserPool",
    "build_graph",
    "build_symbols",
    "file_type",
    "grammar_versions",
    "list_files",
    "open_tree",
    "parse_file",
    "preview_files",
]
__getattr__ = on_demand(
    __name__,
    {
        "ParserPool": "processes.workers",
        "build_graph": "graph.snapshot",
        "build_symbols": "tables",
        "file_type": "file_types",
        "grammar_versions": "parsing.versions",
        "list_files": "listing.files",
        "open_tree": "tree",
        "parse_file": "parsing.parse",
        "preview_files": "preview",
    },
)
