from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pipelines.chunking.rows import ChunkRow
from pipelines.records import Content
from pipelines.settings import ChunkingSettings
from tests.chunking.builders import ROOT, SMALL, chunk_text

BODY = "Text that is long enough to stand alone."


def sections(text: str, settings: ChunkingSettings = SMALL) -> list[ChunkRow]:
    return sorted(chunk_text(text, "markdown", Content.DOCS, settings).rows, key=lambda row: row.start_byte)


def paths(text: str) -> list[str]:
    return [row.qualified_name for row in sections(text)]


def test_each_heading_holds_its_own_text_under_the_path_of_headings() -> None:
    text = f"# Guide\n\n{BODY}\n\n## Install\n\n{BODY}\n\n### Linux\n\n{BODY}\n\n## Use\n\n{BODY}\n"
    rows = sections(text)
    assert paths(text) == ["Guide", "Guide > Install", "Guide > Install > Linux", "Guide > Use"]
    assert [(row.name, row.start_line, row.end_line) for row in rows] == [
        ("Guide", 1, 3),
        ("Install", 5, 7),
        ("Linux", 9, 11),
        ("Use", 13, 15),
    ]
    assert {row.kind for row in rows} == {"section"}
    assert rows[1].text == f"## Install\n\n{BODY}"


def test_marks_of_a_heading_are_no_part_of_its_name() -> None:
    assert paths(f"## A # b ##\n\n{BODY}\n") == ["A # b"]
    assert paths(f"# C#\n\n{BODY}\n") == ["C#"]
    assert paths(f"#\t  Tab \n\n{BODY}\n") == ["Tab"]
    assert paths(f"#hashtag\n\n{BODY}\n") == [""]
    assert paths(f"    # code\n\n{BODY}\n") == [""]


def test_underlined_headings_count_but_rules_and_tables_do_not() -> None:
    assert paths(f"Title\n=====\n\n{BODY}\n\nPart\n---\n\n{BODY}\n") == ["Title", "Title > Part"]
    assert paths(f"{BODY}\n\n---\n\n{BODY}\n") == [""]
    assert paths(f"- an item\n---\n\n{BODY}\n") == [""]
    assert paths(f"{BODY}\nand a second line of it\n---\n\n{BODY}\n") == [""]
    assert paths(f"| a | b |\n---\n\n{BODY}\n") == [""]


def test_comments_in_code_fences_are_no_headings() -> None:
    fences = "```sh\n# not a heading\n~~~\n```` \n\n~~~~\n# nor this\n~~~\n```\n~~~~"
    text = f"# Run\n\n{BODY}\n\n{fences}\n\n## Then\n\n{BODY}\n"
    assert paths(text) == ["Run", "Run > Then"]


def test_fence_that_is_never_closed_loses_nothing() -> None:
    text = f"# Run\n\n{BODY}\n\n```\n# in the fence\n{BODY}\n"
    assert paths(text) == ["Run"]
    assert "# in the fence" in sections(text)[0].text


def test_headings_in_html_comments_do_not_count() -> None:
    assert paths(f"# Run\n\n{BODY}\n\n<!--\n# hidden\n-->\n\n## Then\n\n{BODY}\n") == ["Run", "Run > Then"]
    assert paths(f"<!-- one line -->\n\n# Run\n\n{BODY}\n") == ["", "Run"]


def test_a_page_of_mdx_keeps_its_imports_and_components() -> None:
    text = (
        "---\ntitle: A page of ours\n---\nimport Box from './box'\n\n# Page\n\n<Box size={2}>\n\n"
        f"## Inside\n\n{BODY}\n\n</Box>"
        f"\n\n{{/*\n# hidden\n*/}}\n\n## After\n\n{BODY}\n"
    )
    assert paths(text) == ["", "", "Page", "Page > Inside", "Page > After"]
    assert sections(text)[1].text == "import Box from './box'"
    assert sections(text)[2].text == "# Page\n\n<Box size={2}>"
    assert sections(text)[3].text.endswith("</Box>\n\n{/*\n# hidden\n*/}")


def test_front_matter_is_a_section_and_its_comments_are_no_headings() -> None:
    text = f"---\ntitle: A page\n# comment: 1\nother: value\n---\n# Page\n\n{BODY}\n"
    rows = sections(text)
    assert [(row.name, row.start_line, row.end_line) for row in rows] == [("", 1, 5), ("Page", 6, 8)]
    assert paths(f"---\n\n{BODY}\n") == [""]


def test_small_sections_are_joined_to_the_next_and_the_last_to_the_one_before() -> None:
    text = f"# T\n\n## Install\n\n{BODY}\n\n## End\n"
    (row,) = sections(text)
    assert (row.qualified_name, row.start_line, row.end_line) == ("T > Install", 1, 7)
    (only,) = sections("# T\n")
    assert only.qualified_name == "T"


def test_equal_headings_have_different_ids_which_survive_edits_above() -> None:
    text = f"# A\n\n{BODY}\n\n## Example\n\n{BODY}\n\n## Example\n\n{BODY}\n"
    before = sections(text)
    after = sections(f"{BODY}\n\n{text}")
    assert len({row.chunk_id for row in before}) == 3
    assert [row.chunk_id for row in before] == [row.chunk_id for row in after[1:]]


def test_long_section_comes_in_parts_with_one_name() -> None:
    text = "# Log\n\n" + "".join(f"Entry {number} says something.\n\n" for number in range(60))
    rows = sections(text)
    assert [row.part for row in rows] == list(range(len(rows)))
    assert {row.name for row in rows} == {"Log"}
    assert all(len(row.text) <= 200 for row in rows)


def test_inlined_image_is_cut_at_the_cap() -> None:
    text = "# Icons\n\n```yaml\nicon: data:image/svg+xml;base64," + "QUJD" * 3_000 + "\n```\n"
    rows = sections(text, ChunkingSettings())
    assert max(len(row.text) for row in rows) <= 3_000
    assert sum(row.text.count("Q") for row in rows) == 3_000


def test_comment_alone_and_crlf_are_read_as_they_stand() -> None:
    assert [row.text for row in sections("<!-- -->\r\n")] == ["<!-- -->"]
    text = f"Title\r\n=====\r\n\r\n{BODY}\r\n"
    assert [(row.name, row.text) for row in sections(text)] == [("Title", f"Title\n=====\n\n{BODY}")]


def test_heading_of_a_hundred_thousand_spaces_is_read_in_one_pass() -> None:
    assert set(paths("# a" + " " * 100_000 + "b ##\n")) == {"a"}
    assert sections("#" + " " * 300 + "x\n")[0].name == "x"


def test_the_documents_of_the_sample_are_covered() -> None:
    for path in sorted((ROOT / "data/sample").rglob("*.md")):
        text = path.read_text()
        shown = Counter(line for row in sections(text, ChunkingSettings()) for line in row.text.split("\n") if line)
        assert shown == Counter(line.rstrip() for line in text.split("\n") if line.strip())


@given(st.lists(st.sampled_from(["# a", "## b", "c", "", "```", "~~~", "---", "===", "<!--", "-->", "    x", "- y"])))
def test_whatever_the_lines_nothing_is_lost_and_ids_are_unique(lines: list[str]) -> None:
    rows = sections("\n".join(lines))
    assert len({row.chunk_id for row in rows}) == len(rows)
    shown = [line for row in rows for line in row.text.split("\n") if line.strip()]
    assert [line.strip() for line in shown] == [line.strip() for line in lines if line.strip()]
