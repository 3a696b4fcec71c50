"""How calls of Ruby, Lua, shell scripts, Haskell, Elixir and Zig find what they mean in other files."""

from __future__ import annotations

from pathlib import Path

from pipelines.records import CallStrategy
from tests.discover.call_tables import File, build


def test_ruby_asks_a_class_anywhere_for_an_object_and_calls_its_own_methods_by_name(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "lib/shop/parcel.rb",
            (
                "trait Shop",
                "class Shop.Parcel",
                "method Shop.Parcel.initialize",
                "method Shop.Parcel.pack",
                "method Shop.Parcel.load",
            ),
            (("Shop.Parcel.initialize", "pack"),),
        ),
        File(
            "app.rb",
            ("function main", "function draw"),
            (("main", "Parcel"), ("main", "Shop::Parcel.load"), ("main", "parcel.pack"), ("draw", "pack")),
            (("./lib/shop/parcel", "*", None), ("json", "*", None)),
        ),
    )
    path = "lib/shop/parcel.rb:Shop.Parcel"
    assert snapshot.bound(f"{path}.initialize") == {f"{path}.pack": CallStrategy.ENCLOSING_SCOPE}
    assert snapshot.bound("app.rb:main") == {
        f"{path}.initialize": CallStrategy.NAMED_TYPE,
        f"{path}.load": CallStrategy.IMPORTED,
        f"{path}.pack": CallStrategy.RECEIVER_NAME,
    }
    assert snapshot.unresolved == {"common_name": 1}


def test_lua_finds_what_the_table_of_a_required_module_holds(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("src/shop/cart.lua", ("method M.total", "method M.lines.count", "function total_of")),
        File("src/shop/stock/init.lua", ("method Stock.reserve",)),
        File(
            "src/main.lua",
            ("function main",),
            (("main", "cart.total"), ("main", "hold"), ("main", "json.decode"), ("main", "print")),
            (("shop.cart", None, "cart"), ("shop.stock", "reserve", "hold"), ("json", None, "json")),
        ),
    )
    assert snapshot.bound("src/main.lua:main") == {
        "src/shop/cart.lua:M.total": CallStrategy.IMPORTED,
        "src/shop/stock/init.lua:Stock.reserve": CallStrategy.IMPORTED,
    }
    assert snapshot.unresolved == {"builtin": 1, "external": 1}


def test_shell_scripts_call_the_functions_of_what_they_source(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("lib/log.sh", ("function info", "function install")),
        File("test/helper.bash", ("function fixture",)),
        File(
            "bin/deploy.sh",
            ("function main", "function copy"),
            (("main", "info"), ("main", "copy"), ("main", "cd")),
            (("../lib/log.sh", "*", None),),
        ),
        File("test/deploy.bash", ("function run",), (("run", "fixture"), ("run", "install")), (("helper", "*", None),)),
        File("tools/log.sh", ("function info",)),
        File("tools/build.sh", ("function go",), (("go", "info"),), (("lib/log.sh", "*", None),)),
    )
    assert snapshot.bound("bin/deploy.sh:main") == {
        "lib/log.sh:info": CallStrategy.IMPORTED,
        "bin/deploy.sh:copy": CallStrategy.SAME_FILE,
    }
    assert snapshot.bound("test/deploy.bash:run") == {"test/helper.bash:fixture": CallStrategy.IMPORTED}
    assert snapshot.bound("tools/build.sh:go") == {"lib/log.sh:info": CallStrategy.IMPORTED}
    assert snapshot.unresolved == {"builtin": 1, "common_name": 1}


def test_haskell_sees_all_of_an_import_and_the_methods_of_its_classes(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("src/Shop/Depot.hs", ("interface Carrier", "method Carrier.book", "method Van.Carrier.book")),
        File("src/Shop/Stock.hs", ("function hold", "function free")),
        File(
            "app/Main.hs",
            ("function main",),
            (("main", "book"), ("main", "Stock.hold"), ("main", "free"), ("main", "Map.lookup"), ("main", "mapM_")),
            (("Shop.Depot", "*", None), ("Shop.Stock", None, "Stock"), ("Data.Map", None, "Map")),
        ),
    )
    assert snapshot.bound("app/Main.hs:main") == {
        "src/Shop/Depot.hs:Carrier.book": CallStrategy.IMPORTED,
        "src/Shop/Stock.hs:hold": CallStrategy.IMPORTED,
    }
    assert snapshot.unresolved == {"builtin": 1, "external": 1, "common_name": 1}


def test_elixir_finds_modules_by_their_names_wherever_they_stand(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "lib/shop/core.ex",
            ("class Shop.Cart", "method Shop.Cart.total", "class Shop.Stock", "method Shop.Stock.hold"),
        ),
        File("lib/old/cart.ex", ("class Old.Cart", "method Old.Cart.total")),
        File(
            "lib/web.ex",
            ("class Web", "method Web.show", "method Web.draw"),
            (
                ("Web.show", "Cart.total"),
                ("Web.show", "hold"),
                ("Web.show", "draw"),
                ("Web.show", "Enum.map"),
                ("Web.draw", "Legacy.total"),
                ("Web.draw", "__MODULE__.show"),
            ),
            (("Shop.Cart", None, None), ("Shop.Stock", "*", None), ("Old.Cart", None, "Legacy")),
        ),
    )
    assert snapshot.bound("lib/web.ex:Web.show") == {
        "lib/shop/core.ex:Shop.Cart.total": CallStrategy.IMPORTED,
        "lib/shop/core.ex:Shop.Stock.hold": CallStrategy.IMPORTED,
        "lib/web.ex:Web.draw": CallStrategy.ENCLOSING_SCOPE,
    }
    assert snapshot.bound("lib/web.ex:Web.draw") == {
        "lib/old/cart.ex:Old.Cart.total": CallStrategy.IMPORTED,
        "lib/web.ex:Web.show": CallStrategy.OWN_CLASS,
    }


def test_zig_imports_files_by_their_paths(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("src/depot.zig", ("function open", "struct Depot", "method Depot.close")),
        File(
            "src/main.zig",
            ("function main", "struct Van", "method Van.go", "method Van.stop"),
            (("main", "depot.open"), ("main", "Depot.close"), ("main", "std.print"), ("Van.go", "self.stop")),
            (("depot.zig", None, "depot"), ("depot.zig", "Depot", None), ("std", None, "std")),
        ),
    )
    assert snapshot.bound("src/main.zig:main") == {
        "src/depot.zig:open": CallStrategy.IMPORTED,
        "src/depot.zig:Depot.close": CallStrategy.IMPORTED,
    }
    assert snapshot.bound("src/main.zig:Van.go") == {"src/main.zig:Van.stop": CallStrategy.OWN_CLASS}
    assert snapshot.unresolved == {"external": 1}
