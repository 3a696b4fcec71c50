from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.embedding.recipe import MAX_FIELD_CHARS, compose_query, embed_key, fields
from pipelines.word_columns import text_column, word_lines


def test_a_question_is_all_body() -> None:
    assert fields(compose_query("read a URL")) == ("", "", "read a url")


def test_a_long_question_is_cut() -> None:
    assert len(compose_query("word " * 500_000)) <= MAX_FIELD_CHARS


def test_a_question_has_the_words_of_the_text_it_quotes() -> None:
    assert compose_query("How does parseHTTP2Response work?") == "how does parse http 2 response work"
    assert compose_query(" \0 🙂 ") == ""


def test_keys_differ_where_texts_differ() -> None:
    assert embed_key(b"a b") != embed_key(b"ab")
    assert len(embed_key(b"")) == 16


@given(st.text(st.sampled_from("aBcD12_. -/\n\0éЖ数🙂\ud800"), max_size=40))
def test_a_question_has_the_words_that_a_column_has(text: str) -> None:
    assert [compose_query(text)] == word_lines(text_column([text])).to_pylist()
