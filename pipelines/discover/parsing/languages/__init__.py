"""The languages that have symbols, one declarative table each. Adding a language is one table and one test fixture."""

from __future__ import annotations

import re

from pipelines.discover.parsing.languages.c import C
from pipelines.discover.parsing.languages.cpp import CPP
from pipelines.discover.parsing.languages.csharp import CSHARP
from pipelines.discover.parsing.languages.elixir import ELIXIR
from pipelines.discover.parsing.languages.go import GO
from pipelines.discover.parsing.languages.haskell import HASKELL
from pipelines.discover.parsing.languages.java import JAVA
from pipelines.discover.parsing.languages.javascript import JAVASCRIPT
from pipelines.discover.parsing.languages.kotlin import KOTLIN
from pipelines.discover.parsing.languages.language import Grammar, ImportedName, Language
from pipelines.discover.parsing.languages.lua import LUA
from pipelines.discover.parsing.languages.php import PHP
from pipelines.discover.parsing.languages.python import PYTHON
from pipelines.discover.parsing.languages.ruby import RUBY
from pipelines.discover.parsing.languages.rust import RUST
from pipelines.discover.parsing.languages.scala import SCALA
from pipelines.discover.parsing.languages.shell import SHELL
from pipelines.discover.parsing.languages.swift import SWIFT
from pipelines.discover.parsing.languages.typescript import TSX, TYPESCRIPT
from pipelines.discover.parsing.languages.zig import ZIG

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
