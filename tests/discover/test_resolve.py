"""Which definition a call is bound to, language by language, and which calls must stay unbound."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.records import CALL_CONFIDENCE, CallStrategy
from tests.discover.call_tables import File, build


def test_a_bare_method_name_makes_no_hub_of_a_free_function(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "fixture.py",
            ("function get", "class Store", "method Store.read", "function other", "function real"),
            (("Store.read", "self.store.get"), ("other", "d.get"), ("real", "get")),
        ),
        File("app.ts", ("class Suite", "method Suite.describe")),
        File("app.spec.ts", ("function spec",), (("spec", "describe"),)),
    )
    assert snapshot.callers("fixture.py:get") == {"fixture.py:real"}
    assert snapshot.callers("app.ts:Suite.describe") == set()
    assert snapshot.bound("fixture.py:real") == {"fixture.py:get": CallStrategy.SAME_FILE}
    assert snapshot.unresolved == {"builtin": 1, "unknown_name": 2}


def test_a_method_that_calls_its_namesake_of_another_class_does_not_call_itself(tmp_path: Path) -> None:
    folder = "src/main/java/post"
    snapshot = build(
        tmp_path,
        File(f"{folder}/Envelope.java", ("class Envelope", "method Envelope.setLabel")),
        File(
            f"{folder}/Mailbox.java",
            ("class Mailbox", "method Mailbox.reset", "method Mailbox.setLabel"),
            (("Mailbox.reset", "envelope.setLabel"), ("Mailbox.setLabel", "envelope.setLabel")),
        ),
    )
    callers = {f"{folder}/Mailbox.java:Mailbox.reset", f"{folder}/Mailbox.java:Mailbox.setLabel"}
    assert snapshot.callers(f"{folder}/Envelope.java:Envelope.setLabel") == callers
    assert snapshot.callers(f"{folder}/Mailbox.java:Mailbox.setLabel") == set()
    assert {edge.strategy for edge in snapshot.edges.values()} == {CallStrategy.RECEIVER_NAME}


def test_edge_sites_count_the_call_sites(tmp_path: Path) -> None:
    once = File("once.py", ("function create_config", "function main"), (("main", "create_config"),))
    often = File("often.py", ("function create_config", "function main"), (("main", "create_config"),) * 5)
    snapshot = build(tmp_path, once, often)
    assert snapshot.edges["once.py:main", "once.py:create_config"].sites == 1
    assert snapshot.edges["often.py:main", "often.py:create_config"].sites == 5
    assert snapshot.artifact.counts["calls"] == 6


def test_python_scopes_imports_and_constructors(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("shop/__init__.py", imports=((".cart", "Cart", None),)),
        File("shop/cart.py", ("class Cart", "method Cart.__init__", "method Cart.add", "function total")),
        File("shop/tools/money.py", ("function total", "function as_cents")),
        File(
            "shop/checkout.py",
            (
                "class Checkout",
                "method Checkout.run",
                "method Checkout.pay",
                "function Checkout.run.step",
                "function total",
            ),
            (
                ("Checkout.run", "self.pay"),
                ("Checkout.run", "step"),
                ("Checkout.run", "total"),
                ("Checkout.run", "Cart"),
                ("Checkout.run.step", "self.pay"),
                ("Checkout.run", "money.as_cents"),
                ("Checkout.run", "shop.tools.money.total"),
                ("Checkout.run", "np.zeros"),
                ("Checkout.run", "cents"),
                ("Checkout.pay", "print"),
                ("Checkout.pay", "Cart().add"),
                (None, "total"),
            ),
            (
                ("shop", "Cart", None),
                ("numpy", None, "np"),
                (".tools", "money", None),
                ("shop.tools.money", None, None),
                (".tools.money", "as_cents", "cents"),
            ),
        ),
    )
    run, pay = "shop/checkout.py:Checkout.run", "shop/checkout.py:Checkout.pay"
    assert snapshot.bound(run) == {
        pay: CallStrategy.OWN_CLASS,
        "shop/checkout.py:Checkout.run.step": CallStrategy.ENCLOSING_SCOPE,
        "shop/checkout.py:total": CallStrategy.SAME_FILE,
        "shop/cart.py:Cart.__init__": CallStrategy.IMPORTED,
        "shop/tools/money.py:as_cents": CallStrategy.IMPORTED,
        "shop/tools/money.py:total": CallStrategy.IMPORTED,
    }
    assert snapshot.edges[run, "shop/tools/money.py:as_cents"].sites == 2
    assert snapshot.bound("shop/checkout.py:Checkout.run.step") == {pay: CallStrategy.OWN_CLASS}
    assert snapshot.bound(pay) == {"shop/cart.py:Cart.add": CallStrategy.TYPED}
    assert snapshot.unresolved == {"module_level": 1, "external": 1, "builtin": 1}


def test_an_import_from_outside_is_never_bound_inside(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("vendored/loader.py", ("function load_everything", "class Loader", "method Loader.read_records")),
        File(
            "main.py",
            ("function main",),
            (("main", "load_everything"), ("main", "Loader().read_records"), ("main", "loader.read_records")),
            (("thirdparty", "load_everything", None), ("thirdparty", "Loader", None), ("thirdparty", "loader", None)),
        ),
    )
    assert snapshot.edges == {}
    assert snapshot.unresolved == {"external": 3}


def test_a_single_word_module_is_only_looked_for_where_python_would(tmp_path: Path) -> None:
    call = (("main", "queue.put"),)
    snapshot = build(
        tmp_path,
        File("tools/queue.py", ("function put",)),
        File("app/main.py", ("function main",), call, (("queue", None, None),)),
        File("tools/main.py", ("function main",), call, (("queue", None, None),)),
    )
    assert set(snapshot.edges) == {("tools/main.py:main", "tools/queue.py:put")}


def test_the_indexed_folder_may_be_the_package_itself(tmp_path: Path) -> None:
    files = (
        File("core/cart.py", ("function total",)),
        File("main.py", ("function main",), (("main", "total"),), (("shop.core.cart", "total", None),)),
    )
    assert build(tmp_path / "plain", *files).unresolved == {"external": 1}
    assert set(build(tmp_path / "package", *files, File("__init__.py")).edges) == {
        ("main.py:main", "core/cart.py:total")
    }


def test_the_last_python_definition_of_a_name_is_the_one_that_is_called(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path, File("a.py", ("function f", "function f", "function f", "function g"), (("g", "f"),) * 2)
    )
    ((_, callee),) = [pair for pair in snapshot.edges]
    starts = snapshot.artifact.table("nodes.parquet")
    assert callee == "a.py:f"
    assert starts.num_rows == 4
    assert [edge.strategy for edge in snapshot.edges.values()] == [CallStrategy.SAME_FILE]


def test_typescript_imports_reexports_and_namespaces(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("src/basket/basket.ts", ("class Basket", "method Basket.constructor", "method Basket.restore")),
        File("src/basket/index.ts", imports=(("./basket", "*", None),)),
        File("src/api.ts", ("function fetchOrder", "function default")),
        File("src/util/old.js", ("function legacyTotal",)),
        File(
            "src/page.tsx",
            ("function Page",),
            (
                ("Page", "Basket"),
                ("Page", "Basket.restore"),
                ("Page", "api.fetchOrder"),
                ("Page", "load"),
                ("Page", "old.legacyTotal"),
                ("Page", "React.useState"),
                ("Page", "useState"),
            ),
            (
                ("./basket", "Basket", None),
                ("./api", None, "api"),
                ("./api", "default", "load"),
                ("@/util/old", None, "old"),
                ("react", "default", "React"),
                ("react", "useState", None),
            ),
        ),
    )
    assert snapshot.bound("src/page.tsx:Page") == dict.fromkeys(
        (
            "src/basket/basket.ts:Basket.constructor",
            "src/basket/basket.ts:Basket.restore",
            "src/api.ts:fetchOrder",
            "src/api.ts:default",
            "src/util/old.js:legacyTotal",
        ),
        CallStrategy.IMPORTED,
    )
    assert snapshot.unresolved == {"external": 2}


def test_java_packages_imports_and_implicit_this(tmp_path: Path) -> None:
    root = "core/src/main/java/dev/post"
    snapshot = build(
        tmp_path,
        File(f"{root}/money/Money.java", ("class Money", "method Money.Money", "method Money.of")),
        File(f"{root}/ledger/Book.java", ("class Book", "method Book.write")),
        File(
            f"{root}/ledger/Ledger.java",
            ("class Ledger", "method Ledger.post", "method Ledger.check"),
            (
                ("Ledger.post", "check"),
                ("Ledger.post", "Money"),
                ("Ledger.post", "of"),
                ("Ledger.post", "Book"),
                ("Ledger.post", "book.write"),
                ("Ledger.check", "this.post"),
                ("Ledger.check", "Money.of"),
                ("Ledger.check", "List.of"),
            ),
            (("dev.post.money", "Money", None), ("dev.post.money.Money", "of", None), ("java.util", "List", None)),
        ),
    )
    post, check = f"{root}/ledger/Ledger.java:Ledger.post", f"{root}/ledger/Ledger.java:Ledger.check"
    assert snapshot.bound(post) == {
        check: CallStrategy.ENCLOSING_SCOPE,
        f"{root}/money/Money.java:Money.Money": CallStrategy.IMPORTED,
        f"{root}/money/Money.java:Money.of": CallStrategy.IMPORTED,
        f"{root}/ledger/Book.java:Book": CallStrategy.SAME_PACKAGE,
        f"{root}/ledger/Book.java:Book.write": CallStrategy.RECEIVER_NAME,
    }
    assert snapshot.bound(check) == {
        post: CallStrategy.OWN_CLASS,
        f"{root}/money/Money.java:Money.of": CallStrategy.IMPORTED,
    }
    assert snapshot.unresolved == {"external": 1}


def test_go_packages_receivers_and_the_standard_library(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("gateway/auth.go", ("struct Guard", "function check", "method Guard.allow")),
        File("errors/errors.go", ("function New",)),
        File("store/store.go", ("function Open",)),
        File(
            "gateway/serve.go",
            ("method Guard.Serve",),
            (
                ("Guard.Serve", "g.allow"),
                ("Guard.Serve", "check"),
                ("Guard.Serve", "store.Open"),
                ("Guard.Serve", "errors.New"),
                ("Guard.Serve", "http.DefaultClient.Do"),
                ("Guard.Serve", "len"),
            ),
            (("example.org/post/store", None, None), ("errors", None, None), ("net/http", None, None)),
            (("Guard.Serve", "declared", "g", "*Guard"),),
        ),
    )
    assert snapshot.bound("gateway/serve.go:Guard.Serve") == {
        "gateway/auth.go:Guard.allow": CallStrategy.OWN_CLASS,
        "gateway/auth.go:check": CallStrategy.SAME_PACKAGE,
        "store/store.go:Open": CallStrategy.IMPORTED,
    }
    assert snapshot.unresolved == {"external": 2, "builtin": 1}


def test_rust_paths_uses_and_objects(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("router/src/lib.rs", ("function len", "function run")),
        File(
            "router/src/queue.rs", ("struct MinQueue", "method MinQueue.new", "method MinQueue.push", "function drain")
        ),
        File(
            "router/src/graph.rs",
            ("struct Network", "method Network.route", "method Network.near", "function plain"),
            (
                ("Network.route", "MinQueue::new"),
                ("Network.route", "self.near"),
                ("Network.route", "self.len"),
                ("Network.route", "crate::run"),
                ("Network.route", "queue::drain"),
                ("Network.route", "crate::queue::MinQueue::push"),
                ("Network.route", "HashMap::new"),
                ("plain", "super::run"),
                ("plain", "println"),
            ),
            (("crate::queue", "MinQueue", None), ("crate", "queue", None), ("std::collections", "HashMap", None)),
        ),
    )
    queue = "router/src/queue.rs"
    assert snapshot.bound("router/src/graph.rs:Network.route") == {
        "router/src/graph.rs:Network.near": CallStrategy.OWN_CLASS,
        "router/src/lib.rs:run": CallStrategy.IMPORTED,
        f"{queue}:MinQueue.new": CallStrategy.IMPORTED,
        f"{queue}:drain": CallStrategy.IMPORTED,
        f"{queue}:MinQueue.push": CallStrategy.IMPORTED,
    }
    assert snapshot.callers("router/src/lib.rs:run") == {
        "router/src/graph.rs:Network.route",
        "router/src/graph.rs:plain",
    }
    assert snapshot.unresolved == {"external": 1, "builtin": 1, "unknown_name": 1}


def test_c_headers_linkage_static_and_function_pointers(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("lib/ring.h", ("macro RING_MASK", "struct ring")),
        File("lib/ring.c", ("function ring_push: int ring_push(void)", "function helper: static int helper(void)")),
        File("other/ring_copy.c", ("function ring_push: int ring_push(void)",)),
        File("net/send.c", ("function send_frame: int send_frame(void)", "function open: int open(void)")),
        File(
            "app/main.c",
            ("function main",),
            (
                ("main", "ring_push"),
                ("main", "RING_MASK"),
                ("main", "helper"),
                ("main", "send_frame"),
                ("main", "ops->open"),
                ("main", "ring"),
                ("main", "printf"),
            ),
            (("ring.h", None, None), ("stdio.h", None, None)),
        ),
    )
    assert snapshot.bound("app/main.c:main") == {
        "lib/ring.c:ring_push": CallStrategy.IMPORTED,
        "lib/ring.h:RING_MASK": CallStrategy.IMPORTED,
        "net/send.c:send_frame": CallStrategy.LINKED,
    }
    assert snapshot.callers("net/send.c:open") == set()


def test_cpp_namespaces_classes_and_overloads(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "geo/zone.cpp",
            (
                "function geo.cross",
                "method geo.Zone.Zone",
                "method geo.Zone.area",
                "method geo.Zone.area",
                "method geo.Zone.clip",
            ),
            (("geo.Zone.clip", "cross"), ("geo.Zone.clip", "area")),
        ),
        File(
            "app/main.cpp", ("function main",), (("main", "geo::cross"), ("main", "zone.clip"), ("main", "std::move"))
        ),
        File("geo/zone.hpp", ("class geo.Zone",)),
    )
    assert snapshot.bound("geo/zone.cpp:geo.Zone.clip") == {
        "geo/zone.cpp:geo.cross": CallStrategy.ENCLOSING_SCOPE,
        "geo/zone.cpp:geo.Zone.area": CallStrategy.AMBIGUOUS,
    }
    assert snapshot.bound("app/main.cpp:main") == {
        "geo/zone.cpp:geo.cross": CallStrategy.NAMED_TYPE,
        "geo/zone.cpp:geo.Zone.clip": CallStrategy.RECEIVER_NAME,
    }


def test_only_a_distinctive_name_binds_by_itself(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "a.py",
            (
                "function reserve_stock",
                "function run",
                "class Depot",
                "method Depot.find_nearest_van",
                "method Depot.go",
            ),
        ),
        File(
            "b.py",
            ("function main",),
            (("main", "reserve_stock"), ("main", "run"), ("main", "x.find_nearest_van"), ("main", "x.go")),
        ),
    )
    assert snapshot.bound("b.py:main") == {
        "a.py:reserve_stock": CallStrategy.UNIQUE_NAME,
        "a.py:Depot.find_nearest_van": CallStrategy.UNIQUE_METHOD,
    }
    assert snapshot.unresolved == {"unknown_receiver": 1, "common_name": 1}


@pytest.mark.parametrize(("classes", "edges"), [(2, 2), (5, 5), (6, 0)])
def test_a_few_candidates_share_the_confidence_and_many_get_no_edge(tmp_path: Path, classes: int, edges: int) -> None:
    kinds = [
        File(f"c{number}.py", (f"class K{number}", f"method K{number}.recount_everything")) for number in range(classes)
    ]
    snapshot = build(tmp_path, *kinds, File("main.py", ("function main",), (("main", "x.recount_everything"),)))
    assert len(snapshot.edges) == edges
    assert all(edge.strategy is CallStrategy.AMBIGUOUS for edge in snapshot.edges.values())
    assert all(
        edge.confidence == pytest.approx(CALL_CONFIDENCE[CallStrategy.AMBIGUOUS] / classes)
        for edge in snapshot.edges.values()
    )
    assert snapshot.unresolved == ({} if edges else {"ambiguous": 1})


def test_calls_never_cross_languages(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("a.go", ("function normaliseAddress",)),
        File("b.java", ("class B", "method B.normaliseAddress")),
        File("c.c", ("function normaliseAddress",)),
        File("main.py", ("function main",), (("main", "normaliseAddress"), ("main", "b.normaliseAddress"))),
        File("main.cpp", ("function go",), (("go", "normaliseAddress"),)),
        File("web.js", ("function draw_everything",)),
        File("web.ts", ("function go",), (("go", "draw_everything"),)),
    )
    assert set(snapshot.edges) == {("main.cpp:go", "c.c:normaliseAddress"), ("web.ts:go", "web.js:draw_everything")}


def test_the_surest_strategies_are_listed_first_and_ambiguity_stays_below_a_half() -> None:
    sure = [CALL_CONFIDENCE[item] for item in CallStrategy if item is not CallStrategy.AMBIGUOUS]
    assert sure == sorted(sure, reverse=True)
    assert CALL_CONFIDENCE[CallStrategy.AMBIGUOUS] / 2 < 0.5 <= sure[-1]
    assert CALL_CONFIDENCE.keys() == set(CallStrategy)
