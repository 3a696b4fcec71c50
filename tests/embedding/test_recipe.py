from __future__ import annotations

from pipelines.embedding.recipe import MAX_FIELD_CHARS, compose, compose_query, embed_key, fields


def test_name_place_and_body_are_a_line_each() -> None:
    composed = compose(
        "parseURL", "Loader.parseURL", "src/web_page/url_tools.py", "def parseURL(self)", "Read it.", "return x2"
    )
    assert fields(composed) == ("parse url", "loader web page url tools", "def parse url self read it return x 2")
    assert composed == "\n".join(fields(composed))


def test_a_question_is_all_body() -> None:
    assert fields(compose_query("read a URL")) == ("", "", "read a url")


def test_a_chunk_without_a_word_of_its_own_is_blank_whatever_its_path() -> None:
    assert compose("", "", "src/emoji.txt", "", "", "🙂🙂 --- {}\n\t") == ""
    assert fields(compose("", "", "src/emoji.txt", "", "", "x")) == ("", "src emoji", "x")


def test_lines_and_folders_above_are_no_part_of_the_text() -> None:
    here, there = (compose("f", "f", path, "f()", "", "f()") for path in ("a/lib/f.py", "b/lib/f.ts"))
    assert here == there


def test_long_fields_are_cut() -> None:
    assert len(compose("n" * 9, "n", "p", "", "", "word " * 500_000).split()) <= MAX_FIELD_CHARS
    assert len(compose_query("word " * 500_000)) <= MAX_FIELD_CHARS


def test_a_question_has_the_words_of_the_text_it_quotes() -> None:
    assert compose_query("How does parseHTTP2Response work?") == "how does parse http 2 response work"
    assert compose_query(" \0 🙂 ") == ""


def test_keys_differ_where_texts_differ() -> None:
    assert embed_key("a b") != embed_key("ab")
    assert len(embed_key("")) == 16
