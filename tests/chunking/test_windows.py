from __future__ import annotations

from pipelines.chunking.windows import WINDOW_LINES
from pipelines.settings import ChunkingSettings
from tests.chunking.builders import SMALL, chunk_text


def test_short_lines_are_counted_and_long_lines_are_measured() -> None:
    rows = chunk_text("k: 1\n" * 400, "").rows
    assert {row.end_line - row.start_line + 1 for row in rows} == {WINDOW_LINES}
    long = chunk_text(("v" * 99 + "\n") * 400, "").rows
    assert {len(row.text) for row in long[:-2]} == {2_999}


def test_windows_follow_each_other_and_the_last_is_not_tiny() -> None:
    rows = chunk_text("k: 1\n" * (3 * WINDOW_LINES + 1), "").rows
    assert [row.start_line for row in rows[1:]] == [row.end_line + 1 for row in rows[:-1]]
    assert rows[-1].end_line - rows[-1].start_line + 1 >= WINDOW_LINES // 2
    assert [(row.kind, row.part, row.name) for row in rows] == [("window", place, "") for place in range(len(rows))]


def test_a_blank_line_near_the_end_of_a_window_ends_it() -> None:
    text = "k: 1\n" * 34 + "\n" + "k: 2\n" * 100
    assert chunk_text(text, "").rows[0].end_line == 34


def test_small_file_is_one_window_without_blank_ends() -> None:
    (row,) = chunk_text("\n\n  \nname: x\n\n\n", "").rows
    assert (row.text, row.start_line, row.end_line, row.start_byte, row.end_byte) == ("name: x", 4, 4, 5, 12)


def test_blank_windows_are_counted_not_stored() -> None:
    found = chunk_text("a\n" + "\n" * 200 + "b\n", "", settings=SMALL)
    assert [row.text for row in found.rows] == ["a", "b"]
    assert found.blank > 0


def test_carriage_returns_alone_end_no_line() -> None:
    text = "a = 1\rb = 2\r" * 60
    rows = chunk_text(text, "", settings=ChunkingSettings(max_chars=200)).rows
    assert {(row.start_line, row.end_line) for row in rows} == {(1, 1)}
    assert [word for row in rows for word in row.text.split()] == text.split()
