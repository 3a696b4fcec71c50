"""Which versions of the grammars are installed. In: nothing. Out: one string, a part of what every artifact depends on.

A query asks for it to tell whether its index is stale, so the names stand here: the tables of the languages, which take
longer to load than the query to answer, are not needed for them. A test compares.
"""

from __future__ import annotations

from importlib.metadata import version

DISTRIBUTIONS = (
    "tree-sitter",
    "tree-sitter-bash",
    "tree-sitter-c",
    "tree-sitter-c-sharp",
    "tree-sitter-cpp",
    "tree-sitter-elixir",
    "tree-sitter-go",
    "tree-sitter-haskell",
    "tree-sitter-java",
    "tree-sitter-javascript",
    "tree-sitter-kotlin",
    "tree-sitter-lua",
    "tree-sitter-php",
    "tree-sitter-python",
    "tree-sitter-ruby",
    "tree-sitter-rust",
    "tree-sitter-scala",
    "tree-sitter-swift",
    "tree-sitter-typescript",
    "tree-sitter-zig",
)


def grammar_versions() -> str:
    """Return the versions of tree-sitter and all grammars as one stable string, without loading a grammar."""
    return " ".join(f"{name}={version(name)}" for name in sorted(DISTRIBUTIONS))
