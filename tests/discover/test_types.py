"""Calls of receivers whose class the source tells, language by language."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.records import CallStrategy
from tests.discover.call_tables import File, build

SHOP = File("shop/cart.py", ("class Cart", "method Cart.__init__", "method Cart.add", "method Cart.owner"))


def test_python_variables_parameters_fields_and_results(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        SHOP,
        File(
            "shop/desk.py",
            (
                "class Desk",
                "method Desk.__init__",
                "method Desk.serve",
                "method Desk.open",
                "function fetch",
                "function guess",
            ),
            (
                ("Desk.serve", "self.cart.add"),
                ("Desk.serve", "given.add"),
                ("Desk.serve", "made.add"),
                ("Desk.serve", "fetch().add"),
                ("Desk.serve", "self.open().add"),
                ("Desk.serve", "text.add"),
                ("Desk.serve", "session.add"),
                ("Desk.serve", "'x'.add"),
                ("guess", "thing.add"),
            ),
            (("shop.cart", "Cart", None), ("requests", "Session", None)),
            (
                ("Desk.__init__", "value", "self.cart", "Cart()"),
                ("Desk.serve", "declared", "given", "'Cart | None'"),
                ("Desk.serve", "value", "made", "fetch()"),
                ("Desk.serve", "declared", "text", "str"),
                ("Desk.serve", "value", "session", "Session()"),
                ("Desk.open", "returns", "", "Optional[Cart]"),
                ("fetch", "returns", "", "Cart"),
            ),
        ),
    )
    assert snapshot.edges["shop/desk.py:Desk.serve", "shop/cart.py:Cart.add"].sites == 5
    assert snapshot.bound("shop/desk.py:Desk.serve") == {"shop/cart.py:Cart.add": CallStrategy.TYPED}
    assert snapshot.unresolved == {"external": 1, "builtin": 2, "unknown_receiver": 1}


def test_methods_of_bases_are_found_through_imports_and_super(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("base.py", ("class Base", "method Base.__init__", "method Base.close")),
        File(
            "mine.py",
            ("class Middle", "class Mine", "method Mine.__init__", "method Mine.stop", "method Mine.make"),
            (
                ("Mine.stop", "self.close"),
                ("Mine.__init__", "super().__init__"),
                ("Mine.make", "cls"),
                ("Mine.stop", "self.missing"),
            ),
            (("base", "Base", None),),
            (("Middle", "base", "", "Base"), ("Mine", "base", "", "Middle")),
        ),
    )
    assert snapshot.bound("mine.py:Mine.stop") == {"base.py:Base.close": CallStrategy.INHERITED}
    assert snapshot.bound("mine.py:Mine.__init__") == {"base.py:Base.__init__": CallStrategy.INHERITED}
    assert snapshot.bound("mine.py:Mine.make") == {"mine.py:Mine.__init__": CallStrategy.OWN_CLASS}
    assert snapshot.unresolved == {"unknown_name": 1}


def test_a_method_that_only_an_unknown_base_can_have_is_external(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("other.py", ("class Other", "method Other.send_everything")),
        File(
            "mine.py",
            ("class Mine", "method Mine.go"),
            (("Mine.go", "self.send_everything"), ("Mine.go", "super().go")),
            (("outside", "Base", None),),
            (("Mine", "base", "", "Base"),),
        ),
    )
    assert snapshot.edges == {}
    assert snapshot.unresolved == {"external": 2}


def test_a_class_that_extends_itself_and_values_in_a_ring_end(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "a.py",
            ("class A", "class B", "method A.f"),
            (("A.f", "self.g"), ("A.f", "x.g")),
            (),
            (
                ("A", "base", "", "B"),
                ("B", "base", "", "A"),
                ("A.f", "value", "x", "y"),
                ("A.f", "value", "y", "x"),
                ("A.f", "value", "x", "x.f()"),
            ),
        ),
    )
    assert snapshot.edges == {}


def test_two_classes_of_one_name_in_one_function_share_the_call(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "a.py",
            ("class A", "method A.run", "class B", "method B.run", "function main"),
            (("main", "x.run"),),
            (),
            (("main", "value", "x", "A()"), ("main", "value", "x", "B()")),
        ),
    )
    assert snapshot.bound("a.py:main") == dict.fromkeys(("a.py:A.run", "a.py:B.run"), CallStrategy.AMBIGUOUS)


def test_what_is_declared_hides_the_value_beside_it(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "a.ts",
            ("interface Port", "method Port.send", "class Wire", "method Wire.send", "function main"),
            (("main", "port.send"),),
            (),
            (("main", "declared", "port", "Port"), ("main", "value", "wire", "Wire()")),
        ),
    )
    assert snapshot.bound("a.ts:main") == {"a.ts:Port.send": CallStrategy.TYPED}


def test_a_parameter_hides_a_function_of_another_file(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("a.py", ("function call_everyone",)),
        File(
            "b.py",
            ("function main",),
            (("main", "call_everyone"),),
            (),
            (("main", "declared", "call_everyone", "Callable"),),
        ),
    )
    assert snapshot.edges == {}
    assert snapshot.unresolved == {"unknown_receiver": 1}


def test_go_fields_results_embedded_structs_and_package_variables(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "app/store.go",
            ("struct Store", "method Store.Get", "struct Base", "method Base.Stop", "function Open"),
            typings=(("Open", "returns", "", "(*Store, error)"), (None, "value", "shared", "Open()")),
        ),
        File(
            "app/server.go",
            ("struct Server", "method Server.Run"),
            (
                ("Server.Run", "s.store.Get"),
                ("Server.Run", "opened.Get"),
                ("Server.Run", "shared.Get"),
                ("Server.Run", "s.Stop"),
            ),
            (),
            (
                ("Server", "base", "", "Base"),
                ("Server", "declared", "store", "*Store"),
                ("Server.Run", "declared", "s", "*Server"),
                ("Server.Run", "value", "opened", "Open()"),
            ),
        ),
    )
    assert snapshot.edges["app/server.go:Server.Run", "app/store.go:Store.Get"].sites == 3
    assert snapshot.bound("app/server.go:Server.Run") == {
        "app/store.go:Store.Get": CallStrategy.TYPED,
        "app/store.go:Base.Stop": CallStrategy.TYPED,
    }


def test_typescript_parameter_properties_and_super(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("base.ts", ("class Base", "method Base.constructor", "method Base.log")),
        File("store.ts", ("class Store", "method Store.load")),
        File(
            "page.ts",
            ("class Page", "method Page.constructor", "method Page.show"),
            (("Page.constructor", "super"), ("Page.show", "this.store.load"), ("Page.show", "super.log")),
            (("./base", "Base", None), ("./store", "Store", None)),
            (("Page", "base", "", "Base"), ("Page.constructor", "declared", ".store", "Store")),
        ),
    )
    assert snapshot.bound("page.ts:Page.constructor") == {"base.ts:Base.constructor": CallStrategy.INHERITED}
    assert snapshot.bound("page.ts:Page.show") == {
        "store.ts:Store.load": CallStrategy.TYPED,
        "base.ts:Base.log": CallStrategy.INHERITED,
    }


def test_java_fields_and_interfaces(tmp_path: Path) -> None:
    root = "src/main/java/dev/post"
    snapshot = build(
        tmp_path,
        File(f"{root}/Carrier.java", ("interface Carrier", "method Carrier.send")),
        File(
            f"{root}/Desk.java",
            ("class Desk", "method Desk.go"),
            (("Desk.go", "first.send"), ("Desk.go", "this.first.send"), ("Desk.go", "names.send")),
            (("java.util", "List", None),),
            (("Desk", "declared", "first", "Carrier"), ("Desk.go", "declared", "names", "List<Carrier>")),
        ),
    )
    assert snapshot.edges[f"{root}/Desk.java:Desk.go", f"{root}/Carrier.java:Carrier.send"].sites == 2
    assert snapshot.unresolved == {"external": 1}


@pytest.mark.parametrize("held", ["type[Cart]", "Type[Cart]"])
def test_a_field_that_holds_a_class_makes_objects(tmp_path: Path, held: str) -> None:
    snapshot = build(
        tmp_path,
        SHOP,
        File(
            "shop/desk.py",
            ("class Desk", "method Desk.serve"),
            (("Desk.serve", "self.kind"),),
            (("shop.cart", "Cart", None),),
            (("Desk", "declared", "kind", held),),
        ),
    )
    assert snapshot.bound("shop/desk.py:Desk.serve") == {"shop/cart.py:Cart.__init__": CallStrategy.TYPED}
