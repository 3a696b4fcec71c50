"""Plain calls of C: what a file includes, what links, and what is nearest in the tree."""

from __future__ import annotations

from pathlib import Path

from pipelines.records import CallStrategy
from tests.discover.call_tables import File, build

INCLUDES_SLAB = (("linux/slab.h", None, None),)


def test_each_architecture_has_its_own_and_common_code_the_generic_one(tmp_path: Path) -> None:
    includes = (("asm/io.h", None, None),)
    snapshot = build(
        tmp_path,
        File("include/asm-generic/io.h", ("function readl",)),
        *(
            File(f"arch/{name}/include/asm/io.h", ("function readl",), (), (("asm-generic/io.h", None, None),))
            for name in ("arm", "mips", "x86")
        ),
        File("arch/x86/kernel/boot.c", ("function boot",), (("boot", "readl"),), includes),
        File("drivers/net/card.c", ("function probe",), (("probe", "readl"),), includes),
    )
    assert snapshot.bound("arch/x86/kernel/boot.c:boot") == {"arch/x86/include/asm/io.h:readl": CallStrategy.IMPORTED}
    assert snapshot.bound("drivers/net/card.c:probe") == {"include/asm-generic/io.h:readl": CallStrategy.IMPORTED}


def test_a_function_of_a_header_that_does_nothing_stands_in_for_that_of_a_source(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "include/linux/slab.h", ("function trace_on", "function trace_off", "macro kmalloc"), (("trace_off", "x"),)
        ),
        File("mm/slab.c", ("function trace_on", "function trace_off", "function kmalloc"), (), INCLUDES_SLAB),
        File(
            "fs/inode.c",
            ("function mount",),
            (("mount", "trace_on"), ("mount", "trace_off"), ("mount", "kmalloc")),
            INCLUDES_SLAB,
        ),
    )
    assert snapshot.bound("fs/inode.c:mount") == dict.fromkeys(
        ("mm/slab.c:trace_on", "include/linux/slab.h:trace_off", "include/linux/slab.h:kmalloc"), CallStrategy.IMPORTED
    )


def test_headers_are_seen_through_headers_even_in_a_ring(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("a.h", ("macro FIRST",), (), (("b.h", None, None),)),
        File("b.h", ("macro SECOND",), (), (("c.h", None, None),)),
        File("c.h", ("macro THIRD",), (), (("a.h", None, None), ("missing.h", None, None))),
        File("d.h", ("macro HIDDEN",)),
        File(
            "main.c",
            ("function main",),
            (("main", "FIRST"), ("main", "SECOND"), ("main", "THIRD"), ("main", "HIDDEN")),
            (("b.h", None, None),),
        ),
    )
    assert snapshot.bound("main.c:main") == dict.fromkeys(
        ("a.h:FIRST", "b.h:SECOND", "c.h:THIRD"), CallStrategy.IMPORTED
    )
    assert snapshot.unresolved == {"common_name": 1}


def test_a_header_of_the_standard_is_not_one_that_happens_to_have_its_name(tmp_path: Path) -> None:
    call = (("main", "assert"),)
    snapshot = build(
        tmp_path,
        File("deps/heap/internal/assert.h", ("macro assert",)),
        File("src/main.c", ("function main",), call, (("assert.h", None, None),)),
        File("deps/heap/internal/main.c", ("function main",), call, (("assert.h", None, None),)),
    )
    assert snapshot.callers("deps/heap/internal/assert.h:assert") == {"deps/heap/internal/main.c:main"}


def test_the_nearest_of_several_sources_is_linked_and_equally_near_ones_share(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File("lib/string.c", ("function memset",)),
        File("tools/lib/boot/string.c", ("function memset",)),
        File("drivers/a/log.c", ("function emit",)),
        File("drivers/b/log.c", ("function emit",)),
        File("fs/file.c", ("function open_file",), (("open_file", "memset"), ("open_file", "emit"))),
        File("tools/lib/main.c", ("function main",), (("main", "memset"),)),
        File("drivers/a/main.c", ("function probe",), (("probe", "emit"),)),
    )
    assert snapshot.bound("fs/file.c:open_file") == {
        "lib/string.c:memset": CallStrategy.LINKED,
        "drivers/a/log.c:emit": CallStrategy.AMBIGUOUS,
        "drivers/b/log.c:emit": CallStrategy.AMBIGUOUS,
    }
    assert snapshot.bound("tools/lib/main.c:main") == {"tools/lib/boot/string.c:memset": CallStrategy.LINKED}
    assert snapshot.bound("drivers/a/main.c:probe") == {"drivers/a/log.c:emit": CallStrategy.LINKED}


def test_what_is_static_or_a_macro_of_a_source_stays_there(tmp_path: Path) -> None:
    snapshot = build(
        tmp_path,
        File(
            "a.c",
            ("function start: static int start(void)", "macro STEP", "function run"),
            (("run", "start"), ("run", "STEP")),
        ),
        File("b.c", ("function go",), (("go", "start"), ("go", "STEP"))),
    )
    assert snapshot.callers("a.c:start") == snapshot.callers("a.c:STEP") == {"a.c:run"}
