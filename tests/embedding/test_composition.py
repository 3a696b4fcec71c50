from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pipelines.embedding.composition import COMPOSED_FROM, compose_rows
from pipelines.embedding.recipe import MAX_FIELD_CHARS, fields
from pipelines.tokens import words
from tests.embedding.builders import compose

_TEXT = st.text(st.sampled_from("aBcD12_. -/\n\0éЖ数🙂"), max_size=12)


def test_name_place_and_body_are_a_line_each() -> None:
    composed = compose(
        "parseURL", "Loader.parseURL", "src/web_page/url_tools.py", "def parseURL(self)", "Read it.", "return x2"
    )
    assert fields(composed) == ("parse url", "loader web page url tools", "def parse url self read it return x 2")
    assert composed == "\n".join(fields(composed))


def test_a_chunk_without_a_word_of_its_own_is_blank_whatever_its_path() -> None:
    assert compose("", "", "src/emoji.txt", "", "", "🙂🙂 --- {}\n\t") == ""
    assert fields(compose("", "", "src/emoji.txt", "", "", "x")) == ("", "src emoji", "x")


def test_lines_and_folders_above_are_no_part_of_the_text() -> None:
    here, there = (compose("f", "f", path, "f()", "", "f()") for path in ("a/lib/f.py", "b/lib/f.ts"))
    assert here == there


def test_long_fields_are_cut() -> None:
    assert len(compose("n" * 9, "n", "p", "", "", "word " * 500_000).split()) <= MAX_FIELD_CHARS


@given(st.lists(st.tuples(*(_TEXT for _ in COMPOSED_FROM)), max_size=8))
def test_a_column_is_composed_as_its_rows_are(rows: list[tuple[str, ...]]) -> None:
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(COMPOSED_FROM)}
    assert compose_rows(pa.record_batch(columns)).to_pylist() == [compose(*row) for row in rows]


@given(_TEXT, _TEXT, _TEXT, _TEXT)
def test_the_body_has_the_words_of_its_fields_in_order(name: str, signature: str, doc: str, text: str) -> None:
    composed = compose(name, name, "x", signature, doc, text)
    own, _, body = fields(composed)
    found = [word for part in (signature, doc, text) for word in words(part)]
    assert own.split() == list(words(name))
    assert body.split() == found
    assert bool(composed) == bool(own or body)
