from __future__ import annotations

import pytest

from pipelines.discover.parsing.recovery.macros import hide_macros
from tests.discover.outlines import symbols
from tests.discover.sources import parse


def names(path: str, text: str) -> list[str]:
    return [item["qualified"] for item in symbols(parse(path, text))]


@pytest.mark.parametrize(
    "text",
    [
        "static inline u32 __attribute_const__ wanted(void) { return 1; }\n",
        "acpi_status INIT_FUNCTION wanted(void) { return 0; }\n",
        "asmlinkage long wanted(int a) { return a; }\n",
        "static inline __printf(1, 2)\nint wanted(const char *text, ...) { return 0; }\n",
        "pgd_t * __meminit wanted(pgd_t *pgd, int node) { return pgd; }\n",
        "static void __maybe_unused\nwanted(int a)\n{\n}\n",
        "LIB_API int (wanted) (int a) { return a; }\n",
        "static void wanted(void)\n__acquires(lock)\n__releases(other)\n{\n}\n",
        "EXPORT_IT(before)\nint wanted(void) { return 1; }\n",
        "BEGIN_PART\n\nint wanted(void) { return 1; }\n",
        "static void wanted(char __user *from, void __iomem *to)\n{\n}\n",
        "SYSCALL_DEFINE2(wanted, int, fd, const char *, name)\n{\n\treturn fd;\n}\n",
        "#ifdef COMPAT\nSYSCALL_DEFINE1(wanted, int, fd)\n{\n\treturn fd;\n}\n#endif\n",
        "HANDLER(wanted) {\n\treturn 1;\n}\n",
        "int BPF_PROG(wanted, int size) { return size; }\n",
    ],
)
def test_a_macro_around_a_function_does_not_take_its_name(text: str) -> None:
    assert names("a.c", text) == ["wanted"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("class EXPORT Zone { int f() { return 1; } };\n", ["Zone", "Zone.f"]),
        ("struct Zone { API_CONST Zone(int x) : x_(x) {} };\n", ["Zone", "Zone.Zone"]),
        ("struct Zone {\n  API_OLD operator int() const { return 1; }\n};\n", ["Zone", "Zone.operator int"]),
        ("struct Zone { Node* nonnull next(Node* nullable from) { return from; } };\n", ["Zone", "Zone.next"]),
        ("struct Zone { void f(Lock* held LIB_HOLDS_IT) { go(); } };\n", ["Zone", "Zone.f"]),
        ("struct Zone { void f() REQUIRES(mutex_) { go(); } };\n", ["Zone", "Zone.f"]),
        ("API_PUBLIC template <class T> struct Zone { T f() { return 1; } };\n", ["Zone", "Zone.f"]),
        ("template <class T>\nAPI_CONST Result<T> parse(int from) { return 1; }\n", ["parse"]),
        ("struct Zone { enum : unsigned { A, B }; int f() { return 1; } };\n", ["Zone", "Zone.f"]),
        ("struct Zone { virtual int f() const = 0; };\n", ["Zone", "Zone.f"]),
    ],
)
def test_a_macro_of_cpp_hides_no_member(text: str, wanted: list[str]) -> None:
    assert names("a.cpp", text) == wanted


def test_a_loop_that_a_macro_makes_is_no_function_but_a_call() -> None:
    parsed = parse("a.c", "int f(void)\n{\n\tfor_each_cpu(cpu) {\n\t\tvisit(cpu);\n\t}\n\treturn 0;\n}\n")
    assert [item["name"] for item in symbols(parsed)] == ["f"]
    assert [call[1] for call in parsed.calls] == ["for_each_cpu", "visit"]


@pytest.mark.parametrize(
    "text",
    [
        "static unsigned long long f(const struct node *node, const __u32 size);\n",
        "\tif (a) return __c * d(e);\n",
        "struct __foo *next; const __u8 *byte;\n",
        "enum { A, B };\nBOOL\nf(int a) { return a; }\n",
        "typedef struct _NODE NODE_TYPE_NAME;\n",
        "int array[SIZE] = {\nFIRST,\nSECOND\n};\n",
        "FOREACH(x) go(x);\n",
    ],
)
def test_what_is_no_macro_stays(text: str) -> None:
    assert hide_macros(text.encode(), cplusplus=True).decode() == text


@pytest.mark.parametrize("line", [b"a ", b"A(", b"A(b) ", b"__a ", b"a<b<", b"ABC\n", b"a* b ", b"static int __x f(\n"])
def test_length_and_lines_stay_whatever_the_text(line: bytes) -> None:
    data = line * 5_000
    hidden = hide_macros(data, cplusplus=True)
    assert len(hidden) == len(data)
    assert hidden.count(b"\n") == data.count(b"\n")


def test_a_function_after_a_macro_of_several_lines_is_not_its_last_line() -> None:
    text = "#define STATUS \\\n\tstatus()\nstatic inline u32 wanted(u32 r)\n{\n\treturn r;\n}\n"
    assert names("a.c", text) == ["wanted"]
    assert names("a.c", text.replace("\n", "\r\n")) == ["wanted"]


def test_a_comment_inside_a_macro_does_not_end_it() -> None:
    text = "#define FLAGS \\\n\tflag(ONE) /* first */ \\\n\tflag(TWO)\n\nint after(void) { return 1; }\n"
    assert names("a.c", text) == ["after"]
