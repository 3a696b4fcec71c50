"""The languages that have symbols, one declarative table each. Adding a language is one table and one test fixture."""

from __future__ import annotations

import re

from pipelines.discover.languages.c import C
from pipelines.discover.languages.cpp import CPP
from pipelines.discover.languages.csharp import CSHARP
from pipelines.discover.languages.elixir import ELIXIR
from pipelines.discover.languages.go import GO
from pipelines.discover.languages.haskell import HASKELL
from pipelines.discover.languages.java import JAVA
from pipelines.discover.languages.javascript import JAVASCRIPT
from pipelines.discover.languages.kotlin import KOTLIN
from pipelines.discover.languages.language import Grammar, ImportedName, Language
from pipelines.discover.languages.lua import LUA
from pipelines.discover.languages.php import PHP
from pipelines.discover.languages.python import PYTHON
from pipelines.discover.languages.ruby import RUBY
from pipelines.discover.languages.rust import RUST
from pipelines.discover.languages.scala import SCALA
from pipelines.discover.languages.shell import SHELL
from pipelines.discover.languages.swift import SWIFT
from pipelines.discover.languages.typescript import TSX, TYPESCRIPT
from pipelines.discover.languages.zig import ZIG

__all__ = ["LANGUAGES", "Grammar", "ImportedName", "Language", "grammar_for"]

LANGUAGES: dict[str, Language] = {
    language.name: language
    for language in (
        C,
        CPP,
        CSHARP,
        ELIXIR,
        GO,
        HASKELL,
        JAVA,
        JAVASCRIPT,
        KOTLIN,
        LUA,
        PHP,
        PYTHON,
        RUBY,
        RUST,
        SCALA,
        SHELL,
        SWIFT,
        TSX,
        TYPESCRIPT,
        ZIG,
    )
}

#: What only C++ has, at the start of a line outside of comments, in a header that is named like one of C.
_CPP_HEADER = re.compile(
    r"\n[ \t]*(?:namespace\b|class[ \t]+\w|template[ \t]*<|using[ \t]+\w|(?:public|private|protected)[ \t]*:)"
)


def grammar_for(language: str, path: str, text: str) -> str:
    """Return the name of the language whose grammar reads a file: a header of C++ may be named like one of C."""
    return CPP.name if language == C.name and path.endswith(".h") and _CPP_HEADER.search("\n" + text) else language
