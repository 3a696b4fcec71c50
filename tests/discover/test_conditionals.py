from __future__ import annotations

import pytest

from pipelines.discover.parsing.recovery.conditionals import choose_branches
from tests.discover.outlines import symbols
from tests.discover.sources import parse


def chosen(text: str, *, cplusplus: bool = False) -> str:
    data = choose_branches(text.encode(), cplusplus=cplusplus)
    assert len(data) == len(text)
    return "\n".join(line.strip() for line in data.decode().splitlines() if line.strip())


def test_whole_branches_are_all_read() -> None:
    text = "#ifdef A\nint f(void) { return 1; }\n#else\nint g(void) { return 2; }\n#endif\n"
    assert choose_branches(text.encode(), cplusplus=False) == text.encode()


def test_of_two_heads_of_one_body_the_first_is_read() -> None:
    text = "#if A\nint f(int a)\n#else\nint f(void)\n#endif\n{\n\treturn 1;\n}\nint g(void) { return 2; }\n"
    assert [item["name"] for item in symbols(parse("a.c", text))] == ["f", "g"]
    assert chosen(text) == "int f(int a)\n{\nreturn 1;\n}\nint g(void) { return 2; }"


def test_a_block_that_one_group_opens_and_another_one_closes_is_whole() -> None:
    text = "void f(void)\n{\n#ifdef A\n\tif (a) {\n#endif\n\t\tgo();\n#ifdef A\n\t}\n#endif\n}\nvoid g(void) {}\n"
    assert [item["last"] for item in symbols(parse("a.c", text))] == [10, 11]


def test_equal_conditions_choose_equally_however_they_are_written() -> None:
    text = "#ifdef A\n{\n#else\n{ {\n#endif\n#if !defined(A)\n} }\n#else\n}\n#endif\n"
    assert chosen(text) == "{\n}"


@pytest.mark.parametrize(("cplusplus", "kept"), [(True, 'extern "C" {\nint a;\n}'), (False, "int a;")])
def test_what_only_cpp_compiles_is_read_only_there(cplusplus: bool, kept: str) -> None:
    text = '#ifdef __cplusplus\nextern "C" {\n#endif\nint a;\n#ifdef __cplusplus\n}\n#endif\n'
    assert chosen(text, cplusplus=cplusplus) == kept


def test_a_branch_that_is_switched_off_is_not_chosen() -> None:
    assert chosen("#if 0\n{ {\n#else\n{\n#endif\n}\n") == "{\n}"


def test_an_inner_group_is_decided_before_the_one_around_it() -> None:
    text = "#ifdef A\nvoid f(void) {\n#ifdef B\nif (b) {\n#else\n{\n#endif\n}\n}\n#endif\n"
    assert chosen(text) == "#ifdef A\nvoid f(void) {\nif (b) {\n}\n}\n#endif"


def test_braces_in_strings_and_comments_open_nothing() -> None:
    text = "#ifdef A\nchar *s = \"{\"; /* { */ char c = '{'; // {\n#endif\n"
    assert choose_branches(text.encode(), cplusplus=False) == text.encode()


@pytest.mark.parametrize("text", ["#endif\n", "#else\n", "#if A\n{\n", "#elif A\n#endif\n", "#if A\n" * 3_000])
def test_directives_without_their_counterparts_change_nothing(text: str) -> None:
    assert choose_branches(text.encode(), cplusplus=False) == text.encode()


def test_deep_nesting_is_read_for_a_bounded_time() -> None:
    text = "#if A\n{\n" * 20_000 + "#endif\n" * 20_000
    assert len(choose_branches(text.encode(), cplusplus=False)) == len(text)
