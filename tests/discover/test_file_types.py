from __future__ import annotations

import pytest

from pipelines.discover.file_types import SCRIPT, FileType, Unwanted, file_type, script_type
from pipelines.records import Content, SkipReason

SECTIONED = ("asciidoc", "markdown", "restructuredtext")


@pytest.mark.parametrize(
    ("path", "language", "content"),
    [
        ("a/b.py", "python", Content.CODE),
        ("stubs.pyi", "python", Content.CODE),
        ("a.mjs", "javascript", Content.CODE),
        ("a.jsx", "javascript", Content.CODE),
        ("a.d.ts", "typescript", Content.CODE),
        ("a.cts", "typescript", Content.CODE),
        ("a.tsx", "tsx", Content.CODE),
        ("main.go", "go", Content.CODE),
        ("Main.java", "java", Content.CODE),
        ("lib.rs", "rust", Content.CODE),
        ("a.h", "c", Content.CODE),
        ("a.H", "cpp", Content.CODE),
        ("a.C", "cpp", Content.CODE),
        ("a.CPP", "cpp", Content.CODE),
        ("a.inl", "cpp", Content.CODE),
        ("book.ipynb", "jupyter", Content.CODE),
        ("README.md", "markdown", Content.DOCS),
        ("a.mdx", "markdown", Content.DOCS),
        ("index.rst", "restructuredtext", Content.DOCS),
        ("manual.adoc", "asciidoc", Content.DOCS),
        ("notes.txt", "text", Content.DOCS),
        ("LICENSE", "text", Content.DOCS),
        ("LICENSE-MIT", "text", Content.DOCS),
        ("CMakeLists.txt", "cmake", Content.TEXT),
        ("requirements.txt", "requirements", Content.TEXT),
        ("Makefile", "make", Content.TEXT),
        ("Makefile.am", "make", Content.TEXT),
        ("Dockerfile.dev", "dockerfile", Content.TEXT),
        ("package.json", "json", Content.TEXT),
        ("app.kt", "kotlin", Content.CODE),
        ("app.rb", "ruby", Content.CODE),
        ("Rakefile", "ruby", Content.CODE),
        ("config.ru", "ruby", Content.CODE),
        ("init.lua", "lua", Content.CODE),
        ("install.sh", "shell", Content.CODE),
        ("parse.bats", "shell", Content.CODE),
        (".zshrc", "shell", Content.CODE),
        ("Main.hs", "haskell", Content.CODE),
        ("Guide.lhs", "literate-haskell", Content.TEXT),
        ("mix.exs", "elixir", Content.CODE),
        ("build.zig", "zig", Content.CODE),
        ("build.zig.zon", "zon", Content.TEXT),
        ("kernel.cu", "cuda", Content.TEXT),
        (".env.example", "dotenv", Content.TEXT),
        ("go.mod", "go-module", Content.TEXT),
        ("BUILD", "starlark", Content.TEXT),
    ],
)
def test_languages_by_name(path: str, language: str, content: Content) -> None:
    kind = file_type(path)
    assert isinstance(kind, FileType)
    assert (kind.language, kind.content) == (language, content)
    assert kind.parsed == (content is Content.CODE or language in SECTIONED)


@pytest.mark.parametrize(
    ("path", "reason", "detail"),
    [
        ("package-lock.json", SkipReason.GENERATED, "lock file"),
        ("sub/go.sum", SkipReason.GENERATED, "lock file"),
        ("Cargo.lock", SkipReason.GENERATED, "lock file"),
        ("app.min.js", SkipReason.GENERATED, "minified"),
        ("app.js.map", SkipReason.GENERATED, "source map"),
        ("logo.svg", SkipReason.UNSUPPORTED, "picture"),
        ("data.csv", SkipReason.UNSUPPORTED, "data"),
        ("rows.jsonl", SkipReason.UNSUPPORTED, "data"),
        ("logo.PNG", SkipReason.UNSUPPORTED, "no language known for .PNG"),
        ("build.bin", SkipReason.UNSUPPORTED, "no language known for .bin"),
        (".py", SkipReason.UNSUPPORTED, "no language known for .py"),
        ("odd.", SkipReason.UNSUPPORTED, "no language known for ."),
    ],
)
def test_what_is_left_out_by_name(path: str, reason: SkipReason, detail: str) -> None:
    assert file_type(path) == Unwanted(reason, detail)


def test_a_name_that_says_nothing_leaves_it_to_the_first_line() -> None:
    assert file_type("bin/deploy") is SCRIPT


@pytest.mark.parametrize(
    ("line", "language"),
    [
        (b"#!/bin/sh\n", "shell"),
        (b"#!/usr/bin/env python3.11\nx", "python"),
        (b"#! /usr/bin/env -S uv run --script\n", "python"),
        (b"#!/usr/bin/env LANG=C perl -w\r\n", "perl"),
        (b"#!/usr/local/bin/node --harmony", "javascript"),
        (b"#!/usr/bin/env ts-node\n", "typescript"),
    ],
)
def test_scripts_by_their_first_line(line: bytes, language: str) -> None:
    kind = script_type(line)
    assert isinstance(kind, FileType)
    assert kind.language == language
    assert kind.content is (Content.CODE if kind.parsed else Content.TEXT)


@pytest.mark.parametrize(
    "start", [b"", b"hello", b"#!", b"#!/opt/unknown\n", b"#!/usr/bin/env\n", b"\x7fELF#!/bin/sh", b"#!" + b" /" * 400]
)
def test_no_script(start: bytes) -> None:
    kind = script_type(start)
    assert isinstance(kind, Unwanted)
    assert kind.reason is SkipReason.UNSUPPORTED
