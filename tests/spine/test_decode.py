from __future__ import annotations

import pytest

from pipelines.decode import Decoded, NotText, decode, reader_text
from pipelines.records import SkipReason


@pytest.mark.parametrize(
    ("data", "text", "encoding", "mark"),
    [
        (b"", "", "utf-8", 0),
        ("naïve ─ 🙂".encode(), "naïve ─ 🙂", "utf-8", 0),
        (b"\xef\xbb\xbfdef f(): pass", "def f(): pass", "utf-8", 3),
        (b"\xff\xfe" + "def f(): pass\n".encode("utf-16-le"), "def f(): pass\n", "utf-16-le", 2),
        (b"\xfe\xff" + "def f(): pass\n".encode("utf-16-be"), "def f(): pass\n", "utf-16-be", 2),
        (b"# caf\xe9\n", "# café\n", "latin-1", 0),
    ],
)
def test_text_is_decoded(data: bytes, text: str, encoding: str, mark: int) -> None:
    assert decode(data) == Decoded(text, encoding, mark)


@pytest.mark.parametrize("place", [7, 8_193, 100_000])
def test_a_nul_is_binary_wherever_it_stands(place: int) -> None:
    result = decode(b"a" * place + b"\0" + b"b" * 10)
    assert isinstance(result, NotText)
    assert result.reason == SkipReason.BINARY
    assert str(place) in result.detail


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\xff\xfe\x00\xd8\x00\x00", "def f(): pass".encode("utf-16-le")])
def test_broken_utf_16_and_utf_16_without_a_mark_are_reported(data: bytes) -> None:
    assert isinstance(decode(data), NotText)


def test_a_reader_sees_no_stray_carriage_return() -> None:
    assert reader_text("a\r\nb\rc\n") == "a\nb\rc\n"
