from __future__ import annotations

from pathlib import Path

from pipelines.discover.graph.binding.definitions import around
from pipelines.records import CallStrategy
from tests.discover.call_tables import File, build

IMPORTED, SAME_PACKAGE, TYPED = CallStrategy.IMPORTED, CallStrategy.SAME_PACKAGE, CallStrategy.TYPED


def test_csharp_namespaces_partial_classes_and_static_imports(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "Tools/Hammer.cs",
            ("class Shop.Tools.Hammer", "method Shop.Tools.Hammer.Hit", "method Shop.Tools.Hammer.Max"),
        ),
        File("Other/Hammer.cs", ("class Farm.Hammer", "method Farm.Hammer.Hit")),
        File("Billing/Ledger.Sum.cs", ("class Shop.Billing.Ledger", "method Shop.Billing.Ledger.Sum")),
        File("Billing/Row.cs", ("class Shop.Billing.Row",)),
        File(
            "Billing/Ledger.cs",
            ("class Shop.Billing.Ledger", "method Shop.Billing.Ledger.Post"),
            (
                ("Shop.Billing.Ledger.Post", "Hammer"),
                ("Shop.Billing.Ledger.Post", "hammer.Hit"),
                ("Shop.Billing.Ledger.Post", "Max"),
                ("Shop.Billing.Ledger.Post", "Sum"),
                ("Shop.Billing.Ledger.Post", "Row"),
                ("Shop.Billing.Ledger.Post", "nameof"),
            ),
            (("Shop.Tools", "*", None), ("Shop.Tools.Hammer", "*", None)),
            (("Shop.Billing.Ledger.Post", "declared", "hammer", "Hammer"),),
        ),
    )
    assert snapshot.bound("Billing/Ledger.cs:Shop.Billing.Ledger.Post") == {
        "Tools/Hammer.cs:Shop.Tools.Hammer": IMPORTED,
        "Tools/Hammer.cs:Shop.Tools.Hammer.Hit": TYPED,
        "Tools/Hammer.cs:Shop.Tools.Hammer.Max": IMPORTED,
        "Billing/Ledger.Sum.cs:Shop.Billing.Ledger.Sum": CallStrategy.OWN_CLASS,
        "Billing/Row.cs:Shop.Billing.Row": SAME_PACKAGE,
    }
    assert snapshot.unresolved == {"builtin": 1}


def test_kotlin_packages_whatever_the_folders(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "core/Tools.kt",
            ("class shop.tools.Hammer", "method shop.tools.Hammer.hit", "function shop.tools.build"),
        ),
        File("core/Far.kt", ("function farm.build",)),
        File("billing/Help.kt", ("function shop.billing.help",)),
        File(
            "app/Ledger.kt",
            ("class shop.billing.Ledger", "method shop.billing.Ledger.post"),
            (
                ("shop.billing.Ledger.post", "Hammer"),
                ("shop.billing.Ledger.post", "make"),
                ("shop.billing.Ledger.post", "Hammer.hit"),
                ("shop.billing.Ledger.post", "help"),
                ("shop.billing.Ledger.post", "max"),
            ),
            (("shop.tools", "*", None), ("shop.tools", "build", "make"), ("kotlin.math", "max", None)),
        ),
    )
    assert snapshot.bound("app/Ledger.kt:shop.billing.Ledger.post") == {
        "core/Tools.kt:shop.tools.Hammer": IMPORTED,
        "core/Tools.kt:shop.tools.Hammer.hit": IMPORTED,
        "core/Tools.kt:shop.tools.build": IMPORTED,
        "billing/Help.kt:shop.billing.help": SAME_PACKAGE,
    }
    assert snapshot.unresolved == {"external": 1}


def test_php_names_of_other_namespaces(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "lib/hammer.php",
            (
                "class Shop.Tools.Hammer",
                "method Shop.Tools.Hammer.__construct",
                "method Shop.Tools.Hammer.hit",
                "function Shop.Tools.build",
            ),
        ),
        File(
            "src/Ledger.php",
            ("class Shop.Billing.Ledger", "method Shop.Billing.Ledger.post"),
            (
                ("Shop.Billing.Ledger.post", "Hammer"),
                ("Shop.Billing.Ledger.post", "H.hit"),
                ("Shop.Billing.Ledger.post", "build"),
                ("Shop.Billing.Ledger.post", "strlen"),
            ),
            (
                ("Shop\\Tools", "Hammer", None),
                ("Shop\\Tools", "Hammer", "H"),
                ("Shop\\Tools", "build", None),
            ),
        ),
    )
    assert snapshot.bound("src/Ledger.php:Shop.Billing.Ledger.post") == {
        "lib/hammer.php:Shop.Tools.Hammer.__construct": IMPORTED,
        "lib/hammer.php:Shop.Tools.Hammer.hit": IMPORTED,
        "lib/hammer.php:Shop.Tools.build": IMPORTED,
    }
    assert snapshot.unresolved == {"builtin": 1}


def test_scala_companions_and_partial_classes_are_one_type(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("a/Hammer.scala", ("class shop.Hammer", "class shop.Hammer", "method shop.Hammer.of")),
        File("b/Saw.cs", ("class Shop.Saw", "method Shop.Saw.Saw")),
        File("b/Saw.Cut.cs", ("class Shop.Saw", "method Shop.Saw.Cut")),
        File("c/Use.scala", ("function use.go",), (("use.go", "Hammer"),), (("shop", "Hammer", None),)),
        File("c/Use.cs", ("method Shop.Use.Go",), (("Shop.Use.Go", "Saw"),)),
    )
    assert len(snapshot.bound("c/Use.scala:use.go")) == 1
    assert snapshot.bound("c/Use.scala:use.go")["a/Hammer.scala:shop.Hammer"] is IMPORTED
    assert snapshot.bound("c/Use.cs:Shop.Use.Go") == {"b/Saw.cs:Shop.Saw.Saw": SAME_PACKAGE}


def test_calls_deep_inside_are_all_told(tmp_path: Path) -> None:
    depth, count = 30, 3_000
    prefix = ".".join(f"a{level}" for level in range(depth))
    callers = tuple(f"method {prefix}.A.f{number}" for number in range(count))
    snapshot = build(
        tmp_path,
        File(
            "n.php",
            (f"class {prefix}.A", *callers),
            tuple((caller.split()[1], f"x{number}.g{number}") for number, caller in enumerate(callers)),
        ),
    )
    assert sum(snapshot.unresolved.values()) == count


def test_what_stands_around_a_definition_is_named_innermost_first() -> None:
    assert around("a.b.c") == ("a.b", "a")
    assert around("a") == around("") == ()
