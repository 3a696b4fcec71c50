from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.chunking.source import SecretSpans, Source


def test_lines_end_at_lf_only_and_offsets_are_those_of_utf8() -> None:
    source = Source("é\r\nb\rc\n")
    assert [source.line(offset) for offset in range(len(source))] == [1, 1, 1, 1, 2, 2, 2, 2]
    assert (source.line_start(5), source.line_end(5)) == (4, 8)
    assert source.text(0, 4) == "é\r\n"


def test_the_last_line_needs_no_line_end() -> None:
    source = Source("a\nbc")
    assert (source.line_end(3), source.line(3)) == (4, 2)


_SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20), st.sampled_from("xyz")), max_size=12)


@given(_SPANS, st.integers(0, 70), st.integers(1, 20))
def test_detectors_are_those_of_every_overlapping_span(
    spans: list[tuple[int, int, str]], start: int, length: int
) -> None:
    whole = [(begin, begin + size, detector) for begin, size, detector in spans]
    end = start + length
    expected = sorted({detector for begin, stop, detector in whole if begin < end and start < stop})
    assert SecretSpans(whole).detectors(start, end) == expected
    assert SecretSpans(whole).touch(start, end) == bool(expected)
