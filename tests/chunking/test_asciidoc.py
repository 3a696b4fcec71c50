from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pipelines.chunking.asciidoc import headings
from pipelines.chunking.rows import ChunkRow
from pipelines.records import Content
from pipelines.settings import ChunkingSettings
from tests.chunking.builders import SMALL, chunk_text

BODY = "Text that is long enough to stand alone."
MANUAL = f"""\
= Parcels: a manual
Jo Doe <jo@example.org>
:toc: left

{BODY}

[[install]]
== Install

.From a shell
----
= not a heading
$ make
----

=== On Linux

====
{BODY}

== not a heading either
====

Use
---

{BODY}

Seals
~~~~~

|===
| = | a table
|===
{BODY}
"""


def sections(text: str, settings: ChunkingSettings = SMALL) -> list[ChunkRow]:
    rows = chunk_text(text, "asciidoc", Content.DOCS, settings).rows
    return sorted(rows, key=lambda row: row.start_byte)


def found(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in headings(text.split("\n"))]


def test_headings_have_levels_and_blocks_have_none() -> None:
    assert found(MANUAL) == [(1, "Parcels: a manual"), (2, "Install"), (3, "On Linux"), (2, "Use"), (3, "Seals")]


def test_each_heading_holds_its_own_text_under_the_path_of_headings() -> None:
    rows = sections(MANUAL)
    assert [(row.qualified_name, row.start_line, row.end_line) for row in rows] == [
        ("Parcels: a manual", 1, 5),
        ("Parcels: a manual > Install", 7, 14),
        ("Parcels: a manual > Install > On Linux", 16, 22),
        ("Parcels: a manual > Use", 24, 27),
        ("Parcels: a manual > Use > Seals", 29, 35),
    ]
    assert rows[1].text.startswith("[[install]]\n== Install")


def test_what_looks_like_a_heading_and_is_none() -> None:
    assert found("Listing\n----\n== in it\n----\n") == []
    assert found("Two lines\nof text\n-------\n") == []
    assert found("....\nCode\n----\n....\n") == []
    assert found("////\n== hidden\n////\n\n== Shown\n") == [(2, "Shown")]
    assert found("=== \n====x\n") == []
    assert found("* a list\n--------\n") == []
    assert found("```sh\n# make\n```\n\n# Made\n") == [(1, "Made")]


def test_a_block_that_is_never_closed_loses_nothing() -> None:
    (row,) = sections(f"== Run\n\n----\n== in the block\n{BODY}\n")
    assert row.name == "Run"
    assert "== in the block" in row.text


def test_windows_line_ends_change_nothing() -> None:
    windows = [row.qualified_name for row in sections(MANUAL.replace("\n", "\r\n"))]
    assert windows == [row.qualified_name for row in sections(MANUAL)]


_LINES = ["= A", "== B", "Title", "-----", "~~~~~", "----", "", "[x]", "====", "text", "|===", "```"]


@given(st.lists(st.sampled_from(_LINES)))
def test_whatever_the_lines_nothing_is_lost_and_ids_are_unique(lines: list[str]) -> None:
    rows = sections("\n".join(lines))
    assert len({row.chunk_id for row in rows}) == len(rows)
    shown = Counter(line.strip() for row in rows for line in row.text.split("\n") if line.strip())
    assert shown == Counter(line.strip() for line in lines if line.strip())
