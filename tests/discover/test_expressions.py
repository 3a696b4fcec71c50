"""Receivers and types as they are written in many languages."""

from __future__ import annotations

import pytest

from pipelines.discover.graph.binding.expressions import class_paths, is_literal, links


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self", "self"),
        ("self.store.items", "self store items"),
        ("a?.b!.c", "a b c"),
        ("p->next->prev", "p next prev"),
        ("std::fs", "std fs"),
        (r"App\Cart", "App Cart"),
        ("new Cart(1, [2])", "Cart()"),
        ("await make(f(x), ')').run()", "make() run()"),
        ("&Guard{name: 1}", "Guard()"),
        ("(value)", "value"),
        ("Vec::<u8>::new()", "Vec new()"),
        ("$this", "$this"),
        ("@cart", "@cart"),
    ],
)
def test_chains_are_split_into_their_links(text: str, expected: str) -> None:
    assert " ".join(link.name + "()" * link.called for link in links(text)) == expected


@pytest.mark.parametrize(
    "text", ["", "a[0]", "a + b", "f(", "x ? y : z", "(a ?? b).c", "a.b.c.d.e.f.g.h.i", "f(x)(y)", "..."]
)
def test_what_is_no_chain_of_names_has_no_links(text: str) -> None:
    assert links(text) == ()


@pytest.mark.parametrize(
    ("text", "expected"), [('"a"', True), ("f'{x}'", True), ("[1]", True), ("9", True), ("x", False)]
)
def test_literals_are_told_by_their_start(text: str, expected: bool) -> None:
    assert is_literal(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cart", ["Cart"]),
        ('"Cart"', ["Cart"]),
        ("shop.cart.Cart | None", ["shop.cart.Cart"]),
        ("Optional[Cart]", ["Cart"]),
        ("Cart | Basket", ["Cart", "Basket"]),
        ("list[Cart]", ["list"]),
        ("Promise<Cart<Item>>", ["Cart"]),
        ("type[Cart]", ["Cart"]),
        ("*Guard", ["Guard"]),
        ("(*Guard, error)", ["Guard"]),
        ("(guard *Guard, err error)", ["Guard"]),
        ("const Cart &", ["Cart"]),
        ("std::unique_ptr<Cart>", ["Cart"]),
        ("&'a mut Cart", ["Cart"]),
        ("Map<String, Cart>", ["Map"]),
        ("Cart[]", []),
        ("[]Cart", []),
        ("var", []),
        ("func(x int) error", []),
        ("() => Cart", []),
        ("", []),
    ],
)
def test_the_classes_that_a_type_names(text: str, expected: list[str]) -> None:
    assert [".".join(path) for path in class_paths(text)] == expected


@pytest.mark.parametrize(
    "text", ["(" * 200, "a." * 200, "f(" * 100 + ")" * 100, "Optional[" * 40, "<" * 200, "(a, " * 60]
)
def test_hostile_text_names_nothing(text: str) -> None:
    assert len(links(text)) <= 1
    assert len(class_paths(text)) <= 1
