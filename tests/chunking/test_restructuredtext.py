from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pipelines.chunking.restructuredtext import headings
from pipelines.chunking.rows import ChunkRow
from pipelines.records import Content
from pipelines.settings import ChunkingSettings
from tests.chunking.builders import SMALL, chunk_text

BODY = "Text that is long enough to stand alone."
GUIDE = f"""\
.. _guide:

==========
  Parcels
==========

{BODY}

Install
=======
{BODY}

From source
-----------

.. code-block:: python

    # Not a heading
    ---------------
    def f(): ...

.. function:: seal(envelope, wax=None)

   Close an envelope.

Use
===

.. _sealing:
.. index:: wax

Sealing and
~~~~~~~~~~~

{BODY}

1. Numbered
-----------

{BODY}
"""


def sections(text: str, settings: ChunkingSettings = SMALL) -> list[ChunkRow]:
    rows = chunk_text(text, "restructuredtext", Content.DOCS, settings).rows
    return sorted(rows, key=lambda row: row.start_byte)


def paths(text: str) -> list[str]:
    return [row.qualified_name for row in sections(text)]


def found(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in headings(text.split("\n"))]


def test_levels_go_by_the_order_in_which_signs_are_used() -> None:
    assert found(GUIDE) == [
        (1, "Parcels"),
        (2, "Install"),
        (3, "From source"),
        (2, "Use"),
        (4, "Sealing and"),
        (3, "1. Numbered"),
    ]


def test_each_heading_holds_its_own_text_under_the_path_of_headings() -> None:
    rows = sections(GUIDE)
    assert [(row.kind, row.name, row.start_line, row.end_line) for row in rows] == [
        ("section", "Parcels", 1, 7),
        ("section", "Install", 9, 11),
        ("section", "From source", 13, 24),
        ("section", "Sealing and", 26, 35),
        ("section", "1. Numbered", 37, 40),
    ]
    assert rows[2].qualified_name == "Parcels > Install > From source"
    assert ".. function:: seal(envelope, wax=None)" in rows[2].text
    assert rows[3].qualified_name == "Parcels > Use > Sealing and"
    assert rows[3].text.startswith("Use\n===\n\n.. _sealing:\n.. index:: wax\n\nSealing and")


def test_a_sign_above_and_below_is_another_style_than_below_alone() -> None:
    assert found("====\nTop\n====\n\nPart\n====\n\nSub\n---\n") == [(1, "Top"), (2, "Part"), (3, "Sub")]
    assert found("Top\n===\nPart\n----\nText\n") == [(1, "Top"), (2, "Part")]


def test_what_looks_like_an_underline_and_is_none() -> None:
    assert found("Two lines\nof text\n-------\n") == []
    assert found(f"{BODY}\n\n----------\n\n{BODY}\n") == []
    assert found("===== =====\nA     B\n===== =====\n1     2\n===== =====\n") == []
    assert found("+---+---+\n| a | b |\n+---+---+\n") == []
    assert found("- an item\n---------\n") == []
    assert found(".. note::\n---------\n") == []
    assert found("An example::\n::\n") == []
    assert found("A long title\n...\n") == []
    assert found("   Indented\n-----------\n") == []


def test_an_underline_may_be_short_or_long() -> None:
    assert found("Rather long\n----\n\nGo\n--\n\n日本語\n======\n") == [(1, "Rather long"), (1, "Go"), (2, "日本語")]


def test_windows_line_ends_change_nothing() -> None:
    assert paths(GUIDE.replace("\n", "\r\n")) == paths(GUIDE)


_LINES = ["Title", "=====", "-----", "", "  x", ".. _a:", ".. note::", "text", "::", "- y", "== =="]


@given(st.lists(st.sampled_from(_LINES)))
def test_whatever_the_lines_nothing_is_lost_and_ids_are_unique(lines: list[str]) -> None:
    rows = sections("\n".join(lines))
    assert len({row.chunk_id for row in rows}) == len(rows)
    shown = Counter(line.strip() for row in rows for line in row.text.split("\n") if line.strip())
    assert shown == Counter(line.strip() for line in lines if line.strip())
