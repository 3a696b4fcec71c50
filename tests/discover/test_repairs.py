from __future__ import annotations

import pytest

from pipelines.discover.parsing.languages import LANGUAGES
from tests.discover.outlines import symbols
from tests.discover.sources import LANGUAGE_OF, parse

REPAIRED = sorted(name for name, language in LANGUAGES.items() if language.repairs)
HOSTILE = (
    "class A : B\n#if X\n, C\n" * 5_000,
    "#else\n" * 30_000,
    "#if A\n" * 20_000 + "#else x\n" * 20_000,
    "is " + "a if " * 20_000 + ")",
    "is a if (" * 10_000,
    "@A(" * 20_000,
    "@A\n" * 20_000 + "get(",
    "context(" * 20_000,
    "// a\n" * 20_000 + "internal constructor",
    "class A\n" + " @A" * 20_000 + " private constructor(",
    "set(" + "a" * 50_000,
    "$" * 50_000,
    "open " * 20_000,
)


def names(path: str, text: str) -> set[str]:
    return {item["qualified"] for item in symbols(parse(path, text))}


@pytest.mark.parametrize("language", REPAIRED)
@pytest.mark.parametrize("text", HOSTILE)
def test_repairs_keep_every_place_and_take_no_longer_than_the_text_is_long(language: str, text: str) -> None:
    for repair in LANGUAGES[language].repairs:
        repaired = repair(text.encode())
        assert len(repaired) == len(text)
        assert repaired.count(b"\n") == text.count("\n")


@pytest.mark.parametrize("language", REPAIRED)
def test_repairs_keep_the_place_of_characters_of_several_bytes(language: str) -> None:
    text = 'é open("日本")\n#if é\nis 𝄞 if ü ->\n@Ä get(x)\nactual fun ñ() = suspend { }\n'.encode()
    for repair in LANGUAGES[language].repairs:
        assert len(repair(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fun f() { open(1) }\nfun g() = 1\n", {"f", "g"}),
        ("class A {\n    private var final = 1\n    fun f() {}\n}\n", {"A", "A.f"}),
        ("fun f() {\n    where?.let { g() }\n}\nfun g() = 1\n", {"f", "g"}),
        ("fun f() {\n    a.insert { } get b.id\n}\nfun g() = 1\n", {"f", "g"}),
        ('fun f() = g($$"a", String?::plus)\nfun g() = 1\n', {"f", "g"}),
        ("val f = suspend { 1 }\n", {"f"}),
        ("fun f() {\n    val a = b()\n    get(a)\n}\nfun g() = 1\n", {"f", "g"}),
        ("class A {\n    val b\n        @C\n        get() = 1\n    fun f() {}\n}\n", {"A", "A.b", "A.f"}),
        ("class A<T>\n@C private constructor(val x: T) : B {\n    fun f() {}\n}\n", {"A", "A.f"}),
        ("@A\n@B\nclass C {\n    fun f() {}\n}\n", {"C", "C.f"}),
        (
            "interface A { fun f() }\nclass B { fun g() = 1 }\nclass C { init { } }\n",
            {"A", "A.f", "B", "B.g", "C", "C.init"},
        ),
        ("@A(b = 1)\nexpect annotation class C\n", {"C"}),
    ],
)
def test_kotlin_that_its_grammar_misreads(text: str, found: set[str]) -> None:
    assert names("a.kt", text) == found


def test_conditions_in_the_head_of_a_class() -> None:
    text = "class A : B\n#if X\n    , C\n#endif\n{\n    void F() { }\n}\nclass D { }\n"
    assert names("a.cs", text) == {"A", "A.F", "D"}


def test_of_branches_that_cut_through_a_member_the_first_is_read() -> None:
    heads = "#if X\n    int F(int a) {\n#else\n    int F() {\n#endif\n"
    text = f"class A {{\n{heads}        return G();\n    }}\n    int G() => 1;\n}}\n"
    assert names("a.cs", text) == {"A", "A.F", "A.G"}


def test_a_text_without_errors_is_read_as_it_is_written() -> None:
    (only,) = symbols(parse("a.kt", 'fun f(): String = "where = open(1)"\n'))
    assert only["signature"] == "fun f(): String"


def test_repaired_languages_are_those_of_the_tables() -> None:
    assert set(REPAIRED) <= set(LANGUAGE_OF.values())
