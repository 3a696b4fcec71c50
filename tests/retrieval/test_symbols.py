from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.retrieval import Query, Searcher
from tests.retrieval.builders import Doc, found, make_searcher, paths

DOCS = [
    Doc("shop/cart.py", "class Cart: pass", "Cart", kind="class"),
    Doc("shop/basket.py", "def total(self): pass", "total", kind="method", qualified="Cart.total"),
    Doc("shop/order.py", "def total(self): pass", "total", kind="method", qualified="Order.total"),
    Doc("shop/tools.py", "def cart(): pass", "cart"),
    Doc("web/parse.ts", "function parseHTMLResponse() {}", "parseHTMLResponse", language="typescript"),
    Doc("notes.md", "# Cart\nabout", "Cart", kind="section", language="markdown"),
    Doc("tests/test_tools.py", "def cart(): pass", "cart", is_test=True),
]


@pytest.fixture
def searcher(tmp_path: Path) -> Searcher:
    return make_searcher(tmp_path, DOCS)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Cart", "shop/cart.py"),
        ("cart", "shop/tools.py"),
        ("Cart.total", "shop/basket.py"),
        ("Cart::total", "shop/basket.py"),
        ("Order#total", "shop/order.py"),
        ("order.total", "shop/order.py"),
        ("basket.Cart.total", "shop/basket.py"),
        ("shop/order/Order.total", "shop/order.py"),
        ("parse html response", "web/parse.ts"),
        ("parsehtmlresponse", "web/parse.ts"),
        ("where does parseHTMLResponse stop", "web/parse.ts"),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "symbol"])
def test_the_named_definition_stands_first(searcher: Searcher, mode: str, text: str, first: str) -> None:
    assert found(searcher, text, mode=mode)[0] == first


@pytest.mark.parametrize(
    ("text", "first"),
    [("CART", {"shop/cart.py", "shop/tools.py"}), ("total()", {"shop/basket.py", "shop/order.py"})],
)
def test_definitions_that_the_query_names_equally_well_stand_first(
    searcher: Searcher, text: str, first: set[str]
) -> None:
    assert set(found(searcher, text)[:2]) == first


@pytest.mark.parametrize("text", ["mine.total", "mine->total", "mine::total", "shop.mine.total"])
def test_what_stands_before_a_member_is_taken_for_a_variable(searcher: Searcher, text: str) -> None:
    assert set(found(searcher, text, mode="symbol")) == {"shop/basket.py", "shop/order.py"}
    assert found(searcher, "shop/mine/total", mode="symbol") == []


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("total(", {"shop/basket.py", "shop/order.py"}),
        ("Cart.total(tax)", {"shop/basket.py"}),
        ("(*Cart).total", {"shop/basket.py"}),
        ("mine->total(3)", {"shop/basket.py", "shop/order.py"}),
        ("def total(self):", {"shop/basket.py", "shop/order.py"}),
        ("parse_html_response", {"web/parse.ts"}),
        ("parse-html-response", {"web/parse.ts"}),
        ("ParseHtmlResponse", {"web/parse.ts"}),
    ],
)
def test_calls_and_other_spellings_name_a_definition(searcher: Searcher, text: str, first: set[str]) -> None:
    hits = searcher.search(Query(text)).hits
    assert {hit.path for hit in hits[: len(first)]} == first
    assert all("definition" in hit.terms for hit in hits[: len(first)])


def test_a_receiver_that_is_known_decides(searcher: Searcher) -> None:
    hits = searcher.search(Query("Order.total()")).hits
    assert [hit.path for hit in hits if "definition" in hit.terms] == ["shop/order.py"]


def test_another_spelling_is_only_near_where_the_querys_own_is_used(tmp_path: Path) -> None:
    docs = [
        Doc("shop/use.py", "open_cart(3)", "main"),
        Doc("web/cart.ts", "function openCart() {}", "openCart", language="typescript"),
    ]
    hits = make_searcher(tmp_path, docs).search(Query("open_cart")).hits
    assert [hit.path for hit in hits] == ["shop/use.py", "web/cart.ts"]
    assert "definition" not in hits[1].terms


def test_case_then_tests_then_headings_decide_among_equal_names(searcher: Searcher) -> None:
    assert found(searcher, "cart", mode="symbol") == [
        "shop/tools.py",
        "tests/test_tools.py",
        "shop/cart.py",
        "notes.md",
    ]


def test_symbol_mode_falls_back_to_beginnings_and_parts_of_names(searcher: Searcher) -> None:
    answer = searcher.search(Query("parse", mode="symbol"))  # type: ignore[arg-type]
    assert paths(answer) == ["web/parse.ts"]
    assert answer.hits[0].terms["symbol"] == pytest.approx(0.3)
    assert found(searcher, "response html", mode="symbol") == ["web/parse.ts"]
    assert found(searcher, "absent", mode="symbol") == []


def test_the_exact_definition_stands_before_a_decoy_that_repeats_its_name(tmp_path: Path) -> None:
    decoys = [
        Doc(f"use{number}.py", "widgetX() " * 20, f"caller{number}", pagerank=1.0, blast=1.0) for number in range(20)
    ]
    definition = Doc("big.py", "def widgetX():\n" + "    something_else_entirely(1, 2, 3)\n" * 300, "widgetX")
    searcher = make_searcher(tmp_path, [*decoys, definition])
    for mode in ("hybrid", "lexical", "symbol"):
        assert found(searcher, "widgetX", mode=mode)[0] == "big.py"


JAVA = [
    Doc("src/main/java/org/post/Parcel.java", "class Parcel {\n}", "Parcel", kind="class"),
    Doc("src/main/java/org/post/Parcel.java", "Parcel() {}\n", "Parcel", kind="method", qualified="Parcel.Parcel"),
    Doc("src/test/java/org/post/Parcel.java", "class Parcel {\n}", "Parcel", kind="class", is_test=True),
    Doc("src/main/java/org/post/Weigh.java", "interface Weigh {\n}", "Weigh", kind="interface"),
    Doc("src/main/java/org/post/Scale.java", "void weigh() {\n}", "weigh", kind="method", qualified="Scale.weigh"),
]


@pytest.mark.parametrize(
    "text", ["Parcel", "class Parcel", "public final class Parcel {", "org.post.Parcel", "sample.Parcel"]
)
def test_a_type_stands_before_its_constructor_however_it_is_named(tmp_path: Path, text: str) -> None:
    best = make_searcher(tmp_path, JAVA).search(Query(text)).hits[0]
    assert (best.path, best.kind) == ("src/main/java/org/post/Parcel.java", "class")


@pytest.mark.parametrize(("text", "kind"), [("interface Weigh", "interface"), ("func weigh", "method")])
def test_a_declaring_keyword_asks_for_its_kind(tmp_path: Path, text: str, kind: str) -> None:
    assert make_searcher(tmp_path, JAVA).search(Query(text)).hits[0].kind == kind


def test_places_before_a_name_must_be_its_own_and_in_order(tmp_path: Path) -> None:
    searcher = make_searcher(tmp_path, JAVA)
    assert found(searcher, "org/post/Parcel", mode="symbol") != []
    assert found(searcher, "org/mail/Parcel", mode="symbol") == []
    assert found(searcher, "post/org/Parcel", mode="symbol") == []


def test_a_body_stands_before_a_forward_declaration_and_foreign_code_last(tmp_path: Path) -> None:
    docs = [
        Doc("deps/other/queue.c", "struct queue {\n  int size;\n};", "queue", kind="struct", language="c"),
        Doc("src/queue.h", "typedef struct queue queue;", "queue", kind="type", language="c"),
        Doc("src/queue.c", "struct queue {\n  int length;\n};", "queue", kind="struct", language="c"),
    ]
    assert found(make_searcher(tmp_path, docs), "queue") == ["src/queue.c", "src/queue.h", "deps/other/queue.c"]


SHARED = [
    Doc("render/json.go", "type Send struct {\n\tData any\n}", "Send", kind="struct", language="go", pagerank=1.0),
    Doc("errors.go", "func (m *Error) Send() {}", "Send", kind="method", qualified="Error.Send", language="go"),
    Doc("context.go", "func (c *Context) Send() {}", "Send", kind="method", qualified="Context.Send", language="go"),
    Doc("send.go", "func Send() {}", "Send", language="go", pagerank=1.0),
]


@pytest.mark.parametrize("text", ["c.Send", "c.Send(", "ctx.Send(1)", "context->Send", "Context.Send"])
def test_a_receiver_tells_which_of_equal_names_is_meant(tmp_path: Path, text: str) -> None:
    assert found(make_searcher(tmp_path, SHARED), text)[0] == "context.go"


@pytest.mark.parametrize(("text", "kind"), [("Send(", "function"), ("new Send(", "struct"), ("Send", "struct")])
def test_a_call_asks_for_what_can_be_called(tmp_path: Path, text: str, kind: str) -> None:
    assert make_searcher(tmp_path, SHARED).search(Query(text)).hits[0].kind == kind


def test_where_types_are_called_a_call_asks_for_the_type(tmp_path: Path) -> None:
    docs = [
        Doc("shop/a.py", "class Cart:\n    pass", "Cart", kind="class"),
        Doc("shop/b.py", "def Cart():\n    pass", "Cart"),
    ]
    assert found(make_searcher(tmp_path, docs), "Cart()")[0] == "shop/a.py"


def test_a_field_of_a_long_type_is_found_among_many_that_hold_its_name(tmp_path: Path) -> None:
    """More rows hold the name than are read, and all of them say less else."""
    docs = [
        Doc(f"use{number}.c", f"void use{number}(void) {{ int flags = 1; }}", f"use{number}", language="c")
        for number in range(600)
    ]
    fields = "\n".join(f"  int field{number};" for number in range(200))
    docs.append(Doc("shop.h", f"struct cart {{\n{fields}\n  int flags;\n}};", "cart", kind="struct", language="c"))
    searcher = make_searcher(tmp_path, docs)
    for text in ("cart.flags", "c->flags", "flags"):
        assert found(searcher, text)[0] == "shop.h"
