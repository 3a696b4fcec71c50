from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from pipelines import formats
from pipelines.artifacts import Artifact
from pipelines.discover import ParserPool
from pipelines.identity import path_hash
from pipelines.records import SkipReason
from pipelines.settings import IndexSettings
from tests.discover.sources import ONE_WORKER, MemoryTree, build, listed
from tests.discover.test_workers import COMMAND
from tests.spine.builders import make_store

FILES: dict[str, bytes | None] = {
    "cart.py": b"import os\n\ndef add(item):\n    return os.path.join(tax(item), tax(item))\n",
    "tax.py": b"from cart import add\n\ndef tax(item): return add(item) * 2\n",
    "web/app.js": b"import {add} from './cart';\nexport const run = () => add(1);\n",
    "README.md": b"# Cart\n\nAdds.\n",
    "empty/__init__.py": b"",
    "blank.py": b"\n \t\n",
    "image.py": b"x = '\x00'\n",
}


@pytest.fixture
def pool() -> Iterator[ParserPool]:
    with ParserPool(ONE_WORKER) as opened:
        yield opened


def rows(artifact: Artifact, name: str) -> list[dict[str, object]]:
    return list(artifact.table(f"{name}.parquet").to_pylist())


def bytes_of(artifact: Artifact) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(artifact.folder.iterdir())}


def test_every_listed_file_has_one_row_in_order_of_its_hash(tmp_path: Path, pool: ParserPool) -> None:
    report, artifact = build(make_store(tmp_path), FILES, pool)
    paths = [str(row["path"]) for row in rows(artifact, "files")]
    assert paths == sorted(FILES, key=path_hash)
    assert (report.rows, report.computed, report.reused) == (4, 4, 0)
    assert report.skipped == {"empty": 2, "binary": 1}
    assert report.rows + sum(report.skipped.values()) == len(FILES)
    assert artifact.counts["rows"] == artifact.counts["files_indexed"] == 4
    assert artifact.counts["files_skipped"] == {"binary": 1, "empty": 2}


def test_tables_are_in_their_order_and_belong_together(tmp_path: Path, pool: ParserPool) -> None:
    _, artifact = build(make_store(tmp_path), FILES, pool)
    symbols, calls, imports = (rows(artifact, name) for name in ("symbols", "calls", "imports"))
    ids = [row["symbol_id"] for row in symbols]
    assert ids == sorted(ids)  # type: ignore[type-var]
    assert [row["name"] for row in calls] == [
        row["name"] for row in sorted(calls, key=lambda row: (path_hash(str(row["path"])), row["start_byte"]))
    ]
    assert {row["caller"] for row in calls} <= set(ids)
    assert {(row["path"], row["module"], row["name"], row["alias"]) for row in imports} == {
        ("cart.py", "os", None, None),
        ("tax.py", "cart", "add", None),
        ("web/app.js", "./cart", "add", None),
    }


@pytest.mark.parametrize("name", ["files", "symbols", "calls", "imports", "secrets"])
def test_tables_have_their_schema_even_without_rows(tmp_path: Path, pool: ParserPool, name: str) -> None:
    schema: pa.Schema = getattr(formats, f"{name.upper()}_TABLE")
    _, full = build(make_store(tmp_path / "full"), FILES, pool)
    _, bare = build(make_store(tmp_path / "bare"), {"a.md": b"text"}, pool)
    assert full.table(f"{name}.parquet").schema.equals(schema)
    assert bare.table(f"{name}.parquet").schema.equals(schema)


def test_an_empty_bucket_is_an_artifact_too(tmp_path: Path, pool: ParserPool) -> None:
    store = make_store(tmp_path)
    report, artifact = build(store, {}, pool)
    assert report.rows == artifact.table("files.parquet").num_rows == 0


def test_only_changed_files_are_read_and_the_result_is_that_of_a_fresh_build(tmp_path: Path, pool: ParserPool) -> None:
    store = make_store(tmp_path / "kept")
    build(store, FILES, pool)
    changed = {**FILES, "tax.py": b"def tax(item): return 3\n", "new.py": b"def new(): pass\n"}
    del changed["web/app.js"]
    tree = MemoryTree(changed)
    report, artifact = build(store, changed, pool, tree=tree)
    assert sorted(tree.reads) == ["new.py", "tax.py"]
    assert (report.rows, report.reused, report.computed) == (4, 2, 2)
    _, fresh = build(make_store(tmp_path / "fresh"), changed, pool)
    assert bytes_of(artifact) == bytes_of(fresh)
    assert "web/app.js" not in {row["path"] for name in ("files", "symbols", "calls") for row in rows(artifact, name)}


def test_going_back_gives_the_first_artifact_again(tmp_path: Path, pool: ParserPool) -> None:
    store = make_store(tmp_path)
    first, _ = build(store, FILES, pool)
    build(store, {**FILES, "tax.py": b"x = 1\n"}, pool)
    again, _ = build(store, FILES, pool)
    assert again.ref == first.ref
    assert not again.built


def test_result_does_not_depend_on_the_number_of_workers(tmp_path: Path, pool: ParserPool) -> None:
    many = {f"m{number}.py": f"def f{number}(): return g({number})\n".encode() for number in range(150)}
    _, one = build(make_store(tmp_path / "one"), many, pool)
    with ParserPool(IndexSettings(workers=3)) as three:
        three.parse("warm", [], 0)
        _, other = build(make_store(tmp_path / "three"), many, three)
    assert bytes_of(one) == bytes_of(other)


def test_scope_of_a_reused_file_is_that_of_the_new_listing(tmp_path: Path, pool: ParserPool) -> None:
    store = make_store(tmp_path)
    data = b"def f(): pass\n"
    build(store, {"a.py": data}, pool)
    tree = MemoryTree({})
    _, artifact = build(store, {}, pool, listing=(listed("a.py", data, scope="packages/a"),), tree=tree)
    assert tree.reads == []
    assert rows(artifact, "files")[0]["scope"] == "packages/a"
    assert rows(artifact, "files")[0]["lines"] == 1
    assert len(rows(artifact, "symbols")) == 1


def test_a_file_that_becomes_denied_leaves_nothing(tmp_path: Path, pool: ParserPool) -> None:
    store = make_store(tmp_path)
    data = b"def hidden(): pass\n"
    build(store, {"a.py": data}, pool)
    denied = listed("a.py", data, skip_reason=SkipReason.DENIED, skip_detail="deny list: a.py")
    report, artifact = build(store, {}, pool, listing=(denied,))
    assert report.skipped == {"denied": 1}
    (row,) = rows(artifact, "files")
    assert (row["skip_reason"], row["skip_detail"], row["encoding"]) == ("denied", "deny list: a.py", "")
    assert rows(artifact, "symbols") == []
    _, back = build(store, {"a.py": data}, pool)
    assert len(rows(back, "symbols")) == 1


def test_other_grammars_make_everything_new(tmp_path: Path, pool: ParserPool) -> None:
    from pipelines.discover import build_symbols
    from pipelines.progress import Silent
    from tests.discover.sources import target_of

    store = make_store(tmp_path)
    build(store, FILES, pool)
    wanted = tuple(listed(path, data or b"?") for path, data in FILES.items())
    report = build_symbols(store, target_of(*wanted, grammars="newer"), wanted, MemoryTree(FILES), pool, Silent())
    assert (report.reused, report.computed) == (0, 4)


def test_an_unreadable_file_is_told_and_tried_again(tmp_path: Path, pool: ParserPool) -> None:
    store = make_store(tmp_path)
    file = listed("a.py", b"def f(): pass\n")
    other = listed("b.py", b"x = 1\n")
    report, artifact = build(store, {"a.py": None, "b.py": b"x = 1\n"}, pool, listing=(file, other))
    assert report.skipped == {"unreadable": 1}
    assert [row["skip_detail"] for row in rows(artifact, "files") if row["skip_reason"]] == ["Permission denied"]
    readable: dict[str, bytes | None] = {"a.py": b"def f(): pass\n", "b.py": b"x = 1\n", "c.py": b"y = 1\n"}
    tree = MemoryTree(readable)
    report, _ = build(store, readable, pool, listing=(file, other, listed("c.py", b"y = 1\n")), tree=tree)
    assert sorted(tree.reads) == ["a.py", "c.py"]
    assert not report.skipped


def test_a_file_that_crashed_its_parser_is_recorded_and_not_tried_with_every_run(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    files: dict[str, bytes | None] = {f"ok{number}.py": b"def f(): pass\n" for number in range(30)}
    files["boom.py"] = b"def g(): pass\n"
    with ParserPool(ONE_WORKER, command=COMMAND) as pool:
        report, artifact = build(store, files, pool)
        assert (report.rows, dict(report.skipped)) == (30, {"crashed": 1})
        assert len(rows(artifact, "symbols")) == 30
        again, _ = build(store, files, pool)
        assert not again.built
        tree = MemoryTree({**files, "more.py": b"x = 1\n"})
        later, _ = build(store, tree.files, pool, tree=tree)
        assert tree.reads == ["more.py"]
        assert dict(later.skipped) == {"crashed": 1}


def test_a_language_without_its_grammar_is_counted(tmp_path: Path) -> None:
    code = (
        "import dataclasses, sys\nfrom pipelines.discover.processes import worker\n"
        "from pipelines.discover.parsing.languages import LANGUAGES\n"
        "LANGUAGES['go'] = dataclasses.replace(LANGUAGES['go'], calls=('(no_such_node) @name',))\n"
        "sys.exit(worker.main())\n"
    )
    files: dict[str, bytes | None] = {f"ok{number}.py": b"def f(): pass\n" for number in range(20)}
    files["a.go"] = b"package p\nfunc f() {}\n"
    with ParserPool(ONE_WORKER, command=(sys.executable, "-P", "-c", code)) as pool:
        report, artifact = build(make_store(tmp_path), files, pool)
    assert (report.rows, report.extra["parse_fallbacks"], report.extra["symbols"]) == (21, 1, 20)
    assert artifact.counts["parse_fallbacks"] == 1


def test_no_secret_reaches_the_artifact(tmp_path: Path, pool: ParserPool) -> None:
    key = "AKIA" + "QYLPMN5HFIQR7BXA"
    source = f'# {key}\ndef connect(key="{key}"):\n    """{key}"""\n    return open("{key}").read()\n'
    report, artifact = build(make_store(tmp_path), {"a.py": source.encode(), "b.md": key.encode()}, pool)
    assert report.extra["secrets"] == 5
    for name in ("files", "symbols", "calls", "imports", "secrets"):
        assert key not in repr(rows(artifact, name))
    assert {row["start_line"] for row in rows(artifact, "secrets") if row["path"] == "a.py"} == {1, 2, 3, 4}


def test_false_positives_of_the_sketches_are_measured(tmp_path: Path, pool: ParserPool) -> None:
    report, _ = build(make_store(tmp_path), FILES, pool)
    assert 0.0 <= report.extra["bloom_false_positives"] < 0.05
