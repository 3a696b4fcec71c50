from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.file_text import FileText, read_text

TEXT = "# naïve ─ 🙂🙂 x\ndef f():\n    return '日本🙂語'\n"
MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE, "utf-8": codecs.BOM_UTF8, "latin-1": b""}


def read(text: str, encoding: str) -> tuple[FileText, bytes]:
    data = MARKS[encoding] + text.encode(encoding)
    found = read_text("python", data)
    assert isinstance(found, FileText)
    assert (found.text, found.encoding) == (text, encoding)
    return found, data


def assert_every_span_is_found(text: str, encoding: str) -> None:
    found, data = read(text, encoding)
    sizes = [len(text[:place].encode()) for place in range(len(text) + 1)]
    for first in range(len(text)):
        for last in range(first + 1, len(text) + 1):
            span = found.to_file(sizes[first], sizes[last])
            assert data[slice(*span)].decode(encoding) == text[first:last]
            assert found.to_text(*span) == (sizes[first], sizes[last])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8"])
def test_spans_of_a_text_are_found_in_its_file_and_back(encoding: str) -> None:
    assert_every_span_is_found(TEXT, encoding)


def test_spans_of_latin_1_are_found() -> None:
    assert_every_span_is_found("# café àé\nx = 'ÿ'\n", "latin-1")


@given(st.text("a\né日🙂", min_size=1, max_size=12), st.sampled_from(["utf-16-le", "utf-16-be", "utf-8"]))
def test_whatever_the_text_its_spans_are_found(text: str, encoding: str) -> None:
    assert_every_span_is_found(text, encoding)


def test_a_plain_file_has_no_map() -> None:
    found = read_text("python", TEXT.encode())
    assert isinstance(found, FileText)
    assert found.is_its_file
    assert (found.to_file(3, 9), found.to_text(3, 9), found.line_in_file(7)) == ((3, 9), (3, 9), 7)


def test_empty_spans_and_the_end_stay_in_the_file() -> None:
    found, data = read("é", "utf-16-le")
    assert [found.to_file(0, 0), found.to_file(2, 2)] == [(2, 2), (4, 4)]
    assert [found.to_text(0, 0), found.to_text(0, 2), found.to_text(4, 4)] == [(0, 0), (0, 0), (2, 2)]
    assert found.to_text(0, len(data)) == (0, 2)


def test_a_span_that_cuts_a_character_holds_all_of_it() -> None:
    found, data = read("a🙂b", "utf-16-be")
    start, end = found.to_file(2, 3)
    assert data[start:end].decode("utf-16-be") == "🙂"
